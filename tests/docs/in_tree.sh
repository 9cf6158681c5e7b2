#!/bin/sh
# Builds the program with the example plugins in its list, as docs/PLUGINS.md says, and uses each.
cmake=$1 build=$2 source=$3
cd "$source" || exit 2
"$cmake" --build "$build" --target draftlab_with_examples || exit 1
program=$build/bin/draftlab_with_examples
exact=configs/certify/assd/assd-self-k3.ini
failed=0
# expect TEXT ARGUMENT...: ends with status 0, and says so.
expect() {
  text=$1
  shift
  said=$("$program" "$@" 2>&1) && printf '%s' "$said" | grep -qF -- "$text" && return
  printf 'draftlab %s does not say "%s"; it said:\n%s\n' "$*" "$text" "$said"
  failed=1
}
expect "source: plugins/long_spans.cc" describe long-spans
expect "holds" certify $exact --router long-spans
expect "holds" certify $exact --router score --estimator margin-power --unmasker one
expect "holds" certify $exact --drafter most-frequent
expect "holds" certify $exact --verifier short-chain
expect "holds" certify $exact --acceptance cautious
expect "holds" certify $exact --frontier right-to-left
expect "holds" certify $exact --router never --unmasker sure-first --unmasker.sure-first.least 0.3 \
  --certify.expect lossy
expect "holds" certify $exact --model sticky --frontier left-to-right --task.positions.prompt 0:1
expect "1 cell" check configs/base/stories.ini --task line-ends \
  --task.line-ends.path examples/plugins/lines.txt
# The same commands without the plugins are refused, so it is the plugins that answer.
for part in "router long-spans" "drafter most-frequent" "verifier short-chain" "model sticky" \
  "acceptance cautious" "unmasker sure-first" "frontier right-to-left"; do
  "$build/bin/draftlab" certify $exact --${part% *} "${part#* }" >/dev/null 2>&1 || continue
  echo "the program knows $part without the example"
  failed=1
done
exit $failed
