#include "core/decoder.h"

#include <algorithm>
#include <chrono>

namespace draftlab {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Counts since(const Counts& before, const Counts& after) {
  Counts difference;
  for (int kind = 0; kind < kKinds; ++kind) {
    difference.of[kind] = {after.of[kind].calls - before.of[kind].calls, after.of[kind].rows - before.of[kind].rows,
                           after.of[kind].positions - before.of[kind].positions, after.of[kind].ns - before.of[kind].ns};
  }
  return difference;
}

std::int64_t model_ns(const Counts& counts) {
  std::int64_t total = 0;
  for (const Count& count : counts.of) total += count.ns;
  return total;
}

}  // namespace

std::shared_ptr<Model> load(const Bound<Model>& bound, const Machine& machine, Loaded& loaded) {
  std::string key = bound.name;
  for (const auto& [option, value] : bound.values) key += "\n" + option + "=" + value;
  std::shared_ptr<Model>& model = loaded[key];
  if (!model) {
    std::shared_ptr<Model> fresh = bound.make();
    fresh->load(machine);
    model = std::move(fresh);
  }
  return model;
}

Models load_models(const Composition& composition, Loaded& loaded) {
  Models models;
  for (const char* name : {"", "draft"}) {
    const auto bound = composition.models.find(name);
    if (bound != composition.models.end()) models.models.push_back(load(bound->second, composition.run.machine, loaded));
  }
  return models;
}

// What estimators and the trace read of each draft. Summaries come from the model's own distribution (temperature 1) where the
// drafter has one, else from what was drawn from; a point mass without either says nothing.
struct Decoder::Numbers {
  Eigen::ArrayXd confidence, margin, entropy, renyi2;

  explicit Numbers(const Proposal& proposal) {
    const auto size = static_cast<Eigen::Index>(proposal.nodes.size());
    confidence = margin = entropy = renyi2 = Eigen::ArrayXd::Constant(size, kNotMeasured);
    for (Eigen::Index i = 0; i < size; ++i) {
      const Distribution* seen = !proposal.raw.empty()          ? &proposal.raw[i]
                                 : !proposal.drawn_from.empty() ? &proposal.drawn_from[i]
                                                                : nullptr;
      if (!seen || seen->empty()) continue;
      confidence[i] = seen->probability(proposal.nodes[i].token);
      margin[i] = seen->margin();
      entropy[i] = seen->entropy();
      renyi2[i] = seen->renyi2();
    }
  }
};

Decoder::Decoder(const Composition& composition, const Models& models, const Prompt& prompt, std::uint64_t sequence, Chance& chance)
    : composition_(composition),
      models_(models),
      canvas_(prompt.length, prompt.given),
      sequence_(sequence),
      chance_(chance),
      frontier_(composition.frontier.make()),
      drafter_(composition.drafter.make()),
      verifier_(composition.verifier.make()),
      acceptance_(composition.acceptance.make()),
      router_(composition.router.make()),
      estimator_(composition.estimator ? composition.estimator->make() : nullptr),
      unmasker_(composition.unmasker.make()) {
  frontier_->check(canvas_);
  for (const auto& model : models_.models) sequences_.push_back(model->open(canvas_));
  row_.prompt_id = prompt.id;
  row_.length = prompt.length;
  row_.prompt_tokens = canvas_.prompt_size();
}

Decoder::~Decoder() = default;

bool Decoder::done() const { return frontier_->done(canvas_); }

std::int64_t Decoder::nfe() const { return sequences_[0]->counts().nfe(); }

std::string Decoder::state() const {
  std::string key = canvas_.key();
  if (carry_) key += "|carry " + std::to_string(carry_->node) + " " + carry_->answer.key();
  for (const Part* part : {static_cast<const Part*>(frontier_.get()), static_cast<const Part*>(drafter_.get()),
                           static_cast<const Part*>(verifier_.get()), static_cast<const Part*>(acceptance_.get()),
                           static_cast<const Part*>(router_.get()), static_cast<const Part*>(unmasker_.get())}) {
    key += "|" + part->state();
  }
  return key;
}

