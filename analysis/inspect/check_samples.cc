#include "analysis/inspect/check_samples.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <tuple>
#include <vector>

#include "analysis/frame/frame.h"
#include "core/base/sha256.h"
#include "core/base/words.h"
#include "core/trace/trace_options.h"

namespace draftlab {
namespace {

// So many samples are in memory at a time.
constexpr std::int64_t kBlock = 256;

}  // namespace

// A commit forward belongs to the step that caused it, and the first computation of the prompt to
// the sample.
void CheckSamples::check_counts(const SampleRow& sample, std::int64_t row, const Counted& counted) {
  for (Kind kind : {Kind::prefill, Kind::draft, Kind::verify, Kind::commit, Kind::aux}) {
    Count sum;
    for (const StepRow& step : sample.steps) {
      const Count& count = (step.*counted.part)[kind];
      sum.calls += count.calls, sum.rows += count.rows, sum.positions += count.positions;
    }
    const Count& total = (sample.*counted.whole)[kind];
    const struct {
      const char* name;
      std::int64_t sum, total;
    } sums[] = {{"nfe_", sum.calls, total.calls},
                {"rows_", sum.rows, total.rows},
                {"positions_", sum.positions, total.positions}};
    for (const auto& s : sums) {
      const bool holds = kind == Kind::prefill ? s.sum <= s.total : s.sum == s.total;
      findings_.must(holds,
                     {counted.prefix + s.name + std::string(name(kind)),
                      "is what its steps add up to, " + std::to_string(s.sum)},
                     row, s.total);
    }
  }
}

void CheckSamples::check_step(const SampleRow& sample, const StepRow& step,
                              std::set<std::int32_t>& filled) {
  std::int64_t committed = 0;
  for (std::size_t i = 0; i < step.tokens.size(); ++i, ++token_row_) {
    const TokenRow& token = step.tokens[i];
    findings_.must(token.position < sample.length, {"token_position", "lies on the canvas"},
                   token_row_, token.position);
    findings_.must(token.rank == static_cast<std::int32_t>(i),
                   {"token_rank", "counts up from 0 in its step"}, token_row_, token.rank);
    if (token.source == static_cast<std::int32_t>(Source::taken_back))
      findings_.must(filled.erase(token.position) > 0,
                     {"token_position", "holds the token that is taken back"}, token_row_,
                     token.position);
    if (!token.commits()) continue;
    ++committed;
    findings_.must(filled.insert(token.position).second,
                   {"token_position", "is committed once, unless it was taken back"}, token_row_,
                   token.position);
  }
  for (const DraftRow& draft : step.drafts) {
    findings_.must(draft.position < sample.length, {"draft_position", "lies on the canvas"},
                   draft_row_, draft.position);
    findings_.must(shared_noise_ || draft.accepted < 0 || !std::isnan(draft.accept),
                   {"draft_accept", "is measured where a draft was judged"}, draft_row_, "NaN");
    ++draft_row_;
  }
  findings_.must(step.committed == committed,
                 {"step_committed", "is the number of its tokens, " + std::to_string(committed)},
                 step_row_, step.committed);
  findings_.must(step.accepted <= step.committed, {"step_accepted", "is at most step_committed"},
                 step_row_, step.accepted);
  findings_.must(step.exact <= step.drafted, {"step_exact", "is at most step_drafted"}, step_row_,
                 step.exact);
  const auto recorded = static_cast<std::int64_t>(step.drafts.size());
  const bool right = drafts_ == word(RecordedDrafts::all)    ? recorded == step.drafted
                     : drafts_ == word(RecordedDrafts::none) ? recorded == 0
                                                             : recorded <= step.drafted;
  findings_.must(right, {"step_n_drafts", "is what the attribute 'drafts' says"}, step_row_,
                 recorded);
}

void CheckSamples::check_sample(const SampleRow& sample, std::int64_t row) {
  findings_.must(sample.prompt_tokens + sample.generated <= sample.length,
                 {"sample_generated", "fits the canvas with the prompt"}, row, sample.generated);
  if (trace_.has_prompts()) {
    const auto found =
        given_.find({first_with_prompts(trace_.runs(), sample.run), sample.prompt_index});
    const std::int32_t recorded = found == given_.end() ? 0 : found->second;
    findings_.must(sample.prompt_tokens == recorded,
                   {"sample_prompt_tokens",
                    "is the number of its prompt's given tokens, " + std::to_string(recorded)},
                   row, sample.prompt_tokens);
  }
  findings_.must(sample.valid <= sample.generated, {"sample_valid", "is at most sample_generated"},
                 row, sample.valid);
  findings_.should(sample.status == "done", {"sample_status", "is 'done'"}, row,
                   "'" + sample.status.substr(0, 40) + "'");
  shared_noise_ = shares_noise_[static_cast<std::size_t>(sample.run)];
  std::set<std::int32_t> filled;
  std::int64_t committed = 0, masked = -1;
  std::int32_t number = 0;
  for (const StepRow& step : sample.steps) {
    findings_.must(step.step == number, {"step_step", "counts up from 0 in its sample"}, step_row_,
                   step.step);
    findings_.should(
        masked < 0 || step.masked == masked,
        {"step_masked", "falls by what the step before committed and did not take back"}, step_row_,
        step.masked);
    check_step(sample, step, filled);
    const auto taken_back =
        std::count_if(step.tokens.begin(), step.tokens.end(), [](const TokenRow& token) {
          return token.source == static_cast<std::int32_t>(Source::taken_back);
        });
    committed += step.committed - taken_back;
    masked = step.masked - step.committed + taken_back;
    ++number, ++step_row_;
  }
  findings_.must(sample.generated == committed,
                 {"sample_generated", "is what its steps committed and did not take back, " +
                                          std::to_string(committed)},
                 row, sample.generated);
  check_counts(sample, row, {&SampleRow::counts, &StepRow::counts, "sample_"});
  check_counts(sample, row,
               {&SampleRow::drafter_counts, &StepRow::drafter_counts, "sample_drafter_"});
}

// Checks that each cell leads to its run, one to one, and counts the samples that are here.
void CheckSamples::check_manifest() {
  const std::vector<CellRow> cells = manifest(trace_);
  if (cells.empty()) return;
  std::vector<std::int64_t> samples(trace_.runs().size(), 0);
  for (const SampleRow& sample : trace_.read(false))
    ++samples[static_cast<std::size_t>(sample.run)];
  std::set<std::int32_t> led_to;
  const std::set<std::string> statuses = {"done", "failed", "quarantined", "running", "missing"};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const CellRow& cell = cells[i];
    const auto row = static_cast<std::int64_t>(i);
    findings_.must(cell.run < static_cast<std::int32_t>(samples.size()),
                   {"cell_run_index", "leads to a run that exists"}, row, cell.run);
    findings_.must(cell.run < 0 || led_to.insert(cell.run).second,
                   {"cell_run_index", "leads to a run of its own"}, row, cell.run);
    findings_.must(statuses.count(cell.status) > 0,
                   {"cell_status", "is done, failed, quarantined, running or missing"}, row,
                   "'" + cell.status.substr(0, 40) + "'");
    findings_.must(cell.status != "done" || cell.run >= 0,
                   {"cell_run_index", "leads to a run where the cell is done"}, row);
    const std::int64_t here = cell.run >= 0 && cell.run < static_cast<std::int32_t>(samples.size())
                                  ? samples[static_cast<std::size_t>(cell.run)]
                                  : 0;
    findings_.must(cell.samples == here,
                   {"cell_samples", "is the number of its samples, " + std::to_string(here)}, row,
                   cell.samples);
  }
  findings_.must(led_to.size() == samples.size(), {"cell_run_index", "leads to every run"});
}

