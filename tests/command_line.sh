#!/bin/sh
# What a user sees of the program: exit statuses, one sentence, and that commands which decode
# nothing load no torch.
program=$1 modules=$2 configs=$3
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failed=0
# expect STATUS TEXT ARGUMENT...: exits so, and says so on either stream.
expect() {
  status=$1 text=$2
  shift 2
  said=$("$program" "$@" 2>&1)
  got=$?
  if [ $got -ne "$status" ] || ! printf '%s' "$said" | grep -qF -- "$text"; then
    printf 'draftlab %s: exit %s, wanted %s and "%s"; it said:\n%s\n' "$*" $got "$status" "$text" \
      "$said"
    failed=1
  fi
}
cat > "$folder/good.ini" <<INI
# Is it lossless?
model = table
task = positions
[sweep]
drafter = self, ngram
baseline = drafter=stepwise
INI
cat > "$folder/bad.ini" <<INI
model = tabel
task = positions
[drafter.self]
shortcot = 1
[decode]
draft_length = 0
INI
expect 64 "usage: draftlab"
expect 0 "usage: draftlab" --help
expect 0 "usage: draftlab run" run --help
expect 0 "--resume" help run
expect 0 "usage: draftlab" help
expect 0 "shortcut = true  (bool)" help drafter.self
expect 0 "draft_length = 5" help decode
expect 0 "figure pareto: " help pareto
expect 0 "# Exit codes" help exit-codes
expect 0 "AUDIT.md says more" help audit
expect 64 "no help on 'exit-cods'; did you mean 'exit-codes'?" help exit-cods
expect 64 "--man prints all commands" help run --man
expect 0 ".SH NAME" help --man
expect 64 "did you mean 'list'" lsit
expect 0 "usage: draftlab audit" audit --help
expect 64 "--jobs many must be a whole number in [1, 4096]" sweep "$folder/good.ini" --jobs many
expect 64 "did you mean --jobs?" sweep "$folder/good.ini" --jbos 2
expect 64 "must be one of auto, markdown, csv, latex, json, text" report --format html x.h5
expect 64 "--out is empty; leave it out for its default" run "$folder/good.ini" --out ""
expect 64 "is to hold a trace, whose name ends in .h5" run "$configs/quickstart.ini" --limit 1 \
  --out "$folder/result.txt"
expect 65 "is no text, so it is no config" run /bin/ls
expect 78 "unknown key 'model.checkpoint'; did you mean 'model.any-subset.checkpoint'?" check \
  "$configs/quickstart.ini" --model.checkpoint x
mkdir "$folder/loop" && cp "$configs/../data/checkpoints/stories/config.json" "$folder/loop" &&
  ln -s model.safetensors "$folder/loop/model.safetensors"
expect 65 "cannot be used: Too many levels of symbolic links" run "$configs/quickstart.ini" \
  --model.any-subset.checkpoint "$folder/loop" --limit 1 --out "$folder/loop.h5"
rm "$folder/loop/model.safetensors" && mkfifo "$folder/loop/model.safetensors"
expect 65 "model.safetensors: " run "$configs/quickstart.ini" \
  --model.any-subset.checkpoint "$folder/loop" --limit 1 --out "$folder/loop.h5"
rm "$folder/loop/model.safetensors" && printf 'GGUF\003%0200d' 0 >"$folder/loop/model.gguf"
expect 65 "weights of this family are read from safetensors alone" run "$configs/quickstart.ini" \
  --model.any-subset.checkpoint "$folder/loop" --limit 1 --out "$folder/loop.h5"
rm "$folder/loop/config.json" && mkfifo "$folder/loop/config.json"
expect 65 "config.json: cannot be read" run "$configs/quickstart.ini" \
  --model.any-subset.checkpoint "$folder/loop" --limit 1 --out "$folder/loop.h5"
