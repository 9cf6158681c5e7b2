#!/bin/sh
# A sweep as its user sees it: what is done is kept, what is missing is computed, what fails is said
# and tried again.
#   sweep.sh PROGRAM COMPARE PLUGIN
program=$1 compare=$2 crashes=$3
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failed=0
wrong() {
  echo "$*"
  failed=1
}
# expect STATUS TEXT ARGUMENT...: draftlab sweep exits so, and says so on either stream.
expect() {
  status=$1 text=$2
  shift 2
  said=$("$program" "$@" 2>&1)
  got=$?
  if [ $got -ne "$status" ] || ! printf '%s' "$said" | grep -qF -- "$text"; then
    wrong "draftlab $* exits with $got, wanted $status and '$text'; it said:
$said"
  fi
}
same() { "$compare" "$1" "$2" || wrong "$1 is not $2"; }
mkdir "$folder/configs"
cat > "$folder/configs/small.ini" <<INI
# Is drafting worth it?
model = table
task = positions
[run]
samples = 40
[sweep]
drafter = self, ngram
decode.draft_length = 2, 3
baseline = drafter=stepwise
INI

# The same cells with the same results, whether one process decodes them or several.
expect 0 "5 cells, 5 done" sweep "$folder/configs/small.ini" --out "$folder/a" --jobs 2
expect 0 "trace" run "$folder/configs/small.ini" --out "$folder/run.h5"
same "$folder/a/sweep.h5" "$folder/run.h5"
expect 0 "valid, schema" check-trace "$folder/a/sweep.h5"
expect 0 "5 cells" sweep "$folder/a" --dry-run
expect 0 "5 done" sweep "$folder/a" --status

# Again: nothing is decoded. With another value, and more samples: only what is missing is.
before=$(ls "$folder/a/attempts" | wc -l)
expect 0 "5 done" sweep "$folder/a" --jobs 2
[ "$(ls "$folder/a/attempts" | wc -l)" = "$before" ] || wrong "a finished sweep was decoded again"
sed -i 's/^drafter = self, ngram/drafter = self, ngram, stepwise/; s/2, 3/2, 3, 4/' \
  "$folder/configs/small.ini"
expect 0 "7 cells, 7 done" sweep "$folder/configs/small.ini" --out "$folder/a"
[ "$(ls "$folder/a/attempts" | wc -l)" = $((before + 2)) ] ||
  wrong "of seven cells five were done, the baseline among them: $(ls "$folder/a/attempts")"
expect 0 "trace" run "$folder/configs/small.ini" --out "$folder/run2.h5"
same "$folder/a/sweep.h5" "$folder/run2.h5"
expect 0 "7 done" sweep "$folder/configs/small.ini" --out "$folder/a" --run.samples 50
expect 0 "trace" run "$folder/configs/small.ini" --out "$folder/run3.h5" --run.samples 50
same "$folder/a/sweep.h5" "$folder/run3.h5"
expect 0 "7 done" sweep "$folder/configs/small.ini" --out "$folder/a" --run.samples 40
same "$folder/a/sweep.h5" "$folder/run2.h5"

# Two sweeps of one folder at once: both end well, and what they leave is whole.
"$program" sweep "$folder/configs/small.ini" --out "$folder/g" > "$folder/first" 2>&1 & one=$!
"$program" sweep "$folder/configs/small.ini" --out "$folder/g" > "$folder/second" 2>&1 & two=$!
wait $one || wrong "the first of two sweeps: $(cat "$folder/first")"
wait $two || wrong "the second of two sweeps: $(cat "$folder/second")"
expect 0 "7 done" sweep "$folder/g"
same "$folder/g/sweep.h5" "$folder/run2.h5"
[ -z "$(find "$folder/g" -name '*.partial')" ] ||
  wrong "leftovers: $(find "$folder/g" -name '*.partial')"

# A trace that is lost, or damaged since it was decoded, is decoded again.
lost=$(ls "$folder/g/cells" | head -1)
rm "$folder/g/cells/$lost"
expect 1 "1 missing" sweep "$folder/g" --status
damaged=$(ls "$folder/g/cells" | tail -1)
size=$(wc -c < "$folder/g/cells/$damaged")
for at in $((size / 3)) $((size / 2)); do
  printf '\377\000\252\125' | dd of="$folder/g/cells/$damaged" bs=1 seek=$at conv=notrunc 2> \
    /dev/null
