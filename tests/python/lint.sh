#!/bin/sh
# The Python package is clean: lint.sh SOURCE. Types by mypy; style by ruff, or by flake8 with the
# rules of ruff's configuration, since Debian 12 has no ruff. Status 77 says that none of them is
# installed, and a line names each that is not.
cd "$1/python" || exit 2
status=77

# The value of a key of the configuration, as flake8 takes it.
rule() { sed -n "s/^$1 = \[\{0,1\}\([^]]*\)\]\{0,1\}$/\1/p" pyproject.toml | tr -d '" '; }

ran() {
  [ "$1" -eq 0 ] && [ "$status" -ne 1 ] && status=0 || status=1
}

if command -v mypy >/dev/null; then
  mypy --no-incremental --cache-dir=/dev/null
  ran $?
else
  echo "skipped: mypy is not installed"
fi
if command -v ruff >/dev/null; then
  ruff check --no-cache draftlab
  ran $?
elif command -v flake8 >/dev/null; then
  flake8 --isolated --max-line-length "$(rule line-length)" --select "$(rule select)" \
    --ignore "$(rule ignore),W503,W504" draftlab
  ran $?
else
  echo "skipped: neither ruff nor flake8 is installed"
fi
exit $status
