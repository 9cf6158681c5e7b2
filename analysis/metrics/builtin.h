// The files of this folder that declare metrics, in the order in which `--metric help` lists them.
// The task's scores come last but for those of whole sets.
#pragma once

#define DRAFTLAB_BUILTIN_METRICS(X) \
  X(forwards)                       \
  X(layers)                         \
  X(rows)                           \
  X(steps)                          \
  X(rollback)                       \
  X(seconds)                        \
  X(tokens_per_forward)             \
  X(tokens_per_second)              \
  X(same_text)                      \
  X(generated)                      \
  X(acceptance_rate)                \
  X(trial_acceptance)               \
  X(of_limit)                       \
  X(proposals)                      \
  X(accepted_length)                \
  X(verified_share)                 \
  X(perplexity)                     \
  X(perplexity_mean)                \
  X(entropy_bits)                   \
  X(residual_energy)                \
  X(ar_ness)                        \
  X(ar_local_s2d2)                  \
  X(scores)                         \
  X(bleu)                           \
  X(frechet)                        \
  X(class_score)                    \
  X(energy_distance)
