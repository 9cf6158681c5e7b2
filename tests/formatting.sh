#!/bin/sh
# How the code is set: C++ as clang-format 14 has it, and nothing wider than 100 columns; of configs
# the comments. Status 77 says that there is no such clang-format.
cd "$1" || exit 2
command -v clang-format-14 >/dev/null || exit 77
wrong=0
files=$(find core plugins experiments analysis tests -name '*.cc' -o -name '*.h' -o -name '*.inc')
clang-format-14 --dry-run -Werror $files || wrong=1
others=$(find core plugins experiments analysis tests python draftlab .ci CMakeLists.txt \
  \( -name '*.sh' -o -name '*.py' -o -name 'CMakeLists.txt' -o -name draftlab -o -name run \) \
  -type f 2>/dev/null)
wide=$(awk 'length($0) > 100 { print FILENAME ":" FNR ": " length($0) " columns" }' $files $others)
wide="$wide$(find configs -name '*.ini' -exec awk '/^#/ && length($0) > 100 {
  print FILENAME ":" FNR ": " length($0) " columns" }' {} +)"
[ -z "$wide" ] || { printf '%s\n' "$wide"; wrong=1; }
exit $wrong
