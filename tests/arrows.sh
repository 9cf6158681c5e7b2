#!/bin/sh
# Which room may include which: the arrows of core/README.md. Prints every include that points the
# wrong way. There are no exceptions: where one seems needed, a file lies in the wrong room. Then it
# prints every type that two headers declare.
cd "$1" || exit 2
wrong=0

# Headers declare a type of one name once: of two in one program the linker keeps the functions of
# either, and the other's objects are then destroyed by the wrong one.
twice=$(find core plugins analysis experiments -name '*.h' ! -path '*/kernels/rows/*' -exec \
  sed -nE 's/^(struct|class|enum|enum class) ([A-Za-z_]+)( final)?( : [^;]*)? \{.*/\2/p' {} + |
  sort | uniq -d)
[ -z "$twice" ] || { printf 'two headers declare a type of this name:\n%s\n' "$twice"; wrong=1; }

# room FOLDER ALLOWED...: files of the folder itself, not of those below it, may include the rooms
# named and their own. A name that ends in /* stands for every room below that folder.
room() {
  own=$1
  shift
  allowed="\"$own/[a-z0-9_]+\\."
  for other in "$@"; do
    case $other in
      */\*) allowed="$allowed|\"${other%/*}/[a-z0-9_/]+\\." ;;
      *) allowed="$allowed|\"$other/[a-z0-9_]+\\." ;;
    esac
  done
  files=$(find "$own" -maxdepth 1 \( -name '*.h' -o -name '*.cc' -o -name '*.inc' \))
  [ -n "$files" ] || { printf 'there is no room %s\n' "$own"; wrong=1; return; }
  rooms="$rooms $own"
  found=$(grep -nE '^#include "' $files /dev/null | grep -vE "#include ($allowed)")
  [ -z "$found" ] && return
  printf '%s includes what it may not:\n%s\n' "$own" "$found"
  wrong=1
}

rooms=""
room core/base
room core/prob core/base
room core/model core/base core/prob
room core/parts core/base core/prob core/model
room core/loop core/base core/prob core/model core/parts
room core/trace core/base core/prob core/model core/parts core/loop
room core/config core/base core/prob core/model core/parts core/loop core/trace
room core/metrics core/base core/prob core/model core/parts core/loop

# A plugin sees core, the list of plugins, and what its own room shares.
for kind in acceptance drafters estimators frontiers routers unmaskers verifiers; do
  room plugins/$kind 'core/*' plugins
done
room plugins/controls 'core/*' plugins plugins/drafters plugins/verifiers plugins/models/toy
room plugins 'core/*'
room plugins/tokenizers 'core/*' plugins
room plugins/tasks 'core/*' plugins plugins/tokenizers
for subject in arithmetic images programs stories transduction; do
  room plugins/tasks/$subject 'core/*' plugins plugins/tokenizers plugins/tasks
done
room plugins/tasks/benchmarks 'core/*' plugins plugins/tokenizers plugins/tasks \
  plugins/tasks/stories

# Models: a family sees what lies below it and no other family.
models=plugins/models
room $models 'core/*' plugins plugins/remote
room $models/toy 'core/*' plugins
nn=$models/nn
room $nn 'core/*' plugins $models
room $nn/kernels/rows 'core/*'
room $nn/kernels 'core/*' $nn/kernels/rows
room $nn/checkpoint 'core/*' "$nn/kernels/*"
room $nn/transformer 'core/*' "$nn/kernels/*" $nn/checkpoint
room $nn/training 'core/*' "$nn/kernels/*" $nn/checkpoint $nn/transformer plugins/tokenizers \
  'plugins/tasks/*'
for family in autoregressive block_diffusion masked_diffusion mar rwkv xlnet; do
  room $models/$family 'core/*' plugins "$nn/*" plugins/tokenizers 'plugins/tasks/*'
done
room $models/bench 'core/*' "$models/*"
room $models/widen 'core/*' plugins/tokenizers "$models/*"
room plugins/trainers 'core/*' plugins plugins/tokenizers 'plugins/tasks/*' "$models/*"
room plugins/remote/wire 'core/*'
room plugins/remote 'core/*' plugins plugins/remote/wire

room analysis/frame 'core/*'
room analysis/metrics 'core/*' analysis/frame
room analysis/report 'core/*' analysis/frame analysis/metrics
for part in figures page replay; do
  room analysis/$part 'core/*' analysis/frame analysis/metrics analysis/report
