#!/bin/sh
# Installs draftlab to a prefix and uses it from there, as somebody who has only the package: the
# program runs, certifies and finds its Python package; a plugin is built against the installed
# headers by CMake's package and by pkg-config, and decodes.
build=$1
source=$2
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
prefix=$folder/usr
failed=0

fail() {
  printf 'FAILED: %s\n' "$1"
  failed=1
}

cmake --install "$build" --prefix "$prefix" >"$folder/install.log" 2>&1 || {
  tail -n 20 "$folder/install.log"
  exit 1
}
program=$prefix/bin/draftlab
share=$prefix/share/draftlab
cd "$share" || exit 2
"$program" --version | grep -q '^draftlab [0-9]' || fail "draftlab --version"
readelf -d "$program" | grep RUNPATH | grep -q ORIGIN || fail "the program finds its libraries"
"$program" certify configs/certify/assd/assd-self-k3.ini >"$folder/certify.log" ||
  fail "a certificate: $(tail -n 3 "$folder/certify.log")"
if [ -e "$prefix"/lib*/draftlab/libdraftlab_torch.so ] ||
  ls "$prefix"/lib/*/draftlab/libdraftlab_torch.so >/dev/null 2>&1; then
  (cd / && "$program" run "$share/configs/quickstart.ini" --limit 1 --out "$folder/run.h5") \
    >"$folder/run.log" 2>&1 || fail "quickstart from another folder: $(tail -n 3 "$folder/run.log")"
  "$program" doctor | grep -q '^torch models *built$' || fail "doctor sees the torch models"
  module=$(find "$prefix" -name libdraftlab_torch.so)
  loaded=$(ldd "$module" | grep -E '^[[:space:]]*lib(opencv_|av|sw)' |
    grep -v "$(dirname "$module")/empty/")
  [ -z "$loaded" ] || fail "the installed torch module has these loaded: $loaded"
fi

# A plugin, by CMake.
mkdir "$folder/plugin"
cp examples/plugins/router.cc "$folder/plugin"
cat >"$folder/plugin/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(mine CXX)
find_package(draftlab REQUIRED)
draftlab_add_plugin(mine router.cc)
CMAKE
cmake -S "$folder/plugin" -B "$folder/plugin/build" \
  -DCMAKE_PREFIX_PATH="$prefix" >"$folder/cmake.log" 2>&1 &&
  cmake --build "$folder/plugin/build" >>"$folder/cmake.log" 2>&1 ||
  fail "a plugin by CMake: $(tail -n 20 "$folder/cmake.log")"
"$program" --plugin "$folder/plugin/build/libmine.so" list router | grep -q long-spans ||
  fail "the plugin that CMake built is listed"

# The same by pkg-config.
pc=$(dirname "$(find "$prefix" -name draftlab.pc)")
flags=$(PKG_CONFIG_PATH=$pc pkg-config --cflags draftlab) &&
  c++ $flags -O3 -shared -fPIC examples/plugins/router.cc -o "$folder/libmine.so" ||
  fail "a plugin by pkg-config"
"$program" --plugin "$folder/libmine.so" list router | grep -q long-spans ||
  fail "the plugin that pkg-config built is listed"

# The man page says what each command is, and a page of the documentation is a topic of help.
grep -q '^.SS "draftlab sweep CONFIG|DIR"$' "$prefix/share/man/man1/draftlab.1" &&
  grep -qF '\fB\-\-sample\-seconds\fR' "$prefix/share/man/man1/draftlab.1" ||
  fail "the man page is installed"
if command -v man >/dev/null; then
  said=$(man --warnings -E UTF-8 -l -Tutf8 "$prefix/share/man/man1/draftlab.1" 2>&1 >/dev/null)
  [ -z "$said" ] || fail "man says of the page: $said"
fi
(cd / && "$program" help exit-codes) | grep -q '^# Exit codes' || fail "help finds docs/"

# A package names the libraries that it needs, or is not made.
(cd "$build" && PATH=$folder/none /usr/bin/cpack -G DEB -B "$folder/none") >"$folder/cpack.log" 2>&1
grep -q "apt-get install file dpkg-dev" "$folder/cpack.log" ||
  fail "cpack without file: $(tail -n 3 "$folder/cpack.log")"
if command -v dpkg-shlibdeps >/dev/null && command -v file >/dev/null; then
  (cd "$build" && cpack -G DEB -B "$folder/packages") >"$folder/cpack.log" 2>&1 ||
    fail "cpack: $(tail -n 5 "$folder/cpack.log")"
  dpkg-deb -f "$folder"/packages/draftlab_*.deb Depends | grep libopenblas0-pthread |
    grep -q 'libhdf5.*libtorch' || fail "the package names its libraries: $(
      dpkg-deb -f "$folder"/packages/draftlab_*.deb Depends)"
fi

[ -f "$share/data/checkpoints/LICENSE" ] || fail "a licence lies beside the checkpoints"

# The index of the installed configs, from any folder.
(cd /usr && "$program" list configs quickstart) | grep -qF "$share/configs/quickstart.ini" ||
  fail "list configs names the installed quickstart"

# The Python package that lies beside the program, with no trace of the source tree in sight.
"$program" audit --help >/dev/null || fail "audit --help"
[ -d "$share/python/draftlab" ] || fail "the Python package is installed"
find "$prefix" -name '*.so' -o -name draftlab -type f | while read -r file; do
  if readelf -d "$file" 2>/dev/null | grep -E 'RPATH|RUNPATH' | grep -qF "$source"; then
    printf 'FAILED: %s looks for libraries in the source tree\n' "$file"
  fi
done | grep . && failed=1

# The completion of bash.
if command -v bash >/dev/null; then
  said=$(bash -c 'eval "$("$1" completion bash)"
    COMP_WORDS=(draftlab run --draf) COMP_CWORD=2; _draftlab; echo "${COMPREPLY[*]}"
    COMP_WORDS=(draftlab describe router.hys) COMP_CWORD=2; _draftlab; echo "${COMPREPLY[*]}"
    COMP_WORDS=(draftlab run --drafter.self.short) COMP_CWORD=2; _draftlab; echo "${COMPREPLY[*]}"
    COMP_WORDS=(draftlab plot --figure calib) COMP_CWORD=3; _draftlab; echo "${COMPREPLY[*]}"
    COMP_WORDS=(draftlab help exit) COMP_CWORD=2; _draftlab; echo "${COMPREPLY[*]}"
    COMP_WORDS=(draftlab swe) COMP_CWORD=1; _draftlab; echo "${COMPREPLY[*]}"' x "$program")
  [ "$said" = "--drafter
router.hysteresis
--drafter.self.shortcut
calibration
exit-codes
sweep" ] || fail "the completion of bash says: $said"
fi
exit $failed
