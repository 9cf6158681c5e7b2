#!/bin/sh
# The arrows between folders: experiments, analysis -> plugins -> core -> std, Eigen. Prints what points the wrong way.
cd "$1" || exit 2
wrong=0
# forbid WHAT PATTERN FILE...: no file may hold a line that matches.
forbid() {
  what=$1 pattern=$2
  shift 2
  [ $# -gt 0 ] || return 0
  found=$(grep -nE "$pattern" "$@" /dev/null) || return 0
  printf '%s:\n%s\n' "$what" "$found"
  wrong=1
}
forbid "core includes nothing above it" '#include "(plugins|experiments|analysis)/' core/*/*
forbid "plugins include neither experiments nor analysis" '#include "(experiments|analysis)/' $(find plugins -name '*.h' -o -name '*.cc')
forbid "analysis includes core only" '#include "(plugins|experiments)/' $(find analysis -name '*.h' -o -name '*.cc')
forbid "torch stays in plugins/models/*_torch.*" '#include [<"](torch|ATen|c10)/' \
  $(find core plugins experiments analysis \( -name '*.h' -o -name '*.cc' \) ! -path 'plugins/models/*_torch.*')
forbid "Boost, HDF5 and spdlog stay out of headers" '#include [<"](boost/|hdf5|spdlog/)' $(find core plugins experiments analysis -name '*.h' ! -path core/trace/hdf5_handle.h)
forbid "only what reads and writes columns knows HDF5's handles" '#include "core/trace/hdf5_handle.h"' \
  $(find core plugins experiments analysis \( -name '*.h' -o -name '*.cc' \) ! -path 'core/trace/hdf5_*.cc')
forbid "Boost, HDF5 and spdlog stay out of plugins" '#include [<"](boost/|hdf5|spdlog/)' $(find plugins -name '*.cc')
forbid "randomness comes from core/prob/chance alone" \
  'std::(mt19937|minstd_rand|ranlux|knuth_b|default_random_engine|random_device|[a-z_]*_distribution<)|[^_a-z](rand|srand|drand48|random)\(\)|at::(rand|randn|randint|multinomial|bernoulli|manual_seed)\(' \
  $(find core plugins experiments analysis \( -name '*.h' -o -name '*.cc' \) ! -path 'core/prob/chance.*')

# A plugin's .cc is included by nobody; a header is included across folders only where it is a seam: models read texts through
# plugins/tokenizers and the data of plugins/tasks, everything else stays within its folder. builtin.h is the list of all.
for file in $(find plugins -name '*.h' -o -name '*.cc'); do
  own=$(dirname "$file")
  found=$(grep -nE '#include "plugins/' "$file" | grep -vE "#include \"($own/[a-z0-9_]+\.(h|inc)|plugins/builtin\.h|plugins/tokenizers/[a-z0-9_]+\.h)\"")
  case $own in plugins/models | plugins/tokenizers) found=$(printf '%s' "$found" | grep -vE '#include "plugins/tasks/[a-z0-9_]+\.h"') ;; esac
  [ -z "$found" ] && continue
  printf 'plugins do not include one another:\n%s\n' "$(printf '%s\n' "$found" | sed "s|^|$file:|")"
  wrong=1
done
forbid "a .cc file is included by nobody" '#include ".*\.cc"' $(find core plugins experiments analysis tests -name '*.h' -o -name '*.cc')
exit $wrong
