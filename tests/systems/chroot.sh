#!/bin/sh
# README's two commands, from a clone, in a Debian that has nothing but its base and git:
#   chroot.sh bookworm|trixie CHECKOUT
# It needs root, debootstrap, a network and an hour or two. The system and the clone stay in
# $DRAFTLAB_SYSTEMS (/var/tmp/draftlab-systems), so that a second time takes less; DEBIAN_MIRROR
# names another mirror than deb.debian.org. DRAFTLAB_SYSTEMS_TESTS are arguments of
# `./draftlab test` (`-L isa`), and DRAFTLAB_INSTRUCTIONS chooses the kernels, as everywhere.
# Status 77: it cannot be done here.
set -eu
release=$1
checkout=$(cd "$2" && pwd)
[ "$(id -u)" = 0 ] || { echo "a chroot needs root"; exit 77; }
command -v debootstrap >/dev/null || { echo "there is no debootstrap (Debian's package)"; exit 77; }
systems=${DRAFTLAB_SYSTEMS:-/var/tmp/draftlab-systems}
system=$systems/$release
mkdir -p "$systems"

if [ ! -d "$system" ]; then
  rm -rf "$system.part"
  debootstrap --variant=minbase "$release" "$system.part" \
    "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$systems/$release.log" 2>&1 || {
    tail -n 5 "$systems/$release.log"
    exit 77
  }
  # How packages are got is this machine's matter: proxies, resolvers.
  cp /etc/apt/apt.conf.d/* "$system.part/etc/apt/apt.conf.d/"
  cp /etc/resolv.conf "$system.part/etc/resolv.conf"
  mv "$system.part" "$system"
fi

# Mounts are seen by these processes alone, and end with them.
export system checkout
exec unshare --mount sh -eu -c '
  mount --bind "$checkout" "$system/mnt"
  mount -t proc proc "$system/proc"
  mount --rbind /sys "$system/sys"
  mount --rbind /dev "$system/dev"
  exec chroot "$system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@" \
    sh /mnt/tests/systems/two_commands.sh
' chroot CI=1 TESTS="${DRAFTLAB_SYSTEMS_TESTS-}" \
  ${DRAFTLAB_INSTRUCTIONS:+DRAFTLAB_INSTRUCTIONS="$DRAFTLAB_INSTRUCTIONS"}
