// Every plugin of the tree, one line each. A plugin that is missing here does not compile, and a
// line without a plugin does not link; so what `draftlab list` shows is what there is.
#pragma once

#include "core/config/plugin.h"

#define DRAFTLAB_BUILTIN_PLUGINS(X) \
  X(table)                          \
  X(as_arm)                         \
  X(block_diffusion)                \
  X(masked_diffusion)               \
  X(autoregressive)                 \
  X(linear_gaussian)                \
  X(mar)                            \
  X(lattice)                        \
  X(left_to_right)                  \
  X(blocks)                         \
  X(random_order)                   \
  X(stepwise)                       \
  X(self)                           \
  X(ngram)                          \
  X(denoise)                        \
  X(heads)                          \
  X(draft_model)                    \
  X(early_exit)                     \
  X(prompt_lookup)                  \
  X(jacobi)                         \
  X(synthetic)                      \
  X(confidence_drafts)              \
  X(diffusion)                      \
  X(chain)                          \
  X(orders)                         \
  X(tree)                           \
  X(in_place)                       \
  X(density)                        \
  X(speculative)                    \
  X(exact_match)                    \
  X(top_k)                          \
  X(distance)                       \
  X(typical)                        \
  X(always)                         \
  X(never)                          \
  X(min_span)                       \
  X(score)                          \
  X(hysteresis)                     \
  X(ucb)                            \
  X(explore)                        \
  X(entropy)                        \
  X(confidence)                     \
  X(renyi2)                         \
  X(hard_entropy)                   \
  X(hard_margin)                    \
  X(random)                         \
  X(one)                            \
  X(all)                            \
  X(static_quota)                   \
  X(threshold)                      \
  X(entropy_bound)                  \
  X(positions)                      \
  X(infill)                         \
  X(prefix)                         \
  X(story)                          \
  X(arithmetic)                     \
  X(programs)                       \
  X(gsm8k)                          \
  X(mbpp)                           \
  X(math)                           \
  X(human_eval)                     \
  X(code_infill)                    \
  X(lambada)                        \
  X(hellaswag)                      \
  X(ifeval)                         \
  X(transduce)                      \
  X(images)                         \
  X(train_as_arm)                   \
  X(train_block_diffusion)          \
  X(train_masked_diffusion)         \
  X(train_autoregressive)           \
  X(train_image_classifier)         \
  X(train_mar)                      \
  X(train_tokenizer)

#define DRAFTLAB_DECLARE_PLUGIN(name) void register_##name(draftlab::Registries& registries);
DRAFTLAB_BUILTIN_PLUGINS(DRAFTLAB_DECLARE_PLUGIN)
#undef DRAFTLAB_DECLARE_PLUGIN

// Registers all of them.
void register_builtin_plugins(draftlab::Registries& registries);