done
expect 0 "7 done" sweep "$folder/g"
same "$folder/g/sweep.h5" "$folder/run2.h5"
[ -e "$folder/g/cells/$damaged.damaged" ] || wrong "what was damaged is not kept"
[ "$(ls "$folder/g/attempts" | wc -l)" = 9 ] ||
  wrong "of seven cells two were to be decoded again: $(ls "$folder/g/attempts")"

# Another config is another sweep: refused, or what only the old one decoded goes.
sed 's/2, 3, 4/2, 5/' "$folder/configs/small.ini" > "$folder/configs/other.ini"
before=$(cat "$folder/g/config.ini")
expect 73 "sweep.decode.draft_length was '2, 3, 4' and is '2, 5'" sweep \
  "$folder/configs/other.ini" --out "$folder/g"
expect 73 "decode.temperature was not given and is '0.5'" sweep "$folder/configs/small.ini" --out \
  "$folder/g" --decode.temperature 0.5
[ "$before" = "$(cat "$folder/g/config.ini")" ] || wrong "a refused config was frozen"
same "$folder/g/sweep.h5" "$folder/run2.h5"
expect 0 "5 cells, 5 done" sweep "$folder/configs/other.ini" --out "$folder/g" --replace
[ "$(ls "$folder"/g/cells/*.h5 | wc -l)" = 5 ] ||
  wrong "cells of the old config stay: $(ls "$folder/g/cells")"

# --arm adds an arm to a folder, and what is done stays done; one that is there adds nothing.
cat > "$folder/configs/arms.ini" <<INI
# Which length?
model = table
task = positions
drafter = self
[run]
samples = 40
[arm.short]
decode.draft_length = 2
[arm.long]
decode.draft_length = 3
[arm.longer]
decode.draft_length = 4
[sweep]
arm = short, long
INI
expect 0 "2 cells, 2 done" sweep "$folder/configs/arms.ini" --out "$folder/arms"
expect 0 "3 cells, 3 done" sweep "$folder/configs/arms.ini" --out "$folder/arms" --arm longer
expect 0 "3 cells, 3 done" sweep "$folder/configs/arms.ini" --out "$folder/arms" --arm short
expect 78 "nothing" sweep "$folder/configs/arms.ini" --out "$folder/arms" --arm nothing

# One worker after another, as a job script would start them; a lease keeps two from one cell.
expect 0 "core-hours" sweep "$folder/configs/small.ini" --out "$folder/b" --estimate
expect 1 "7 missing" sweep "$folder/b" --status
"$program" sweep "$folder/b" --worker --cells 0:4 & one=$!
"$program" sweep "$folder/b" --worker & two=$!
wait $one $two  # each leaves alone what the other holds, and then exits with 1
"$program" sweep "$folder/b" --worker || wrong "the last worker failed"
expect 0 "7 done" sweep "$folder/b" --gather
same "$folder/b/sweep.h5" "$folder/run2.h5"
[ "$(ls "$folder/b/attempts" | wc -l)" = 7 ] ||
  wrong "a cell was decoded twice: $(ls "$folder/b/attempts")"

# A cell that crashes and one that is refused do not stop the others; each is said, tried again, and
# after three times left alone.
cat > "$folder/configs/bad.ini" <<INI
model = table
task = positions
[run]
samples = 5
[sweep]
router = always, never, crash, refuse
INI
expect 1 "2 done, 2 failed" --plugin "$crashes" sweep "$folder/configs/bad.ini" --out "$folder/c" \
  --jobs 2
expect 1 "signal 6" sweep "$folder/c" --status
expect 1 "crashed (SIGABRT): the call was of a part in this library" sweep "$folder/c" --status
expect 1 "exit status 76: router 'refuse'" sweep "$folder/c" --status
expect 0 "valid, schema" check-trace "$folder/c/sweep.h5"
expect 1 "2 done, 2 failed" sweep "$folder/c"
expect 1 "2 done, 2 quarantined" sweep "$folder/c"
before=$(ls "$folder/c/attempts" | wc -l)
expect 1 "2 done, 2 quarantined" sweep "$folder/c"
[ "$(ls "$folder/c/attempts" | wc -l)" = "$before" ] || wrong "a quarantined cell was tried again"
DRAFTLAB_TEST_CALM=1 "$program" sweep "$folder/c" --retry > "$folder/retried" 2>&1 ||
  wrong "$(cat "$folder/retried")"
