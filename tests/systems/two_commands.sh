# Within a bare Debian, as root: README's two commands from a clone of what lies in /mnt.
set -eu
cat /etc/debian_version
command -v git >/dev/null || { apt-get update && apt-get install -y git; } >"$HOME/git.log" 2>&1
git config --global --replace-all safe.directory '*'
cd "$HOME"
[ -d draftlab ] || git clone -q /mnt draftlab
cd draftlab
git fetch -q /mnt HEAD
git checkout -q FETCH_HEAD
./draftlab run configs/quickstart.ini
./draftlab test $TESTS
