#!/bin/sh
# clang-tidy 14 finds nothing in the sources of some folders: tidy.sh SOURCE BUILD FOLDER...
# Status 77 says that there is no such clang-tidy. It reads the compiler's commands without g++'s
# precompiled headers, which clang cannot read, and parameters, which it does not know.
source=$1 build=$2
shift 2
command -v clang-tidy-14 >/dev/null || exit 77
commands=$(mktemp -d) || exit 2
trap 'rm -rf "$commands"' EXIT
sed 's/-Winvalid-pch//; s/-include [^ ]*cmake_pch[^ ]*//; s/--param=[^ ]*//' \
  "$build/compile_commands.json" >"$commands/compile_commands.json"
cd "$source" || exit 2
files=$(for folder; do find "$folder" -name '*.cc'; done | sort)
[ -n "$files" ] || exit 2
clang-tidy-14 -p "$commands" --quiet --extra-arg=-Wno-unknown-warning-option $files
