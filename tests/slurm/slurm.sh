#!/bin/bash
# A sweep on a real Slurm, started here on the loopback address without systemd, database or
# cgroups: an array of real cells, one of which is requeued and one killed, gathers to what a local
# run gathers. Exit 77: skipped, with the reason.
#   slurm.sh PROGRAM COMPARE
program=$(readlink -f "$1") compare=$(readlink -f "$2")
skip() { echo "skipped: $*"; exit 77; }
for tool in slurmctld slurmd munged sbatch runuser; do command -v $tool >/dev/null ||
  PATH=$PATH:/usr/sbin command -v $tool >/dev/null ||
  skip "$tool is not installed (Debian: slurm-wlm munge)"; done
PATH=$PATH:/usr/sbin
[ "$(id -u)" = 0 ] || skip "Slurm's daemons need root"
[ -r /etc/munge/munge.key ] || skip "munge has no key (/etc/munge/munge.key)"
B=$(mktemp -d /tmp/draftlab-slurm.XXXXXX) || exit 2
chmod 755 "$B"
host=$(hostname -s)
export SLURM_CONF=$B/slurm.conf
stop() {
  trap - EXIT INT TERM
  scancel --full --user=root 2>/dev/null
  [ -s "$B/run/slurmd.pid" ] && kill "$(cat "$B/run/slurmd.pid")" 2>/dev/null
  timeout 20 scontrol shutdown slurmctld >/dev/null 2>&1
  for pid in "$B/run/slurmd.pid" "$B/run/slurmctld.pid"; do
    for _ in $(seq 50); do [ -s "$pid" ] && kill -0 "$(cat "$pid")" 2>/dev/null ||
      break; sleep 0.1; done
  done
  munged --stop --socket="$B/munge/munge.socket.2" >/dev/null 2>&1
  [ -n "${KEEP-}" ] && echo "kept $B" || rm -rf "$B"
}
trap stop EXIT
trap 'exit 130' INT TERM
fail() {
  echo "FAILED: $*"
  tail -n 20 "$B"/log/*.log "$B"/sweep/logs/* 2>/dev/null
  exit 1
}
install -d -o munge -g munge -m 0755 "$B/munge" &&
  install -d -o munge -g munge -m 0700 "$B/munge/state" || skip "there is no user munge"
mkdir -p "$B/state" "$B/spool" "$B/run" "$B/log"
cat > "$SLURM_CONF" <<CONF
ClusterName=mini
SlurmctldHost=$host(127.0.0.1)
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort=$((20000 + $$ % 20000))
SlurmdPort=$((20001 + $$ % 20000))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$B/munge/munge.socket.2
StateSaveLocation=$B/state
SlurmdSpoolDir=$B/spool
SlurmctldPidFile=$B/run/slurmctld.pid
SlurmdPidFile=$B/run/slurmd.pid
SlurmctldLogFile=$B/log/slurmctld.log
SlurmdLogFile=$B/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$B/log/jobcomp.log
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1,bf_interval=2
ReturnToService=2
MinJobAge=604800
MaxArraySize=10001
JobRequeue=1
KillWait=5
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
runuser -u munge -- munged --key-file=/etc/munge/munge.key --socket="$B/munge/munge.socket.2" \
  --pid-file="$B/munge/munged.pid" \
  --log-file="$B/munge/state/munged.log" --seed-file="$B/munge/state/munged.seed" --num-threads=2 ||
    skip "munged does not start"
slurmctld >"$B/log/start" 2>&1 ||
  skip "slurmctld does not start: $(tail -n 1 "$B/log/start" "$B/log/slurmctld.log")"
slurmd -N "$host" >"$B/log/start" 2>&1 ||
  skip "slurmd does not start: $(tail -n 1 "$B/log/start" "$B/log/slurmd.log")"
for _ in $(seq 100); do sinfo -h -o %t 2>/dev/null | grep -q idle && break; sleep 0.2; done
sinfo -h -o %t 2>/dev/null | grep -q idle ||
  skip "no node of this Slurm becomes idle: $(tail -n 1 "$B/log/slurmd.log")"

# waiting SECONDS COMMAND...: until it succeeds.
waiting() {
  local seconds=$1
  shift
  for _ in $(seq $((seconds * 5))); do "$@" && return; sleep 0.2; done
  return 1
}
# Requeued jobs wait two minutes by default; their owner may begin them now.
hurry() {
  for job in $(squeue -h -t PENDING -r -o '%i %r' | awk '$2 == "BeginTime" { print $1 }');
    do scontrol update "JobId=$job" StartTime=now; done
}
over() { hurry; [ -z "$(squeue -h -o %i)" ]; }
# A cell has 300 to 400 decisions, which rest for a hundredth of a second each, so that it lasts at
# least three seconds on any machine: a task that ends sooner could not be requeued or killed.
cat > "$B/rests.py" <<'PY'
import time
import draftlab as dl


@dl.router("rests")
class Rests:
    """Verify always, after a rest."""

    def decide(self, step):
        time.sleep(0.01)
        return True
PY
cat > "$B/slow.ini" <<INI
# Eight cells.
model = table
task = positions
router = rests
[plugins]
rests = $B/rests.py
[model.table]
length = 8
[task.positions]
length = 8
[run]
samples = 100
[trace]
unit_tokens = 100
[slurm]
max_running = 2
time = 10
[sweep]
drafter = self, ngram
decode.draft_length = 2, 3, 4, 5
INI
cd "$B" || exit 2
"$program" sweep slow.ini --out sweep --slurm --nice=0 || fail "the submission"
array=$(squeue -h -o %F | sort -n | head -n 1)
units() { ls "$B"/sweep/cells/*.units/unit-*.h5 >/dev/null 2>&1; }
waiting 60 units || fail "no task wrote a unit"
first=$(squeue -h -t RUNNING -r -o %i | head -n 1)
scontrol requeue "$first" || fail "the requeue of $first"
requeued() { [ "$(scontrol show job "$first" | grep -o 'Restarts=[0-9]*')" != Restarts=0 ]; }
waiting 30 requeued || fail "$first was not requeued"
running() { hurry; squeue -h -t RUNNING -r -o %i | grep -v "^$first$" >/dev/null; }
waiting 60 running || fail "no other task runs"
second=$(squeue -h -t RUNNING -r -o %i | grep -v "^$first$" | head -n 1)
worker=$(pgrep -f "sweep $B/sweep --worker --cells ${second#*_}:" | head -n 1)
[ -n "$worker" ] || fail "the process of $second"
kill -9 "$worker" && echo "killed $second, process $worker"
waiting 240 over || fail "the array does not end: $(squeue)"
"$program" sweep sweep --status
# The task that was killed is no job any more: what it left is submitted again.
if ! "$program" sweep sweep --status >/dev/null; then
  "$program" sweep sweep --slurm || fail "the second submission"
  waiting 240 over || fail "the second array does not end: $(squeue)"
fi
"$program" sweep sweep --status || fail "not every cell is done"
"$program" check-trace sweep/sweep.h5 || fail "the gathered trace"
# The local run takes the copy of the router that the sweep made.
sed "s|^rests = .*|rests = $(ls "$B"/sweep/plugins/*-rests.py)|" slow.ini > local.ini
"$program" run local.ini --out local.h5 >/dev/null 2>&1 || fail "the local run"
"$compare" sweep/sweep.h5 local.h5 || fail "the gathered trace is not the local one"
grep -q "Restarts=[1-9]" <(scontrol show job "$first") || fail "$first was not restarted"
ls sweep/logs/"${array}"_*.out >/dev/null || fail "the tasks wrote no logs"
said=$("$program" sweep slow.ini --out refused --slurm --partition=nowhere 2>&1) &&
  fail "a partition that is not there was taken"
echo "$said" | grep -q "Slurm refused" || fail "it said: $said"
"$program" sweep slow.ini --out cancelled --run.samples 10000 --slurm >/dev/null ||
  fail "the third submission"
begun() { [ -n "$(ls cancelled/attempts 2>/dev/null)" ]; }
waiting 60 begun || fail "no task of the third array begins"
"$program" sweep cancelled --cancel || fail "the cancelling"
waiting 60 over || fail "cancelled jobs go on: $(squeue)"
echo "passed"
