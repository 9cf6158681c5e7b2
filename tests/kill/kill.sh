#!/bin/bash
# Kills a run, and a sweep of two processes, with SIGKILL at random moments: every file that is
# there opens, no finished sample is
# lost, and what is resumed equals what was not interrupted, column for column, times apart.
#   kill.sh PROGRAM COMPARE [KILLS] [SEED]
program=$(readlink -f "$1") compare=$(readlink -f "$2") kills=${3:-100} RANDOM=${4:-1}
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
fail() { echo "FAILED: $*"; exit 1; }
cat > a.ini <<INI
model = table
task = positions
[model.table]
length = 8
[task.positions]
length = 8
[run]
samples = 200
[trace]
unit_tokens = 100
[sweep]
drafter = self, stepwise
decode.draft_length = 2, 3, 4
INI
"$program" run a.ini --out whole.h5 >/dev/null 2>&1 || fail "the run that is not interrupted"
# attempts KIND COMMAND...: begins it again and again, killed each time, until the kills are used
# up; then lets it end.
attempts() {
  local kind=$1 killed=0 rounds=0 before=0 now
  shift
  local started=$(date +%s%N)
  "$@" >log 2>&1 || fail "$kind: $(cat log)"
  local usual=$(( ($(date +%s%N) - started) / 1000000 ))
  clean
  while [ $killed -lt "$kills" ]; do
    setsid "$@" >log 2>&1 & local leader=$!
    sleep "$(printf '%d.%03d' $(( (RANDOM % usual) / 1000 )) $(( RANDOM % usual % 1000 )))"
    if kill -9 -- -$leader 2>/dev/null; then killed=$((killed + 1)); fi
    strays "$leader"
    wait $leader 2>/dev/null
    local status=$?
    [ $status -eq 137 ] || [ $status -eq 0 ] || fail "$kind: exit status $status: $(cat log)"
    now=$("$compare" --samples $(found)) || fail "$kind: a file does not open after kill $killed"
    [ "$now" -ge "$before" ] ||
      fail "$kind: $before samples were finished, and after kill $killed there are $now"
    before=$now
    if [ $status -eq 0 ]; then
      "$compare" "$result" whole.h5 || fail "$kind: what was resumed differs"
      rounds=$((rounds + 1)) before=0
      clean
    fi
  done
  "$@" >log 2>&1 || fail "$kind: $(cat log)"
  "$compare" "$result" whole.h5 || fail "$kind: what was resumed differs"
  "$program" check-trace "$result" >/dev/null || fail "$kind: the result is not valid"
  echo "$kind: $killed kills in $((rounds + 1)) runs, nothing lost"
}
strays() { :; }
result=run.h5
# A trace that is merged holds what its units held, so they count only before.
found() { if [ -e run.h5 ]; then echo run.h5; else ls run.h5.units/*.h5 2>/dev/null; fi; }
clean() { rm -rf run.h5 run.h5.units; }
attempts run "$program" run a.ini --out run.h5 --resume
result=sweep/sweep.h5
# Workers have process groups of their own; they die of the pipe to their starter, or now.
strays() {
  local pids
  while pids=$(pgrep -f "^draftlab sweep $folder/sweep --worker"); do
    kill -9 $pids 2>/dev/null
    sleep 0.02
  done
}
found() {
  local units
  ls sweep/cells/*.h5 2>/dev/null
  for units in sweep/cells/*.units; do [ -e "${units%.units}" ] ||
    ls "$units"/*.h5 2>/dev/null; done
}
clean() { rm -rf sweep; }
attempts sweep "$program" sweep a.ini --out sweep --jobs 2
