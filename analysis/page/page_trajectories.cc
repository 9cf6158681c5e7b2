#include "analysis/page/page_trajectories.h"

#include <algorithm>
#include <set>

#include "analysis/page/packed_column.h"
#include "core/trace/hdf5_columns.h"

namespace draftlab {
namespace {

using Json = PageTrajectories::Json;

// So many samples are in memory at a time.
constexpr std::int64_t kBlock = 256;

// A sample that the page shows, and how the page names it.
struct Shown {
  std::int32_t group, prompt, repeat;
};

// Gathers columns by name; a column has one number a row of its table.
class Trajectories {
 public:
  void sample(const Shown& shown, const SampleRow& row,
              const std::map<std::int32_t, std::string>& pieces);
  PageTrajectories finish();
  std::vector<std::string> references;

 private:
  void token(const TokenRow& row, const std::map<std::int32_t, std::string>& pieces);
  void draft(const DraftRow& row, const std::map<std::int32_t, std::string>& pieces);
  std::int64_t word(Token token, const std::map<std::int32_t, std::string>& pieces);
  void add(const char* column, std::int64_t value) { integers_[column].push_back(value); }

  std::map<std::string, std::vector<std::int64_t>> integers_ = empty_columns();
  std::map<std::string, std::vector<double>> numbers_ = {{"step_score", {}}, {"step_expected", {}}};
  std::map<std::pair<Token, std::string>, std::int64_t> words_;
  PageTrajectories page_;

