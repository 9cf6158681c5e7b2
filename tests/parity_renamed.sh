#!/bin/sh
# Every parity bundle under another name: what a bundle is says its config.json, never its folder.
# parity_renamed.sh TEST_PROGRAM SOURCE_FOLDER; 77 (skipped) where there are no bundles.
program=$1 source=$2
bundles=${DRAFTLAB_PARITY:-$source/../shared/parity}
[ -d "$bundles" ] || exit 77
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
number=0
for bundle in "$bundles"/*/; do
  [ -e "$bundle/config.json" ] || continue
  number=$((number + 1))
  cp -r "$bundle" "$folder/bundle-$number"
done
[ $number -gt 0 ] || exit 77
said=$(DRAFTLAB_PARITY=$folder "$program" -tc='parity*')
status=$?
printf '%s\n' "$said"
[ $status -eq 0 ] || exit 1
while [ $number -gt 0 ]; do
  if ! printf '%s' "$said" | grep -q "parity bundle-$number[: ]"; then
    echo "bundle-$number is compared by no test"
    status=1
  fi
  number=$((number - 1))
done
exit $status
