// What each option of a config's own sections is called, its range, and what it does.
#include <limits>

#include "core/config/composition.h"

namespace draftlab {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

}  // namespace

Blocks DecodeOptions::blocks(const Canvas& canvas) const {
  const auto size = static_cast<std::int32_t>(block_size);
  return {size, size > 0 && align == "prompt" ? canvas.prompt_size() % size : 0,
          static_cast<std::int32_t>(sub_block)};
}

void DecodeOptions::declare(OptionSet& set) {
  set.add("temperature", &sampling.temperature)
      .in(0, 100)
      .help("Divides the logits; 0 always draws the most probable token.");
  set.add("top_k", &sampling.top_k)
      .in(0, 1e6)
      .help("Draw from the k most probable tokens; 0 from all.");
  set.add("top_p", &sampling.top_p)
      .in(1e-6, 1)
      .help("Draw from the most probable tokens that together reach this mass.");
  set.add("draft_length", &draft_length)
      .in(1, 4096)
      .help("Tokens drafted a step (k of the papers).");
  set.add("block_size", &block_size)
      .in(0, 4096)
      .help(
          "B: positions decoded together before the next block begins; 0 takes the whole canvas as "
          "one.");
  set.add("sub_block", &sub_block)
      .in(0, 4096)
      .help("Decode a block in parts of so many positions, left to right; 0 takes it whole.");
  set.add("align", &align)
      .one_of({"position", "prompt"})
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
      .one_of({"off", "token", "block"})
      .help("After an end-of-text token: go on, stop at once, or finish its block first.");
  set.add("shadow", &shadow)
      .one_of({"off", "commit", "observe"})
      .help(
          "Verify at every step, to learn what it would have given: commit it, or only record it "
          "(then it is no NFE).");
}

void RunOptions::declare(OptionSet& set) {
  constexpr double kLargestExact =
      9007199254740992;  // 2^53: seeds survive every reader of the trace
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
      .help("Sequences decoded at once; cannot change a decoded token.");
  set.add("fixed_shape", &machine.fixed_shape)
      .help(
          "Refuse a model whose answers may depend on what shares its forward: decisions are then "
          "exactly those of batch 1.");
  set.add("device", &machine.device).one_of({"cpu", "cuda"}).help("Where models run.");
  set.add("dtype", &machine.dtype)
      .one_of({"f32", "bf16"})
      .help("Precision of a model's weights and products.");
  set.add("threads", &machine.threads)
      .in(0, 4096)
      .help("Threads of a model; 0 for as many as this process may use.");
}

void TraceOptions::declare(OptionSet& set) {
  set.add("drafts", &drafts)
      .one_of({"none", "span", "all"})
      .help("Drafted positions recorded: none, those a chain judged, all.");
  set.add("top_k", &top_k)
      .in(0, 64)
      .help(
          "Most probable tokens of each drafted position that are recorded, with their "
          "probabilities.");
  set.add("unit_tokens", &unit_tokens)
      .in(1, 1e9)
      .help("A unit of the trace is written after so many tokens ...");
  set.add("unit_seconds", &unit_seconds)
      .in(0, 86400)
      .help("... or so many seconds: what a crash can lose.");
}

void CertifyOptions::declare(OptionSet& set) {
  set.add("expect", &expect)
      .one_of({"lossless", "lossy"})
      .help("What the config claims; exit status 1 when it does not hold.");
  set.add("tolerance", &tolerance).in(0, 1).help("Total variation up to which 'lossless' holds.");
  set.add("visible", &visible).in(0, 1).help("Total variation above which 'lossy' holds.");
  set.add("most_outcomes", &most_outcomes)
      .in(1, 1e12)
      .help("Outcomes that may be walked; more are refused.");
  set.add("merge", &merge)
      .help("Merge equal states after each step: far fewer outcomes, the same numbers.");
  set.add("worst_nfe", &worst_nfe)
      .in(0, 1e9)
      .help("Claim that no decode needs more evaluations of the target; 0 claims nothing.");
  set.add("first_step", &first_step)
      .in(0, 1e9)
      .help(
          "Claim that the first step commits so many tokens in the mean, up to the tolerance; 0 "
          "claims nothing.");
  set.add("samples", &samples)
      .in(1000, 1e9)
      .help("Vector tokens: decodes that are sampled; what is tested of ids is enumerated.");
  set.add("alpha", &alpha)
      .in(1e-9, 0.5)
      .help(
          "Vector tokens: probability that some check of a lossless decoder fails by chance; "
          "Bonferroni's correction divides it among all statistics.");
  set.add("given", &given)
      .one_of({"tokens", "step"})
      .help(
          "Vector tokens: the law that 'lossless' means draws a token given all before it; or "
          "given what was committed before its step (verifier.density.context = parallel).");
  set.add("mean", &mean)
      .help(
          "Vector tokens: claim on the mean of the first committed coordinates, within the error "
          "of sampling; empty claims nothing.");
  set.add("acceptance", &acceptance)
      .in(0, 1)
      .help(
          "Vector tokens: claim on the share of tested drafts that are accepted, likewise; 0 "
          "claims nothing.");
}

void DistillOptions::declare(OptionSet& set) {
  set.add("beams", &beams).in(1, 1024).help("Hypotheses that draftlab distill keeps alive.");
  set.add("length_penalty", &length_penalty)
      .in(0, 10)
      .help(
          "alpha: scores are log probabilities over ((5 + tokens) / 6)^alpha; 0 takes them as they "
          "are.");
}

void SlurmOptions::declare(OptionSet& set) {
  set.add("account", &account)
      .help("sbatch --account; empty: the cluster's default, here and below.");
  set.add("partition", &partition).help("sbatch --partition.");
  set.add("qos", &qos).help("sbatch --qos.");
  set.add("constraint", &constraint).help("sbatch --constraint: features of the nodes.");
  set.add("gpus", &gpus).help("sbatch --gpus: of each task, such as 1 or a100:1.");
  set.add("mem", &mem)
      .help("sbatch --mem: of each task, such as 8G; draftlab sweep --estimate suggests one.");
  set.add("time", &time)
      .help(
          "sbatch --time: of each task, such as 2:00:00; a task that runs out of it requeues "
          "itself.");
  set.add("mail", &mail).help("Whom to write to when the sweep ends or a task fails.");
  set.add("setup", &setup)
      .help(
          "Shell commands before the program, such as module load gcc hdf5; export "
          "OMP_NUM_THREADS=4.");
  set.add("cpus_per_task", &cpus_per_task)
      .in(1, 4096)
      .help("sbatch --cpus-per-task: threads of a model.");
  set.add("cells_per_task", &cells_per_task)
      .in(0, 1e6)
      .help(
          "Cells that one array task decodes; 0: as many as the cluster's limit on arrays "
          "demands.");
  set.add("max_running", &max_running)
      .in(0, 1e6)
      .help("Tasks that run at the same time; 0: no limit of ours.");
}

}  // namespace draftlab
