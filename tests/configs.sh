#!/bin/sh
# Every config decodes one prompt an arm on what ships; or check and run name, in one sentence each,
# what must be given from outside.
# configs.sh PROGRAM SOURCE_FOLDER [PART_OF_A_PATH]
program=$1 source=$2 only=$3
cd "$source" || exit 2
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failed=0
fail() {
  printf '%s\n' "$*"
  failed=1
}
# outside CONFIG: what this config must be given, as the options that check has to name; nothing for
# one that runs as it is.
outside() {
  case $1 in
  # These two name what a training leaves behind.
  configs/assd/table4.ini) [ -d out/narrow ] || echo model.any-subset.checkpoint ;;
  configs/assd/wikitext.ini)
    [ -d out/prose-512 ] || echo model.any-subset.checkpoint
    [ -d out/prose-judge ] || echo model.judge.checkpoint ;;
  configs/assd/table1-wikitext.ini)
    echo model.any-subset.checkpoint task.infill.path model.judge.checkpoint ;;
  configs/assd/table10-hellaswag.ini) echo model.any-subset.checkpoint task.hellaswag.path ;;
  configs/assd/table10-lambada.ini) echo model.any-subset.checkpoint task.lambada.path ;;
  configs/assd/table2-humaneval.ini) echo model.any-subset.checkpoint task.code-infill.path ;;
  configs/assd/table3-rocstories.ini) echo model.any-subset.checkpoint task.story.path ;;
  configs/baselines/real-weights.ini | configs/certify/checkpoints/llama2c*.ini)
    echo model.autoregressive.checkpoint ;;
  configs/baselines/rollback.ini) echo model.rwkv.checkpoint ;;
  configs/s2d2/published/*.ini)
    echo model.block-diffusion.checkpoint task.gsm8k.path ;;
  configs/ssd/table1-llada.ini | \
    configs/ssd/table1-dream.ini) echo model.masked-diffusion.checkpoint task.gsm8k.path ;;
  esac
}
own='! -path */base/* ! -path */models/* ! -path */train/*'
for config in $(set -f && find configs -name '*.ini' $own | sort); do
  case $config in *"$only"*) ;; *) continue ;; esac
  needs=$(outside "$config")
  if [ -n "$needs" ]; then
    said=$("$program" check "$config" 2>&1)
    status=$?
    [ $status -eq 78 ] || fail "$config: check exits $status, wanted 78; it said: $said"
    for option in $needs; do
      printf '%s' "$said" | grep -qF "$option" ||
        fail "$config: check does not name $option; it said: $said"
    done
    "$program" run "$config" --run.limit 1 --out "$folder/none.h5" > "$folder/log" 2>&1 &&
      fail "$config: run does not refuse it"
    continue
  fi
  "$program" run "$config" --run.limit 1 --run.samples 1 --out "$folder/trace.h5" > "$folder/log" \
    2>&1 ||
    fail "$config: run exits $?; it said: $(tail -3 "$folder/log")"
  rm -rf "$folder"/trace.h5*
done
# What is there to be included is valid where a task and a checkpoint are named, and nothing else is
# wanting.
for config in configs/models/*.ini; do
  case $config in *"$only"*) ;; *) continue ;; esac
  said=$("$program" check "$config" --task positions --task.positions.prompt "" 2>&1 > /dev/null)
  [ $? -eq 78 ] && [ "$(printf '%s\n' "$said" | grep -c "$config: ")" -eq 1 ] ||
    fail "$config: more than a checkpoint is wanting: $said"
  printf '%s' "$said" | grep -q "model\.[a-z-]*\.checkpoint is not set" ||
    fail "$config: check names no checkpoint: $said"
done
exit $failed
