#!/bin/sh
# The launcher decides what is installed and what is built. Here every program that it starts is a
# script that writes down how it was called.
#   launcher.sh SOURCE
source=$1
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failed=0
wrong() {
  printf 'FAILED: %s\n' "$*"
  failed=1
}
tree=$folder/tree tools=$folder/tools calls=$folder/calls
mkdir -p "$tree/configs" "$tree/core" "$tools"
cp "$source/draftlab" "$tree"
echo "include = base/infill.ini" >"$tree/configs/quickstart.ini"
export tree calls there="$folder/there"

# tool NAME BODY: a script that stands before the program of this name.
tool() {
  printf '#!/bin/sh\necho "%s $*" >>"$calls"\n%s\n' "$1" "$2" >"$tools/$1"
  chmod +x "$tools/$1"
}
tool cmake ''
tool git 'echo commit'
tool id 'echo 0'
tool nproc 'echo 1'
tool dpkg-query '[ ! -e "$there" ] && exit
while [ $# -gt 2 ]; do printf "installed=%s " "$3"; shift; done'
tool apt-get 'case $* in
  *--assume-no*) echo "Need to get 338 MB of archives."; echo "After this operation, 1 GB" ;;
  *"install -y"*) echo "dlstatus:1:50.0:Retrieving"; echo "Unpacking g++"; touch "$there" ;;
esac'
# Ninja makes the programs named: each says its name and its arguments.
tool ninja 'shift 4
for target; do
  case $target in
    draftlab | all) ;;
    *) continue ;;
  esac
  build=${DRAFTLAB_BUILD:-$tree/build}/release/bin
  mkdir -p "$build"
  printf "#!/bin/sh\necho bin \$*\n" >"$build/draftlab"
  chmod +x "$build/draftlab"
done'
PATH=$tools:$PATH
export PATH

# launch WANTED ARGUMENT...: the programs of the tree say this when the launcher gets these
# arguments.
launch() {
  wanted=$1
  shift
  : >"$calls"
  said=$(cd "$tree" && ./draftlab "$@" 2>"$folder/err")
  [ "$said" = "$wanted" ] || wrong "'$*' says '$said' and '$(cat "$folder/err")', not '$wanted'"
}
# built TARGETS: ninja was asked for these, on the one core that there is.
built() {
  [ "$(sed -n 's/^ninja .* -j 1 //p' "$calls")" = "$1" ] || wrong "built: $(cat "$calls")"
}

# The first command of a newcomer: what is installed is said before it is.
launch "bin run configs/quickstart.ini" run configs/quickstart.ini
built "draftlab draftlab_torch"
grep -q "^draftlab: installing g++ cmake" "$folder/err" || wrong "it does not say what it installs"
grep -q "^draftlab: apt-get: Need to get 338 MB" "$folder/err" || wrong "it does not say how much"
grep -q "^Unpacking" "$tree/build/release/install.log" || wrong "apt-get's output is not in the log"
! grep -q "^dlstatus" "$tree/build/release/install.log" || wrong "apt-get's reports are in the log"
# Again, with another number: nothing is built.
launch "bin run configs/quickstart.ini --limit 3" run configs/quickstart.ini --limit 3
built ""
rm -r "$tree/build"
launch "bin list" list
built "draftlab draftlab_torch"
rm -r "$tree/build"
launch "bin run configs/other.ini" run configs/other.ini
built "draftlab draftlab_torch"
# As many files at a time as the user says, and tests one more than that.
tool ctest 'echo ctest'
touch "$tree/core/new.cc"
DRAFTLAB_JOBS=7 launch "ctest" test
grep -q "^ninja .* -j 7 all$" "$calls" || wrong "seven files at a time: $(cat "$calls")"
grep -q "^ctest .* -j 8 -LE " "$calls" || wrong "eight tests at a time: $(cat "$calls")"
: >"$calls"
(cd "$tree" && DRAFTLAB_JOBS=many ./draftlab list) >"$folder/err" 2>&1
got=$?
[ $got -eq 64 ] && [ ! -s "$calls" ] && grep -q "DRAFTLAB_JOBS = 'many' must be" "$folder/err" ||
  wrong "many files at a time: status $got, $(cat "$folder/err")"
# However many cores there are, no more files than there is memory for.
tool nproc 'echo 100000'
touch "$tree/core/new.cc"
launch "bin list" list
grep -q "^ninja .* -j [0-9]* draftlab " "$calls" && ! grep -q " -j 100000 " "$calls" ||
  wrong "more files at a time than fit: $(cat "$calls")"
