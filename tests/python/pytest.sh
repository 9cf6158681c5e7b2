#!/bin/sh
# Runs the Python tests of a folder: pytest.sh FOLDER MARK. It ends with 77 where the interpreter
# lacks pytest or numpy.
here=$(cd "$(dirname "$0")" && pwd)
for python in "${DRAFTLAB_PYTHON:-python3}" /usr/bin/python3; do
  if "$python" -c 'import numpy, pytest' 2>/dev/null; then
    exec "$python" -m pytest -q -p no:cacheprovider -m "$2" "$here"/$1
  fi
done
echo "skipped: neither ${DRAFTLAB_PYTHON:-python3} nor /usr/bin/python3 has pytest and numpy"
exit 77