done
room analysis/surface 'core/*' analysis/frame analysis/metrics
room analysis/inspect 'core/*' analysis/frame
room experiments/command 'core/*' plugins/remote
room experiments/arm 'core/*' 'plugins/*'
for part in bench certify check distill doctor endpoint invariance rerun sweep; do
  room experiments/$part 'core/*' 'plugins/*' 'analysis/*' experiments/arm experiments/command
done
room experiments 'core/*' 'plugins/*' 'analysis/*' 'experiments/*'

folders=$(find core plugins experiments analysis -name '*.h' -o -name '*.cc' | sed 's|/[^/]*$||')
for folder in $(printf '%s\n' "$folders" | sort -u); do
  case " $rooms " in *" $folder "*) continue ;; esac
  printf 'no arrow is stated for %s\n' "$folder"
  wrong=1
done

# forbid WHAT PATTERN FILE...: no file may hold a line that matches.
forbid() {
  what=$1 pattern=$2
  shift 2
  [ $# -gt 0 ] || return 0
  found=$(grep -nE "$pattern" "$@" /dev/null) || return 0
  printf '%s:\n%s\n' "$what" "$found"
  wrong=1
}
sources() { find core plugins experiments analysis \( -name '*.h' -o -name '*.cc' \) "$@"; }
forbid "torch stays in plugins/models/*_torch.*" '#include [<"](torch|ATen|c10)/' \
  $(sources ! -path 'plugins/models/*_torch.*')
forbid "Boost, HDF5 and spdlog stay out of headers" '#include [<"](boost/|hdf5|spdlog/)' \
  $(sources -name '*.h' ! -path core/trace/hdf5_handle.h)
forbid "only what reads and writes columns knows HDF5's handles" \
  '#include "core/trace/hdf5_handle.h"' $(sources ! -path 'core/trace/hdf5_*.cc')
forbid "Boost, HDF5 and spdlog stay out of plugins" '#include [<"](boost/|hdf5|spdlog/)' \
  $(find plugins -name '*.cc')
forbid "fmt fills in the errors of core/base/error.h, and nothing else" '#include [<"]fmt/' \
  $(sources ! -path 'core/base/error.*')
random='std::(mt19937|minstd_rand|ranlux|knuth_b|default_random_engine|random_device)'
random="$random|std::[a-z_]*_distribution<"
random="$random|[^_a-z](rand|srand|drand48|random)\\(\\)"
random="$random|at::(rand|randn|randint|multinomial|bernoulli|manual_seed)\\("
forbid "randomness comes from core/prob/chance alone" "$random" \
  $(sources ! -path 'core/prob/chance.*')
# What a plugin is called decides nothing above the plugins: whoever knows a fact records it. So no
# text is compared with a registered name, none begins KIND = NAME, and names of several words,
# which mean nothing else, do not occur at all. The drafter `model` is called as a kind of plugins
# is. Outside the rule are benchmarks, which are of the models that they name, `draftlab train`,
# which trains the model that it names, and `draftlab export`, whose held-out images are one task's.
names() {
  grep -oE 'X\([a-z0-9_]+, [a-z0-9_]+\)' plugins/builtin.h |
    sed -E 's/.*, ([a-z0-9_]+)\)/\1/; s/_/-/g' | grep -E "$1" | sort -u | paste -s -d '|'
}
kinds='model|frontier|drafter|verifier|acceptance|router|estimator|unmasker|task|trainer'
compared=$(names . | sed -E 's/(^|\|)model(\||$)/\1/')
named="[=!]= *\"($compared)\"|\"($compared)\" *[=!]=|registries_?\.[a-z]+, \"($compared)\""
named="$named|^[^/]*\"($(names '[-]'))\"|^[^/]*\"($kinds) ?= ?($(names .))[^a-z0-9-]"
forbid "no plugin's name decides anything outside plugins" "$named" \
  $(find core experiments analysis \( -name '*.h' -o -name '*.cc' \) \
    ! -path 'experiments/bench/*' ! -path experiments/train.cc ! -path experiments/export.cc)
forbid "a .cc file is included by nobody" '#include ".*\.cc"' \
  $(find core plugins experiments analysis tests -name '*.h' -o -name '*.cc')
# Metrics are listed, as plugins are.
for file in $(grep -lE '^DRAFTLAB_METRICS\(' analysis/metrics/*.cc); do
  name=$(sed -nE 's/^DRAFTLAB_METRICS\(([a-z0-9_]+)\).*/\1/p' "$file")
  grep -q "X($name)" analysis/metrics/builtin.h && [ "$(basename "$file" .cc)" = "$name" ] &&
    continue
  printf '%s declares the metrics %s, which must have its name and a line X(%s) in %s\n' \
    "$file" "$name" "$name" analysis/metrics/builtin.h
  wrong=1
done
exit $wrong