  static std::map<std::string, std::vector<std::int64_t>> empty_columns() {
    std::map<std::string, std::vector<std::int64_t>> columns;
    for (const char* name :
         {"sample_arm",       "sample_prompt", "sample_repeat", "sample_steps", "sample_length",
          "sample_generated", "sample_nfe",    "step_tokens",   "step_drafts",  "step_block",
          "step_span",        "step_accepted", "step_verified", "step_stop",    "token_position",
          "token_id",         "token_source",  "token_p",       "token_q",      "token_confidence",
          "draft_position",   "draft_id",      "draft_p",       "draft_q",      "draft_accept",
          "draft_judged"})
      columns[name];
    return columns;
  }
};

// Returns the index of a word of the page, which is a token and its text.
std::int64_t Trajectories::word(Token token, const std::map<std::int32_t, std::string>& pieces_of) {
  const auto found = pieces_of.find(token);
  const std::string text = found == pieces_of.end() ? "" : found->second;
  const auto [at, fresh] =
      words_.emplace(std::pair(token, text), static_cast<std::int64_t>(words_.size()));
  if (fresh) {
    page_.pieces.push_back(text);
    page_.ids.push_back(token);
  }
  return at->second;
}

void Trajectories::token(const TokenRow& row,
                         const std::map<std::int32_t, std::string>& pieces_of) {
  add("token_position", row.position);
  add("token_id", word(row.token, pieces_of));
  add("token_source", row.source);
  add("token_p", probability_code(row.p));
  add("token_q", probability_code(row.q));
  add("token_confidence", probability_code(row.confidence));
}

void Trajectories::draft(const DraftRow& row,
                         const std::map<std::int32_t, std::string>& pieces_of) {
  add("draft_position", row.position);
  add("draft_id", word(row.token, pieces_of));
  add("draft_p", probability_code(row.p));
  add("draft_q", probability_code(row.q));
  add("draft_accept", probability_code(row.accept));
  add("draft_judged", row.accepted == 0);
}

void Trajectories::sample(const Shown& shown, const SampleRow& row,
                          const std::map<std::int32_t, std::string>& pieces_of) {
  add("sample_arm", shown.group);
  add("sample_prompt", shown.prompt);
  add("sample_repeat", shown.repeat);
  add("sample_steps", static_cast<std::int64_t>(row.steps.size()));
  add("sample_length", row.length);
  add("sample_generated", row.generated);
  add("sample_nfe", row.counts.nfe());
  page_.texts.push_back(row.text);
  for (const StepRow& step : row.steps) {
    // Drafts that were committed are shown as such.
    std::set<std::pair<std::int32_t, Token>> kept;
    for (const TokenRow& t : step.tokens) {
      if (t.position >= row.length) continue;
      kept.insert({t.position, t.token});
      token(t, pieces_of);
    }
    const auto before = integers_["draft_id"].size();
    for (const DraftRow& d : step.drafts) {
      if (d.position < row.length && (d.accepted == 0 || !kept.contains({d.position, d.token})))
        draft(d, pieces_of);
    }
    add("step_tokens", std::count_if(step.tokens.begin(), step.tokens.end(),
                                     [&](const TokenRow& t) { return t.position < row.length; }));
    add("step_drafts", static_cast<std::int64_t>(integers_["draft_id"].size() - before));
    add("step_block", step.block);
    add("step_span", step.span);
    add("step_accepted", step.accepted);
    add("step_verified", step.verified);
    add("step_stop", step.stop);
    numbers_["step_score"].push_back(step.score);
    numbers_["step_expected"].push_back(step.expected);
    page_.blocks = page_.blocks || step.block > 0;
  }
}

PageTrajectories Trajectories::finish() {
  Json& all = page_.columns;
  for (const auto& [name, values] : integers_) {
    const PackedColumn packed = pack(values);
    all[name] = {{"type", packed.type}, {"data", packed.data}};
  }
  for (const auto& [name, values] : numbers_) {
    const PackedColumn packed = pack_floats(values);
    all[name] = {{"type", packed.type}, {"data", packed.data}};
  }
  page_.references = std::move(references);
  return std::move(page_);
}

// Returns the texts of the tokens of each run of a trace.
std::vector<std::map<std::int32_t, std::string>> pieces_of(const Trace& trace) {
  std::vector<std::map<std::int32_t, std::string>> pieces(trace.runs().size());
  const Columns table = trace.columns(Table::piece, 0, trace.rows(Table::piece));
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    PieceRow piece;
    table.get(row, piece);
    if (piece.run < 0 || piece.run >= static_cast<std::int32_t>(pieces.size()))
      trace.file().fail("has pieces of a run that it does not list");
    pieces[piece.run][piece.token] = piece.text;
  }
  for (std::size_t run = 0; run < pieces.size(); ++run) {
    for (std::size_t first = 0; first < run && pieces[run].empty(); ++first) {
      if (trace.runs()[first].checkpoint == trace.runs()[run].checkpoint)
        pieces[run] = pieces[first];
    }
  }
  return pieces;
}

// Returns each sample of the frame that is shown. Samples of one group and prompt (other seeds,
// repeats) are numbered.
std::map<std::int64_t, Shown> chosen_samples(const Frame& frame, const Report& report,
                                             int most_prompts) {
  std::map<int, int> group_of;
  for (std::size_t group = 0; group < report.groups.size(); ++group)
    for (int arm : report.groups[group].arms) group_of[arm] = static_cast<int>(group);
  std::map<std::int64_t, Shown> shown;
  std::map<std::pair<int, int>, int> times;
  for (std::size_t i = 0; i < frame.samples().size(); ++i) {
    const Frame::Sample& sample = frame.samples()[i];
    const auto group = group_of.find(sample.arm);
    if (!sample.counts || sample.repeat > 0 || sample.prompt >= most_prompts ||
        group == group_of.end())
      continue;
    shown[static_cast<std::int64_t>(i)] = {group->second, sample.prompt,
                                           times[{group->second, sample.prompt}]++};
  }
  return shown;
}

void gather(const Frame& frame, const std::map<std::int64_t, Shown>& shown,
            Trajectories& trajectories) {
  for (std::size_t f = 0; f < frame.files().size(); ++f) {
    const Frame::File& file = frame.files()[f];
    const auto from = shown.lower_bound(file.first),
               to = shown.lower_bound(file.first + file.samples);
    if (from == to) continue;
    const auto trace = frame.open(static_cast<int>(f));
    for (Table each : {Table::sample, Table::step, Table::token, Table::draft, Table::piece})
      trace->file().probe(each, info(each).columns);
    const auto pieces = pieces_of(*trace);
    for (std::int64_t begin = 0; begin < file.samples; begin += kBlock) {
      const std::int64_t end = std::min(file.samples, begin + kBlock);
      const auto first = shown.lower_bound(file.first + begin),
                 last = shown.lower_bound(file.first + end);
      if (first == last) continue;
      const std::vector<SampleRow> rows = trace->read(begin, end - begin);
      for (auto at = first; at != last; ++at) {
        const SampleRow& row = rows[at->first - file.first - begin];
        std::string& reference = trajectories.references[at->second.prompt];
        if (reference.empty()) reference = row.reference;
        trajectories.sample(at->second, row, pieces[row.run]);
      }
    }
  }
}

}  // namespace

PageTrajectories page_trajectories(const Frame& frame, const Report& report, int prompts) {
  Trajectories trajectories;
  trajectories.references.resize(static_cast<std::size_t>(prompts));
  gather(frame, chosen_samples(frame, report, prompts), trajectories);
  return trajectories.finish();
}

}  // namespace draftlab
