// The list of all plugins of the tree, one line each: X(KIND, NAME) is the file NAME.cc below the
// folder of its kind. The configuration of the build refuses a line without a file, and a file
// without a line, so what `draftlab list` shows is what there is. The first frontier, drafter,
// verifier, acceptance rule, router and unmasker are those of a config that names none.
#pragma once

#define DRAFTLAB_BUILTIN_PLUGINS(X) \
  X(model, table)                   \
  X(model, noisy_table)             \
  X(model, recurrent)               \
  X(model, recurrent_mistakes)      \
  X(model, rwkv)                    \
  X(model, any_subset)              \
  X(model, block_diffusion)         \
  X(model, masked_diffusion)        \
  X(model, autoregressive)          \
  X(model, linear_gaussian)         \
  X(model, mar)                     \
  X(model, remote)                  \
  X(frontier, lattice)              \
  X(frontier, left_to_right)        \
  X(frontier, blocks)               \
  X(frontier, random)               \
  X(drafter, self)                  \
  X(drafter, stepwise)              \
  X(drafter, ngram)                 \
  X(drafter, denoise)               \
  X(drafter, heads)                 \
  X(drafter, model)                 \
  X(drafter, shallow)               \
  X(drafter, prompt_lookup)         \
  X(drafter, suffix)                \
  X(drafter, suffix_automaton)      \
  X(drafter, rest)                  \
  X(drafter, token_recycling)       \
  X(drafter, lookahead)             \
  X(drafter, jacobi)                \
  X(drafter, synthetic)             \
  X(drafter, confidence)            \
  X(drafter, dynamic_tree)          \
  X(drafter, diffusion)             \
  X(drafter, along_steps)           \
  X(drafter, at_once)               \
  X(drafter, misstated)             \
  X(drafter, along_steps_redrawn)   \
  X(verifier, chain)                \
  X(verifier, block)                \
  X(verifier, k_seq)                \
  X(verifier, own_draw)             \
  X(verifier, orders)               \
  X(verifier, tree)                 \
  X(verifier, in_place)             \
  X(verifier, density)              \
  X(verifier, block_mistakes)       \
  X(verifier, density_published)    \
  X(acceptance, speculative)        \
  X(acceptance, exact_match)        \
  X(acceptance, top_k)              \
  X(acceptance, distance)           \
  X(acceptance, typical)            \
  X(acceptance, cascade)            \
  X(acceptance, whole_target)       \
  X(router, always)                 \
  X(router, never)                  \
  X(router, min_span)               \
  X(router, score)                  \
  X(router, hysteresis)             \
  X(router, ucb)                    \
  X(router, explore)                \
  X(estimator, entropy)             \
  X(estimator, confidence)          \
  X(estimator, renyi2)              \
  X(estimator, trajectory)          \
  X(estimator, hard_entropy)        \
  X(estimator, hard_margin)         \
  X(estimator, clipped_margin)      \
  X(estimator, random)              \
  X(estimator, observed)            \
  X(unmasker, one)                  \
  X(unmasker, all)                  \
  X(unmasker, static)               \
  X(unmasker, threshold)            \
  X(unmasker, entropy_bound)        \
  X(unmasker, factor)               \
  X(unmasker, klass)                \
  X(unmasker, credit)               \
  X(unmasker, wino)                 \
  X(unmasker, saber)                \
  X(unmasker, remdm)                \
  X(unmasker, hierarchical)         \
  X(unmasker, local_leap)           \
  X(unmasker, prophet)              \
  X(unmasker, slow_fast)            \
  X(unmasker, pc_sampler)           \
  X(unmasker, renoise)              \
  X(task, positions)                \
  X(task, infill)                   \
  X(task, continuation)             \
  X(task, prefix)                   \
  X(task, story)                    \
  X(task, arithmetic)               \
  X(task, programs)                 \
  X(task, program_infill)           \
  X(task, gsm8k)                    \
  X(task, mbpp)                     \
  X(task, math)                     \
  X(task, human_eval)               \
  X(task, code_infill)              \
  X(task, lambada)                  \
  X(task, hellaswag)                \
  X(task, ifeval)                   \
  X(task, jsonl)                    \
  X(task, speed_bench)              \
  X(task, transduce)                \
  X(task, images)                   \
  X(task, super_resolution)         \
  X(trainer, any_subset)            \
  X(trainer, block_diffusion)       \
  X(trainer, masked_diffusion)      \
  X(trainer, autoregressive)        \
  X(trainer, image_classifier)      \
  X(trainer, mar)                   \
  X(trainer, tokenizer)

namespace draftlab {

struct Registries;

}  // namespace draftlab

#define DRAFTLAB_DECLARE_PLUGIN(kind, name) \
  void register_##kind##_##name(draftlab::Registries& registries);
DRAFTLAB_BUILTIN_PLUGINS(DRAFTLAB_DECLARE_PLUGIN)
#undef DRAFTLAB_DECLARE_PLUGIN

// Registers all plugins of the list.
void register_builtin_plugins(draftlab::Registries& registries);