mkdir "$folder/typed" && echo '{"model_type": 7}' >"$folder/typed/config.json"
expect 65 "'model_type' is 7, which has the wrong type" bench model "$folder/typed"
expect 64 "--log-level loud must be one of" list --log-level loud
expect 0 "complete -o filenames -F _draftlab draftlab" completion bash
expect 0 "bashcompinit" completion zsh
expect 64 "knows bash and zsh, and not 'fish'" completion fish
expect 0 "drafter" list --log "$folder/log.txt"
grep -q 'info [0-9]* draftlab .*: list --log' "$folder/log.txt" &&
  grep -q 'info [0-9]* ends with status 0' "$folder/log.txt" || {
  echo "the log says: $(cat "$folder/log.txt")"
  failed=1
}
expect 64 "did you mean --battery" audit --batery quick x.py
DRAFTLAB_PYTHON=/nonexistent
export DRAFTLAB_PYTHON
expect 69 "'/nonexistent' cannot be started" audit x.py
unset DRAFTLAB_PYTHON
expect 0 "draftlab " --version
expect 0 "stepwise" list
expect 0 "stepwise" list drafter
expect 64 "did you mean 'drafter'" list draftr
expect 64 "usage: draftlab describe" describe
expect 0 "shortcut = true  (bool)" describe drafter.self
expect 0 "draft_length = 5  (int, in [1, 4096])" describe decode
expect 0 "answers questions of the form: committed chain" describe any-subset
expect 0 "baseline = KEY=VALUE" describe sweep
expect 0 "The law of texts: the target" describe reference
expect 0 "label = TEXT" describe arm
expect 0 "partition" describe slurm
expect 64 "did you mean 'drafter.self'" describe drafter.slef
expect 64 "there is nothing to describe by the name 'router.alternate'; draftlab list shows" \
  describe router.alternate
expect 64 "did you mean 'router.always'" describe router.alwys
expect 0 "docs/plugins/metric.md" list metric
expect 0 "analysis/metrics/verified_share.cc" describe metric.verified_share
expect 65 "holds token 7, and the model knows 3, from 0 on" run "$folder/good.ini" \
  --task.positions.prompt 2:7 --out "$folder/seven.h5"
expect 0 "3 cells" check "$folder/good.ini"
expect 0 "drafter=stepwise  (baseline)" check "$folder/good.ini"
expect 0 "1 cell" check "$folder/good.ini" --sweep.drafter self --sweep.baseline "drafter=self"
expect 0 "drafter=self decode.draft_length=2" check "$folder/good.ini" \
  --sweep.decode.draft_length=2,3
expect 0 "warning: --drafter.model.children" check "$folder/good.ini" --drafter self \
  --drafter.model.children 2
expect 78 "unknown model 'tabel'; did you mean 'table'?" check "$folder/bad.ini"
expect 78 "bad.ini:4: [drafter.self] unknown option 'shortcot'; did you mean 'shortcut'?" check \
  "$folder/bad.ini"
expect 78 "bad.ini:6: [decode] draft_length = 0 must be in [1, 4096]" check "$folder/bad.ini"
expect 78 "--run.threads: [run] threads = -1 must be in [0, 4096]" check "$folder/good.ini" \
  --threads -1
expect 64 "--timed decodes one sample at a time, and run.workers = 2 asks for several" run \
  "$folder/good.ini" --timed --run.workers 2
expect 64 "and run.batch = 4 asks for several" run "$folder/good.ini" --timed --batch 4
expect 64 "did you mean --resume" run "$folder/good.ini" --resum
# What follows from a line that cannot be read is not said.
printf 'model table\n' > "$folder/line.ini"
expect 78 "line.ini:1: 'model table' is neither [section], key = value nor # comment" check \
  "$folder/line.ini"
[ "$(printf '%s\n' "$said" | wc -l)" -eq 1 ] || { echo "check also said: $said"; failed=1; }
expect 78 "reference.verifier = chain would let the reference share a part" certify \
  "$folder/good.ini" --reference.verifier chain
expect 78 "[reference] unknown option 'verifier'" check "$folder/good.ini" \
  --reference.verifier chain
expect 64 "needs a value" check "$folder/good.ini" --decode.top_k
expect 65 "does not exist" check "$folder/none.ini"
expect 78 "does not exist" list --plugin "$folder/none.so"
expect 0 "even-steps" --plugin "$modules/libtest_verifies_even_steps.so" list
expect 0 "Verify one step in so many." describe even-steps --plugin \
  "$modules/libtest_verifies_even_steps.so"
