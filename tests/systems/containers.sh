#!/bin/sh
# Builds the images of containers/ and decodes in them, as a user without root whose root file
# system is read-only:
#   containers.sh CHECKOUT
# It needs root, podman, debootstrap, a network and half an hour. Where there is no image debian:12,
# one is made by debootstrap (DEBIAN_MIRROR names another mirror than deb.debian.org). Apptainer is
# no package of Debian 12: the commands of its definition are run in the same base.
# Status 77: it cannot be done here.
set -eu
cd "$1"
[ "$(id -u)" = 0 ] || { echo "building a base image needs root"; exit 77; }
for program in podman debootstrap; do
  command -v $program >/dev/null || { echo "there is no $program (Debian's package)"; exit 77; }
done
# crun cannot live with control groups of both versions.
runtime=""
if [ -x /usr/sbin/runc ]; then runtime="--runtime /usr/sbin/runc"; fi
limits="--ulimit nofile=1024:1024 --ulimit nproc=4096:4096"
base=docker.io/library/debian:12
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT

if ! podman image exists $base; then
  debootstrap --variant=minbase bookworm "$folder/base" \
    "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$folder/base.log" 2>&1 || {
    tail -n 5 "$folder/base.log"
    exit 77
  }
  cp /etc/apt/apt.conf.d/* "$folder/base/etc/apt/apt.conf.d/"
  tar -C "$folder/base" -c . | podman import -q - $base
  rm -rf "$folder/base"
fi

# decodes IMAGE: the quickstart, written to a folder of the user's.
decodes() {
  image=$1
  mkdir "$folder/$image"
  chown 1000:1000 "$folder/$image"
  podman $runtime run --rm $limits --read-only --user 1000:1000 -v "$folder/$image:/work" "$image" \
    run /usr/share/draftlab/configs/quickstart.ini --limit 3
  [ -s "$folder/$image/out/quickstart.h5" ] || { echo "FAILED: $image wrote no trace"; exit 1; }
}

# Both images are of the files as they are now, whatever is edited meanwhile.
mkdir "$folder/tree"
git ls-files -z | xargs -0 cp -P --parents -t "$folder/tree"
for target in build ""; do
  podman $runtime build $limits --network host -f containers/Dockerfile \
    ${target:+--target $target} -t "${target:-draftlab}" "$folder/tree"
done
decodes draftlab

# The package that Apptainer's definition wants is the one that the first image was made of.
made=$(podman create build true)
podman cp "$made:/draftlab/build/release/." "$folder/release"
podman rm "$made" >/dev/null
section() { sed -n "/^%$1\$/,/^%/p" containers/draftlab.def | grep -v '^%'; }
{
  echo "FROM $base"
  section files | sed -n 's/^ *\(build.release.*\) \(.*\)$/COPY \1 \2/p'
  section post >"$folder/post.sh"
  echo "COPY post.sh /post.sh"
  echo "RUN sh -e /post.sh"
  section runscript | sed '1i #!/bin/sh' >"$folder/runscript"
  echo "COPY --chmod=755 runscript /runscript"
  echo "WORKDIR /work"
  echo 'ENTRYPOINT ["/runscript"]'
} >"$folder/Dockerfile"
mkdir "$folder/build" && mv "$folder/release" "$folder/build/release"
podman $runtime build $limits --network host -f "$folder/Dockerfile" -t definition "$folder"
decodes definition
podman rmi draftlab build definition >/dev/null
echo "both images decode"
