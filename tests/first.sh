#!/bin/sh
# The first program, which the launcher builds before the whole one: it prints and records what the
# whole program does, and asks for it where it does not suffice.
#   first.sh BUILD SOURCE PROGRAM COMPARE
build=$1 source=$2 program=$3 compare=$4
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failed=0
wrong() {
  printf 'FAILED: %s\n' "$*"
  failed=1
}
cmake --build "$build" --target draftlab_quickstart >"$folder/build.log" 2>&1 || {
  tail -n 20 "$folder/build.log"
  exit 1
}
first=$build/first/draftlab
cd "$source" || exit 2

quickstart="configs/quickstart.ini --limit 2"
"$first" run $quickstart --out "$folder/first.h5" >"$folder/first.txt" || wrong "the first program"
"$program" run $quickstart --out "$folder/whole.h5" >"$folder/whole.txt" || wrong "the whole one"
"$compare" "$folder/first.h5" "$folder/whole.h5" || wrong "the traces differ"
# The rows of the tables are compared, without the columns of times at the right and the table of
# speedups.
for name in first whole; do
  sed '/^arm  *speedup/,/^$/d' "$folder/$name.txt" | grep -E '^(arm|drafter=[a-z]+)  ' |
    cut -c1-80 >"$folder/$name.table"
done
cmp "$folder/first.table" "$folder/whole.table" || wrong "the tables differ"
[ "$(grep -c '^drafter=' "$folder/first.table")" -ge 6 ] || wrong "the table is not whole"

# asks ARGUMENT...: the first program says nothing, and exits with the status that asks for the
# whole one.
asks() {
  said=$("$first" "$@" 2>&1)
  status=$?
  [ $status -eq 69 ] && [ -z "$said" ] || wrong "$* exits with $status and says: $said"
}
asks list
asks
asks run $quickstart --drafter suffix
asks run configs/certify/assd/assd-self-k3.ini
asks run $quickstart --plugin "$folder/mine.so"
# What both would say, the first program says itself.
said=$("$first" run configs/quickstart.ini --limmit 2 2>&1)
[ $? -eq 64 ] && printf '%s' "$said" | grep -q "did you mean --limit" || wrong "a flag: $said"
exit $failed
