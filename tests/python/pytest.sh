#!/bin/sh
# Runs the Python tests of a folder: pytest.sh FOLDER MARK. It ends with 77 where the interpreter
# lacks pytest or numpy, or what every one of these tests needs (torch).
here=$(cd "$(dirname "$0")" && pwd)
for python in "${DRAFTLAB_PYTHON:-python3}" /usr/bin/python3; do
  if "$python" -c 'import numpy, pytest' 2>/dev/null; then
    "$python" -m pytest -q -rs -p no:cacheprovider -m "$2" "$here"/$1
    status=$?
    [ $status -eq 5 ] && exit 77  # pytest's word for "nothing was run"
    exit $status
  fi
done
echo "skipped: neither ${DRAFTLAB_PYTHON:-python3} nor /usr/bin/python3 has pytest and numpy"
exit 77