expect 0 "4 done" sweep "$folder/c" --status

# So with a cell that never ends, and with one that takes all memory.
cat > "$folder/configs/worse.ini" <<INI
model = table
task = positions
[run]
samples = 2
[sweep]
router = never, hang, exhaust
INI
(ulimit -v 8000000
 expect 1 "1 done, 2 failed" --plugin "$crashes" sweep "$folder/configs/worse.ini" --out \
   "$folder/h" --sample-seconds 5
 exit $failed) || failed=1
expect 1 "took longer than 5.0 s (--sample-seconds)" sweep "$folder/h" --status
expect 1 "the memory did not suffice" sweep "$folder/h" --status

# A library is loaded from the command line, or because it is the one that was frozen.
library=$(ls "$folder/c/plugins")
cp "$folder/c/plugins/$library" "$folder/library"
printf 'x' >> "$folder/c/plugins/$library"
expect 78 "the file has changed" sweep "$folder/c"
# Whoever only looks loads none, whatever the folder names: here one that ends its process.
cat > "$folder/ends.c" <<'C'
#include <stdlib.h>
__attribute__((constructor)) static void end(void) { _Exit(99); }
C
cc -shared -fPIC -o "$folder/c/plugins/$library" "$folder/ends.c"
digest=$(sha256sum "$folder/c/plugins/$library" | cut -d' ' -f1)
cp "$folder/c/config.ini" "$folder/config.kept" && cp "$folder/c/cells.json" "$folder/cells.kept"
expect 0 "4 done" sweep "$folder/c" --status
expect 0 "4 done" sweep "$folder/c" --gather
expect 0 "router=never" report "$folder/c"
expect 64 "loads no plugins" sweep "$folder/c" --status --plugin "$crashes"
expect 64 "loads no plugins" --plugin "$crashes" sweep "$folder/c" --status
sed -i "s/sha256:[0-9a-f]*/sha256:$digest/" "$folder/c/config.ini"
"$program" sweep "$folder/c" --dry-run > /dev/null 2>&1
[ $? -eq 99 ] || wrong "a sweep that is asked for its cells does not load the library"
expect 65 "has no cells.json that lists the cells of its config" sweep "$folder/c" --status
cp "$folder/config.kept" "$folder/c/config.ini" && cp "$folder/library" "$folder/c/plugins/$library"
expect 0 "4 done" sweep "$folder/c" --status
sed -i 's/"id":"/"id":"..\/..\//' "$folder/c/cells.json"
expect 65 "is no id of a cell" sweep "$folder/c" --gather
rm "$folder/c/cells.json"  # As an earlier version leaves a folder.
expect 65 "go on with it once" sweep "$folder/c" --status
expect 0 "4 done" sweep "$folder/c"
expect 0 "4 done" sweep "$folder/c" --status
cmp -s "$folder/c/cells.json" "$folder/cells.kept" || wrong "the list of cells is another"

# Refusals, in words.
expect 73 "is no folder of a sweep" sweep "$folder/configs/small.ini" --out "$folder/configs"
expect 64 "is no folder of a sweep" sweep "$folder/configs"
expect 73 "is no folder of a sweep" sweep "$folder/configs/small.ini" --out \
  "$folder/configs/small.ini"
expect 78 "no prompts from run.first" sweep "$folder/configs/small.ini" --out "$folder/f" \
  --run.first 1000000
[ -e "$folder/f" ] && wrong "a sweep that is refused leaves $(ls "$folder/f")"
mkdir "$folder/f" && echo '{}' > "$folder/f/sweep.json"  # as one that was killed leaves it
expect 65 "begin it again" sweep "$folder/f" --status
expect 0 "7 done" sweep "$folder/configs/small.ini" --out "$folder/f"
expect 64 "holds a frozen config" sweep "$folder/a" --seed 3
expect 64 "must be a whole number" sweep "$folder/configs/small.ini" --out "$folder/d" --jobs many
expect 78 "unknown drafter 'slef'" sweep "$folder/configs/small.ini" --out "$folder/d" \
  --sweep.drafter slef
expect 0 "core-hours" sweep "$folder/configs/small.ini" --out "$folder/e" --estimate
said=$(PATH=$folder "$program" sweep "$folder/e" --slurm 2>&1) &&
  wrong "Slurm took a sweep where there is none"
case $said in *"sbatch is not here"*) ;; *) wrong "where there is no Slurm it said: $said" ;; esac
exit $failed
