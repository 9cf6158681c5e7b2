#!/bin/sh
# The loop is a library by itself: the example of docs/LIBRARY.md decodes, and is linked with none
# of the libraries that traces and configs need.
set -e
said=$("$1")
case $said in
  "2 "*" in "*" function evaluations") ;;
  *) echo "the example prints: $said"; exit 1 ;;
esac
# Every position holds one of the three tokens.
tokens=$(printf '%s' "${said%% in *}" | tr ' ' '\n' | grep -c '^[012]$')
[ "$tokens" -eq 12 ] || { echo "the example decodes $tokens of 12 tokens: $said"; exit 1; }
if ldd "$1" | grep -E 'hdf5|boost|draftlab'; then
  echo 'is linked with what a library of the loop must not need'
  exit 1
fi