void CheckSamples::check_pieces() {
  const Columns pieces = trace_.columns(Table::piece, 0, trace_.rows(Table::piece));
  std::pair<std::int32_t, std::int32_t> before(-1, -1);
  for (std::int64_t row = 0; row < pieces.rows(); ++row) {
    PieceRow piece;
    pieces.get(row, piece);
    findings_.must(before < std::pair(piece.run, piece.token),
                   {"piece_id", "ascends within its arm, each once"}, row, piece.token);
    before = {piece.run, piece.token};
    if (piece.run >= static_cast<std::int32_t>(trace_.runs().size())) {
      findings_.found(true, {"piece_run_index", "is a row of the run table"}, row, piece.run);
      continue;
    }
    const auto end = trace_.runs().begin() + piece.run;
    const bool first = std::none_of(trace_.runs().begin(), end, [&](const RunRow& run) {
      return run.checkpoint == end->checkpoint;
    });
    findings_.must(first, {"piece_run_index", "is the first arm of its checkpoint"}, row,
                   piece.run);
  }
}

void CheckSamples::check_prompts() {
  const Columns stored = trace_.columns(Table::given, 0, trace_.rows(Table::given));
  findings_.must(trace_.has_prompts() || stored.rows() == 0,
                 {"given_id", "has no rows where the attribute 'prompts' is not 'all'"});
  std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t, std::int32_t> before(
      -1, -1, -1, -1, -1);
  const auto runs = static_cast<std::int32_t>(trace_.runs().size());
  for (std::int64_t row = 0; row < stored.rows(); ++row) {
    GivenRow given;
    stored.get(row, given);
    const std::tuple key(given.run, given.prompt, given.kind, given.list, given.position);
    findings_.must(before < key,
                   {"given_position", "ascends within its arm, prompt, kind and list, each once"},
                   row, given.position);
    before = key;
    findings_.must(given.run < runs && first_with_prompts(trace_.runs(), given.run) == given.run,
                   {"given_run_index", "is the first arm that has these prompts"}, row, given.run);
    given_[{given.run, given.prompt}] += given.kind == static_cast<int>(GivenKind::given);
  }
}