Asking<bool> Decoder::step() {
  if (done()) co_return false;
  const std::int64_t began = now_ns();
  const Counts target_before = sequences_[0]->counts();
  const Counts drafter_before = sequences_.size() > 1 ? sequences_[1]->counts() : Counts{};

  const Window window = frontier_->next(canvas_);
  const Step step{canvas_, window, composition_.decode, carry_, chance_, mailbox_, sequence_, clock_,
                  models_.target().facts().vocabulary, *sequences_[0]};
  const Proposal proposal = co_await drafter_->propose(step);

  const Numbers numbers(proposal);
  StepView view;
  view.span = {window.positions.front(), window.span};
  view.step = static_cast<int>(clock_);
  view.length = canvas_.length();
  view.masked = canvas_.length() - canvas_.prompt_size() - canvas_.committed();
  view.vocabulary = step.vocabulary;
  view.progress = static_cast<double>(canvas_.committed()) / (canvas_.length() - canvas_.prompt_size());
  view.preview = unmasker_->preview(proposal);
  new (&view.confidence) Eigen::Map<const Eigen::ArrayXd>(numbers.confidence.data(), numbers.confidence.size());
  new (&view.margin) Eigen::Map<const Eigen::ArrayXd>(numbers.margin.data(), numbers.margin.size());
  new (&view.entropy) Eigen::Map<const Eigen::ArrayXd>(numbers.entropy.data(), numbers.entropy.size());
  new (&view.renyi2) Eigen::Map<const Eigen::ArrayXd>(numbers.renyi2.data(), numbers.renyi2.size());
  view.expected = estimator_ ? estimator_->expected(view) : kNotMeasured;
  const Route route = router_->decide(view);

  Verdict verdict;
  if (route.verify) {
    verdict = co_await verifier_->judge(step, proposal, *acceptance_);
  } else {
    verdict = unmasker_->choose(step, proposal);
  }
  verdict = unmasker_->top_up(step, proposal, std::move(verdict));
  if (verdict.commits.empty() && verdict.edits.empty()) throw Fault("step " + std::to_string(clock_) + " commits nothing; decoding would not end");

  StepRow row;
  row.step = static_cast<std::int32_t>(clock_);
  row.masked = view.masked;
  row.expected = view.expected;
  for (const Commit& commit : verdict.commits) canvas_.commit(commit.position, commit.token);
  for (const Commit& edit : verdict.edits) canvas_.edit(edit.position, edit.token);
  carry_ = std::move(verdict.carry);
  verdict.carry.reset();
  for (Part* part : {static_cast<Part*>(frontier_.get()), static_cast<Part*>(drafter_.get()), static_cast<Part*>(verifier_.get()),
                     static_cast<Part*>(acceptance_.get()), static_cast<Part*>(router_.get()), static_cast<Part*>(unmasker_.get())}) {
    part->observe(canvas_, route, verdict);
  }
  record(window, proposal, numbers, route, verdict, row);
  row.counts = since(target_before, sequences_[0]->counts());
  if (sequences_.size() > 1) row.drafter_counts = since(drafter_before, sequences_[1]->counts());
  row.ns = now_ns() - began;
  row_.own_seconds += 1e-9 * static_cast<double>(row.ns - model_ns(row.counts) - model_ns(row.drafter_counts));
  row_.steps.push_back(std::move(row));
  ++clock_;
  co_return true;
}

