#!/bin/sh
# A libtorch of the user's, in a prefix of its own, is taken instead of the system's, and one of the
# old ABI of GCC's library is refused in a sentence: torch_prefix.sh CHECKOUT
# The tree is made of links to Debian's files. Status 77: they are not where Debian has them.
set -eu
checkout=$1
libraries=/usr/lib/x86_64-linux-gnu
[ -e $libraries/cmake/Torch/TorchConfig.cmake ] || { echo "no libtorch of Debian's"; exit 77; }
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT

own=$folder/own/lib/x86_64-linux-gnu
mkdir -p "$own/cmake" "$folder/own/include"
for name in ATen c10 caffe2 torch; do ln -s "/usr/include/$name" "$folder/own/include/$name"; done
for file in $libraries/libtorch*.so* $libraries/libc10*.so*; do
  [ ! -e "$file" ] || ln -s "$file" "$own/"
done
cp -r $libraries/cmake/Torch $libraries/cmake/Caffe2 "$own/cmake/"

configured() {
  cmake -S "$checkout" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DTorch_DIR="$own/cmake/Torch" >"$folder/log" 2>&1
}
configured || { tail -n 20 "$folder/log"; exit 1; }
sed -n '/^build bin.libdraftlab_torch.so:/,/^$/s/^  LINK_LIBRARIES = //p' \
  "$folder/build/build.ninja" >"$folder/libraries"
grep -q "$own/libtorch" "$folder/libraries" ||
  { echo "FAILED: another libtorch is linked:"; cat "$folder/libraries"; exit 1; }
if grep -q " $libraries/lib\(torch\|c10\)" "$folder/libraries"; then
  echo "FAILED: the system's libtorch is linked too:"
  cat "$folder/libraries"
  exit 1
fi
grep "draftlab_torch.dir" "$folder/build/compile_commands.json" | grep -q "$folder/own/include" ||
  { echo "FAILED: the headers are others"; exit 1; }

sed -i 's/USE_CXX11_ABI=1/USE_CXX11_ABI=0/' "$own/cmake/Torch/TorchConfig.cmake"
if configured; then
  echo "FAILED: a libtorch of the old ABI was taken"
  exit 1
fi
tr -s ' \n' ' ' <"$folder/log" | grep -q "old ABI of GCC's library" ||
  { echo "FAILED: not the sentence:"; tail -n 20 "$folder/log"; exit 1; }