void CheckSamples::check_plugins() {
  std::set<std::string> digests, used;
  std::int64_t row = 0;
  for (const PluginRow& plugin : trace_.provenance().plugins) {
    const bool plain = plugin.digest.size() == 64 &&
                       plugin.digest.find_first_not_of("0123456789abcdef") == std::string::npos;
    findings_.must(plain, {"plugin_digest", "has 64 hexadecimal digits in lower case"}, row,
                   "'" + plugin.digest.substr(0, 80) + "'");
    findings_.must(digests.insert(plugin.digest).second, {"plugin_digest", "occurs once"}, row,
                   plugin.digest.substr(0, 80));
    findings_.must(plugin.source.empty() || sha256(plugin.source) == plugin.digest,
                   {"plugin_source", "has the digest that plugin_digest says"}, row);
    ++row;
  }
  row = 0;
  for (const RunRow& run : trace_.runs()) {
    std::istringstream words(run.plugins);
    for (std::string digest; words >> digest; used.insert(digest))
      findings_.must(digests.count(digest) > 0, {"run_plugins", "names rows of the plugin table"},
                     row, digest.substr(0, 80));
    ++row;
  }
  findings_.must(used.size() >= digests.size(), {"plugin_digest", "is named by a run"});
}

void CheckSamples::run() {
  check_manifest();
  check_pieces();
  check_prompts();
  check_plugins();
  for (const RunRow& run : trace_.runs()) {
    const std::string noise = config_keys(run.config)["decode.noise"];
    shares_noise_.push_back(!noise.empty() && noise != "own");
  }
  std::tuple<std::int32_t, std::int32_t, std::int32_t> before(-1, -1, -1);
  for (std::int64_t first = 0; first < trace_.samples(); first += kBlock) {
    std::int64_t row = first;
    for (const SampleRow& sample : trace_.read(first, std::min(kBlock, trace_.samples() - first))) {
      const std::tuple key(sample.prompt_index, sample.sample_index, sample.run);
      findings_.must(before < key,
                     {"sample_prompt_index", "ascends by prompt, repeat and run, each once"}, row);
      before = key;
      check_sample(sample, row++);
    }
  }
}

}  // namespace draftlab
