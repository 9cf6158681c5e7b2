#!/bin/sh
# The numeric tests and the golden decodes with one set of vector instructions:
#   isa.sh none|avx2|avx512 FOLDER_OF_PROGRAMS CHECKOUT
# Our own kernels, libtorch and OpenBLAS choose by variables of their own. libtorch asks the
# processor itself whether oneDNN has bf16, so oneDNN's variable would only make it throw.
# Status 77: the processor does not have these instructions.
set -eu
bin=$2
case $1 in
  none) export ATEN_CPU_CAPABILITY=default OPENBLAS_CORETYPE=Nehalem needs=sse4_2 ;;
  avx2) export ATEN_CPU_CAPABILITY=avx2 OPENBLAS_CORETYPE=Haswell needs=avx2 ;;
  avx512) export ATEN_CPU_CAPABILITY=avx512 OPENBLAS_CORETYPE=SkylakeX needs=avx512dq ;;
  *) echo "isa.sh: '$1' is none of none, avx2 and avx512" >&2; exit 64 ;;
esac
grep -qw "$needs" /proc/cpuinfo || { echo "this processor has no $needs"; exit 77; }
export DRAFTLAB_INSTRUCTIONS=$1

# Trainings are left out: they take most of the time, and their arithmetic is tested by itself.
quietly() { "$@" >"$out" 2>&1 || { tail -n 40 "$out"; exit 1; }; tail -n 3 "$out"; }
out=$(mktemp)
trap 'rm -f "$out"' EXIT
cd "$3"
quietly "$bin/test_plugins" -sf='*plugins/models/*'
quietly "$bin/test_torch" -tce='*training*,*learns*,*resumed*'
quietly "$bin/draftlab" golden

# The variable is read: another word is refused.
if DRAFTLAB_INSTRUCTIONS=mmx "$bin/draftlab" golden >"$out" 2>&1; then
  echo "DRAFTLAB_INSTRUCTIONS=mmx was not refused" >&2
  exit 1
fi
grep -q "DRAFTLAB_INSTRUCTIONS is 'mmx'; it must be none, avx2 or avx512" "$out" || {
  cat "$out"
  exit 1
}