expect 78 "draftlab-plugin-0/old" list --plugin "$modules/libtest_old_interface.so"
expect 78 "--bench.llama $folder/libllama.so cannot be loaded:" bench rows --bench.llama \
  "$folder/libllama.so"
expect 78 "libtest_old_interface.so has no function llama_version" bench rows --bench.llama \
  "$modules/libtest_old_interface.so"
# What standard output does not take is an error.
for words in "list" "describe drafter.self" "check $folder/good.ini" "--version"; do
  "$program" $words > /dev/full 2> "$folder/said"
  got=$?
  [ $got -eq 74 ] && grep -q "standard output" "$folder/said" ||
    { echo "draftlab $words > /dev/full: exit $got, wanted 74"; failed=1; }
done
# Every config that is shipped is valid; those under base/ and models/ are there to be included.
# What check may want of one is a checkpoint or a file that is not shipped (configs.sh says which).
for config in $(cd "$configs/.." &&
  find configs -name '*.ini' ! -path '*/base/*' ! -path '*/models/*'); do
  said=$(cd "$configs/.." && "$program" check "$config" 2>&1)
  case $?:$said in
  0:*cell* | 78:*" cell"*) ;;
  *)
    echo "check $config: $said"
    failed=1 ;;
  esac
done
# A checkpoint without a tokenizer decodes what needs no text, and nothing else.
if [ -e "$modules/libdraftlab_torch.so" ]; then
  mkdir "$folder/bare" &&
    cp "$configs/../data/checkpoints/stories/config.json" \
    "$configs/../data/checkpoints/stories/model.safetensors" "$folder/bare"
  expect 0 "bare.h5" run "$configs/base/xlnet-base.ini" --run.samples 1 --out "$folder/bare.h5" \
    --model.any-subset.checkpoint "$folder/bare"
  none="there is neither spiece.model, nor levels.json, nor tokenizer.json, nor vocab.json and "
  none="${none}merges.txt"
  expect 78 "the model has no tokenizer: $none in '$folder/bare'" run "$configs/base/infill.ini" \
    --model.any-subset.checkpoint "$folder/bare" --out "$folder/none.h5"
  expect 78 "in '$folder/nowhere', which is no folder" sweep "$configs/base/infill.ini" \
    --model.any-subset.checkpoint "$folder/nowhere" --out "$folder/none"
fi
# A run goes on with a checkpoint that was moved, and not with another tokenizer.
if [ -e "$modules/libdraftlab_torch.so" ]; then
  cp -r "$configs/../data/checkpoints/stories" "$folder/here"
  expect 0 "here.h5" run "$configs/quickstart.ini" --limit 1 --out "$folder/here.h5" \
    --model.any-subset.checkpoint "$folder/here"
  mv "$folder/here" "$folder/moved"
  (cd "$folder" && expect 0 "here.h5" run "$configs/quickstart.ini" --limit 1 --resume \
     --out "$folder/here.h5" --model.any-subset.checkpoint moved
   exit $failed) || failed=1
  printf '\370\077\001' >> "$folder/moved/spiece.model"  # A field that sentencepiece passes over.
  expect 78 "its tokenizer's digest is '" run "$configs/quickstart.ini" --limit 1 --resume \
    --out "$folder/here.h5" --model.any-subset.checkpoint "$folder/moved"
fi
# Certificates that are made side by side are printed as those that are made one by one.
certified() {
  "$program" certify "$configs"/certify/assd/assd-self-k[23].ini "$configs"/certify/ssd/*.ini "$@" |
    grep -v '^  seconds'
}
if [ "$(certified --run.workers 1 --table)" != "$(certified --run.workers 3 --table)" ] ||
  [ "$(certified --run.workers 1)" != "$(certified --run.workers 3)" ]; then
  echo "certify with three workers prints something else than with one"
  failed=1
fi
if ldd "$program" | grep -qi torch; then
  echo "the program links torch, so list, describe and check pay for it"
  failed=1
fi
exit $failed
