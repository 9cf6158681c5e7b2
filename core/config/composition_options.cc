// Declares what each option of a config's own sections is called, its range, and what it does.
#include <limits>

#include "core/config/options.h"
#include "core/config/run_options.h"
#include "core/parts/decode_options.h"
#include "core/trace/trace_options.h"

namespace draftlab {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

}  // namespace

void DecodeOptions::declare(OptionSet& set) {
  set.add("temperature", &sampling.temperature)
      .in(0, 100)
      .help("Divides the logits; 0 always draws the most probable token.");
  set.add("temperature_last", &temperature_last)
      .in(-1, 100)
      .help(
          "Temperature to which that of a block's first step falls, linearly in its steps (steps, "
          "or as many as it has positions); the step behind the last would have it; -1: it stays.");
  set.add("top_k", &sampling.top_k)
      .in(0, 1e6)
      .help("Draw from the k most probable tokens; 0 from all.");
  set.add("top_p", &sampling.top_p)
      .in(1e-6, 1)
      .help("Draw from the most probable tokens that together reach this mass.");
  set.add("noise", &noise)
      .help(
          "Which random numbers drafts and target read at a position: each draw its own; or one "
          "that they share (for verifier = own-draw), through the inverse CDF or by Gumbel noise.");
  set.add("draft_length", &draft_length)
      .in(1, 4096)
      .help("Tokens drafted a step (k of the papers).");
  set.add("draft_rule", &draft_rule)
      .help(
          "How many of draft_length drafts a step makes. fixed: all. matches: 2 more after a step "
          "that accepted all, else 1 fewer (Hugging Face). likely: none behind a draft less "
          "probable than draft_stop (Draft & Verify). likely-dropped: nor that draft, which is not "
          "lossless (a negative control). sure: none where 1 - sqrt(0.2 H) is below draft_stop "
          "(AdaEDL). goodput: as many as promise the most tokens a second, by draft_cost, row_cost "
          "and the share of drafts that was accepted of late (SmartSpec).");
  set.add("draft_stop", &draft_stop).in(0, 1).help("The threshold of draft_rule.");
  set.add("draft_adapts", &draft_adapts)
      .help(
          "Move draft_stop after each verification, by 0.001, towards 90 % accepted drafts (Draft "
          "& Verify).");
  set.add("draft_cost", &draft_cost)
      .in(0, 1000)
      .help("For draft_rule = goodput: what one draft takes to make, in forwards of the target.");
  set.add("row_cost", &row_cost)
      .in(0, 1000)
      .help(
          "For draft_rule = goodput: what one more row of a verification takes, in forwards of the "
          "target; in a batch that of all its sequences.");
  set.add("block_size", &block_size)
      .in(0, 4096)
      .help(
          "B: positions decoded together before the next block begins; 0 takes the whole canvas as "
          "one.");
  set.add("sub_block", &sub_block)
      .in(0, 4096)
      .help("Decode a block in parts of so many positions, left to right; 0 takes it whole.");
  set.add("align", &align)
      .help("Blocks begin at multiples of block_size, or at the end of the prompt.");
  set.add("threshold", &threshold)
      .in(0, 1)
      .help("tau: drafts more probable than this are confident (dynamic decoding, N_hi).");
  set.add("steps", &steps)
      .in(0, 4096)
      .help(
          "S: steps a block, hence how many tokens each must commit; 0 for as many as block_size.");
  set.add("edit_threshold", &edit_threshold)
      .in(0, 1)
      .help(
          "tau_edit: tokens of the current block are replaced by others more probable than this "
          "(LLaDA2.1); 1 edits nothing.");
  set.add("post_steps", &post_steps)
      .in(0, 4096)
      .help("Steps that may still edit a block without masks.");
  set.add("stop", &stop)
      .help("After an end-of-text token: go on, stop at once, or finish its block first.");
  set.add("end_penalty", &end_penalty)
      .in(0, 1000)
      .help(
          "Nats taken off the log probability of the model's end-of-text tokens in every law, so "
          "that texts end later; what is lossless is so against these laws.");
  set.add("end_confidence", &end_confidence)
      .in(0, 1)
      .help(
          "Multiplies the probability of a drafted end of text where unmaskers, routers and "
          "estimators read it, before normalising; 0 commits an end when nothing else is left "
          "(LLaDA).");
  set.add("shadow", &shadow)
      .help(
          "Verify at every step, to learn what it would have given: commit it, or only record it "
          "(then it is no NFE).");
  set.add("reads", &reads)
      .help(
          "What estimators, routers and unmaskers read confidence and entropy from: the model's "
          "distribution, or that after temperature, top-k and top-p (of a greedy draft: a point "
          "mass at temperature 0).");
  set.add("questions", &questions)
      .in(1, 1e9)
      .help(
          "Most questions that a part may ask in one step; a part that asks more is taken for "
          "endless.");
}

void RunOptions::declare(OptionSet& set) {
  // 2^53: every reader of the trace can hold a seed up to this exactly.
  constexpr double kLargestExact = 9007199254740992;
  set.add("seed", &seed)
      .in(0, kLargestExact)
      .help("Every random number is a function of seed, prompt and decision.");
  set.add("limit", &limit).in(0, kUnbounded).help("Prompts to decode; 0 for all of the task's.");
  set.add("first", &first).in(0, kUnbounded).help("Index of the first prompt.");
  set.add("samples", &samples)
      .in(1, 1e6)
      .help("Repeats of each prompt, with random numbers of their own.");
  set.add("batch", &batch)
      .in(1, 4096)
      .help("Sequences decoded at once; their number cannot change a decoded token.");
  set.add("workers", &workers)
      .in(0, 4096)
      .help(
          "Processes of `run` that decode independent samples, or of `certify` that make "
          "certificates, with one thread each; 0 for as many as this process may use. It cannot "
          "change a decoded token.");
  set.add("fixed_shape", &machine.fixed_shape)
      .help(
          "Refuse a model whose answers may depend on what shares its forward: decisions are then "
          "exactly those of batch 1.");
  set.add("device", &machine.device)
      .help("Where models run; cpu-tensors: on the CPU, by the tensor operations of a GPU.");
  set.add("dtype", &machine.dtype)
      .help("Precision of a model's weights and products; q8 and q4 round weights when loading.");
  set.add("threads", &machine.threads)
      .in(0, 4096)
      .help(
          "Most threads of a model, whose forwards use them where that is faster; 0 for as many as "
          "this process may use, and for 1 beside other workers.");
}

void TraceOptions::declare(OptionSet& set) {
  set.add("drafts", &drafts)
      .help("Drafted positions that are recorded: none, those that a chain judged, or all.");
  set.add("top_k", &top_k)
      .in(0, 64)
      .help(
          "Most probable tokens of each drafted position that are recorded, with their "
          "probabilities.");
  set.add("limits", &limits)
      .help(
          "Record the most that any rule could accept at each judged node (optimal transport), for "
          "the metric of_limit of reports.");
  set.add("prompts", &prompts)
      .help("Record the tokens of prompts, so that `rerun` can decode again from the trace alone.");
  set.add("unit_tokens", &unit_tokens)
      .in(1, 1e9)
      .help("A unit of the trace is written after at most so many tokens.");
  set.add("unit_seconds", &unit_seconds)
      .in(0, 86400)
      .help("A unit is also written after so many seconds; a crash loses what came later.");
}

}  // namespace draftlab