tool nproc 'echo 1'
# A file that changes is built.
sleep 0.01
touch "$tree/core/new.cc"
launch "bin list" list
built "draftlab draftlab_torch"
# What runs Python files gets the packages for them, where the python3 of the PATH has none and the
# user names no other.
unset DRAFTLAB_PYTHON
printf '[plugins]\nmine = parts.py\n' >"$tree/configs/mine.ini"
tool python3 'exit 1'
# fetched YES|NO ARGUMENT...: whether these arguments make the launcher install Python packages.
fetched() {
  yes=$1
  shift
  rm -f "$there"
  launch "bin $*" "$@"
  got=no
  grep -q "^draftlab: installing .*python3-numpy python3-msgpack" "$folder/err" && got=yes
  [ $got = "$yes" ] || wrong "packages of Python for '$*': $got, not $yes: $(cat "$folder/err")"
}
fetched yes audit
fetched yes list --plugin parts.py
fetched yes run configs/mine.ini
fetched no run configs/other.ini
fetched no list
fetched no audit --python /opt/python
DRAFTLAB_PYTHON=/opt/python fetched no audit
tool python3 'exit 0'
fetched no audit
# Without a network it says so at once, and does not try to download.
rm -r "$tree/build" && mv "$tools/apt-get" "$tools/apt-get.kept" && rm -f "$there"
tool apt-get 'echo "Err:1 http://deb.debian.org/debian bookworm InRelease"
echo "  Temporary failure resolving '"'deb.debian.org'"'"'
: >"$calls"
(cd "$tree" && ./draftlab list) >"$folder/err" 2>&1
got=$?
[ $got -eq 69 ] && grep -q "no network to get packages by: .*Temporary failure resolving" \
  "$folder/err" || wrong "without a network: status $got, $(cat "$folder/err")"
! grep -q "^apt-get install" "$calls" || wrong "it downloads without a network"
mv "$tools/apt-get.kept" "$tools/apt-get" && touch "$there"
# A first configuration that fails lacks packages; a later one says that the tree is wrong.
tool cmake 'echo "CMake Error: no"; exit 1'
# refused STATUS: the launcher ends so, and shows what CMake said.
refused() {
  touch "$tree/core/new.cc"
  (cd "$tree" && ./draftlab list) >"$folder/err" 2>&1
  got=$?
  [ $got -eq "$1" ] && grep -q "CMake Error: no" "$folder/err" ||
    wrong "status $got, not $1: $(cat "$folder/err")"
}
rm -r "$tree/build"
refused 69
# A build folder that came along with a moved or copied checkout is not mixed up with this one.
mkdir -p "$tree/build/release" && touch "$tree/core/new.cc"
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$folder" >"$tree/build/release/CMakeCache.txt"
: >"$calls"
(cd "$tree" && ./draftlab list) >"$folder/err" 2>&1
got=$?
[ $got -eq 73 ] && grep -q "was configured for the checkout '$folder'" "$folder/err" ||
  wrong "a moved checkout: status $got, $(cat "$folder/err")"
! grep -q "^cmake" "$calls" || wrong "it configures over another checkout's folder"
grep -q "^git -c safe.directory=$tree " "$calls" || wrong "git does not trust: $(cat "$calls")"
rm -r "$tree/build"
mkdir -p "$tree/build/release" && touch "$tree/build/release/build.ninja"
refused 70
tool cmake ''
# A checkout that may not be written is built elsewhere, and nothing is written into it.
rm -r "$tree/build" && touch "$folder/before" && sleep 0.01
DRAFTLAB_BUILD=$folder/elsewhere
export DRAFTLAB_BUILD
launch "bin list" list
built "draftlab draftlab_torch"
grep -q "^cmake --preset release -B $folder/elsewhere/release " "$calls" ||
  wrong "another folder to build in: $(cat "$calls")"
launch "bin list" list
built ""
unset DRAFTLAB_BUILD
[ -z "$(find "$tree" -newer "$folder/before")" ] ||
  wrong "a build elsewhere writes $(find "$tree" -newer "$folder/before")"
# Another user runs what is built, and is told where to build when something changed.
if [ "$(/usr/bin/id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  launch "bin list" list
  chmod -R a+rX "$folder" && chmod 666 "$calls"
  # other ARGUMENT...: the launcher, started by a user who may read this checkout and no more.
  other() {
    (cd "$tree" && setpriv --reuid 65534 --regid 65534 --clear-groups ./draftlab "$@") 2>&1
  }
  : >"$calls"
  said=$(other list)
  [ "$said" = "bin list" ] || wrong "another user reads: $said"
  built ""
  sleep 0.01 && touch "$tree/core/new.cc"
  said=$(other list)
  got=$?
  [ $got -eq 73 ] && printf '%s' "$said" | grep -q "DRAFTLAB_BUILD=FOLDER builds in a folder" ||
    wrong "another user may not build: status $got, $said"
  built ""
fi
exit $failed
