#!/bin/sh
# Libraries that libtorch names and does not use are not loaded: empty ones stand in for them. A
# plugin that uses one has the true one, and the torch models run beside it.
#   empty_libraries.sh FOLDER_OF_PROGRAMS CHECKOUT
bin=$1
cd "$2" || exit 2
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
module=$bin/libdraftlab_torch.so
pictures='^[[:space:]]*lib(opencv_|av|sw)'

loaded=$(ldd "$module" | grep -E "$pictures" | grep -v "$bin/empty/")
if [ -n "$loaded" ]; then
  printf 'FAILED: %s has these loaded:\n%s\n' "$module" "$loaded"
  exit 1
fi

libtorch=$(ldd "$module" | sed -n 's/.*libtorch_cpu.* => \([^ ]*\) .*/\1/p')
films=$(ldd "$libtorch" | sed -n 's/.*libavutil.* => \([^ ]*\) .*/\1/p')
if [ -z "$films" ]; then
  echo "skipped: $libtorch names no libavutil"
  exit 77
fi
cat examples/plugins/router.cc - >"$folder/films.cc" <<'CC'
extern "C" unsigned avutil_version();
unsigned version_of_films = avutil_version();
CC
c++ -std=c++20 -DNDEBUG -I. -I/usr/include/eigen3 -shared -fPIC "$folder/films.cc" "$films" \
  -o "$folder/libfilms.so" &&
  "$bin/draftlab" run configs/quickstart.ini --plugin "$folder/libfilms.so" --limit 1 \
    --threads 1 --out "$folder/run.h5" >"$folder/log" 2>&1 || {
  echo "FAILED: a run of torch models beside a plugin that uses $films"
  tail -n 5 "$folder/log"
  exit 1
}