void Decoder::record(const Window& window, const Proposal& proposal, const Numbers& numbers, const Route& route,
                     const Verdict& verdict, StepRow& row) const {
  row.block = window.block;
  row.span = window.span;
  row.drafted = static_cast<std::int32_t>(proposal.nodes.size());
  row.exact = proposal.exact;
  row.verified = route.verify;
  row.score = route.score;
  row.propensity = route.propensity;
  row.committed = static_cast<std::int32_t>(verdict.commits.size());
  row.stop = static_cast<std::int32_t>(verdict.why);

  std::vector<int> depth(proposal.nodes.size(), 0);
  for (std::size_t i = 0; i < proposal.nodes.size(); ++i) {
    const Node& node = proposal.nodes[i];
    const auto at = static_cast<Eigen::Index>(i);
    DraftRow draft;
    draft.position = node.position;
    draft.depth = depth[i] = node.parent == kRoot ? 0 : depth[node.parent] + 1;
    draft.token = node.token;
    draft.q = proposal.drawn_from.empty() ? 1.0 : proposal.drawn_from[i].probability(node.token);
    draft.confidence = numbers.confidence[at];
    draft.margin = numbers.margin[at];
    draft.entropy = numbers.entropy[at];
    draft.renyi2 = numbers.renyi2[at];
    if (i < verdict.judged.size()) {
      draft.p = verdict.judged[i].target;
      draft.accept = verdict.judged[i].accept;
      draft.accepted = verdict.judged[i].accepted;
    }
    row.drafts.push_back(draft);
  }
  for (std::size_t rank = 0; rank < verdict.commits.size(); ++rank) {
    const Commit& commit = verdict.commits[rank];
    TokenRow token;
    token.position = commit.position;
    token.token = commit.token;
    token.rank = static_cast<std::int32_t>(rank);
    token.source = static_cast<std::int32_t>(commit.source);
    row.accepted += commit.source == Source::accepted;
    for (const DraftRow& draft : row.drafts) {
      if (draft.position != commit.position || draft.token != commit.token) continue;
      if (commit.source == Source::accepted || commit.source == Source::threshold) token.p = draft.p, token.q = draft.q;
      token.confidence = draft.confidence;
      token.entropy = draft.entropy;
      token.margin = draft.margin;
      break;
    }
    row.tokens.push_back(token);
  }
}

Asking<SampleRow> Decoder::decode() {
  const std::int64_t began = now_ns();
  while (!done()) {
    Asking<bool> stepped = step();
    co_await stepped;
  }
  row_.seconds = 1e-9 * static_cast<double>(now_ns() - began);
  row_.generated = row_.valid = canvas_.committed();
  row_.counts = sequences_[0]->counts();
  if (sequences_.size() > 1) row_.drafter_counts = sequences_[1]->counts();
  row_.status = "done";
  row_.iterations = static_cast<std::int64_t>(row_.steps.size());
  co_return std::move(row_);
}

void answer_pending(const Models& models, std::span<Decoder* const> decoders) {
  std::vector<Mailbox*> waiting;
  std::vector<Sequence*> sequences;
  for (Decoder* decoder : decoders) {
    Mailbox& box = decoder->mailbox();
    if (!box.question) continue;
    waiting.push_back(&box);
    sequences.push_back(&decoder->sequence(box.model));
  }
  if (waiting.empty()) throw Fault("a decoder waits for something other than an answer");

  std::vector<char> answered(waiting.size(), 0);
  for (std::size_t first = 0; first < waiting.size(); ++first) {
    if (answered[first]) continue;
    const Mailbox& like = *waiting[first];
    std::vector<Pending> batch;
    for (std::size_t i = first; i < waiting.size(); ++i) {
      const Mailbox& box = *waiting[i];
      if (answered[i] || box.model != like.model || box.question->kind != like.question->kind || box.question->view != like.question->view) continue;
      batch.push_back({sequences[i], box.question, &waiting[i]->answer});
      answered[i] = 1;
    }
    models.models[like.model]->answer(batch);
  }
  for (Mailbox* box : waiting) {
    box->question = nullptr;
    box->waiting.resume();
  }
}

}  // namespace draftlab
