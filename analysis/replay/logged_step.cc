#include "analysis/replay/logged_step.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/model/blocks.h"
#include "core/prob/chance.h"

namespace draftlab {
namespace {

double number_of(const Frame& frame, int arm, const std::string& key, double otherwise) {
  const std::string text = frame.key(arm, key);
  return text.empty() ? otherwise : std::atof(text.c_str());
}

// How an arm cut its canvases.
struct Setting {
  std::int32_t block = 0;
  bool aligned_to_prompt = false;
  int vocabulary = 0;
};

Setting setting_of(const Frame& frame, int arm, int vocabulary) {
  Setting setting;
  setting.block = static_cast<std::int32_t>(number_of(frame, arm, "decode.block_size", 0));
  setting.aligned_to_prompt = frame.key(arm, "decode.align") == "prompt";
  const std::int32_t said = frame.arms()[arm].run.vocabulary;
  setting.vocabulary = vocabulary > 0 ? vocabulary : said;
  return setting;
}

NumbersView view_of(const std::vector<double>& values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

// The columns that are read, in this order; those of attached estimators follow.
enum StepColumn {
  kMasked,
  kSpan,
  kDrafted,
  kExact,
  kVerified,
  kCommitted,
  kRouted,
  kPropensity,
  kDraftForwards,
  kVerifyForwards,
  kCommitForwards,
  kPrefillForwards,
  kExpected,
  kPreview,
  kFirstStored
};
const std::vector<std::string> kStepColumns = {
    "step_masked",     "step_span",        "step_drafted",    "step_exact",     "step_verified",
    "step_committed",  "step_routed",      "step_propensity", "step_nfe_draft", "step_nfe_verify",
    "step_nfe_commit", "step_nfe_prefill", "step_expected",   "step_preview"};
enum DraftColumn { kPosition, kAccept, kAccepted, kConfidence, kMargin, kEntropy, kRenyi2 };
const std::vector<std::string> kDraftColumns = {
    "draft_position", "draft_accept",  "draft_accepted", "draft_confidence",
    "draft_margin",   "draft_entropy", "draft_renyi2"};

// A sample as its steps are read: what they have in common.
struct LoggedSample {
  const Frame::Block& block;
  const Setting& setting;
  std::int64_t row = 0;
  std::uint64_t sequence = 0;
  std::int32_t length = 0, given = 0;
};

// Where a step's rows of drafts lie in the block.
struct DraftRows {
  std::size_t begin, end;
  // Returns a copy of a column of these rows.
  std::vector<double> column(const Frame::Block& block, DraftColumn column) const {
    const auto from = block.rows[column].begin();
    return {from + static_cast<std::ptrdiff_t>(begin), from + static_cast<std::ptrdiff_t>(end)};
  }
};

// Reads what was routed, judged and committed in step `s` of the block.
LoggedStep read_outcome(const Frame::Block& block, std::int64_t s, const DraftRows& drafts) {
  const auto of = [&](std::size_t column) {
    return block.steps[column][static_cast<std::size_t>(s)];
  };
  LoggedStep step;
  step.drafted = static_cast<int>(of(kDrafted)), step.exact = static_cast<int>(of(kExact));
  step.committed = static_cast<int>(of(kCommitted));
  step.verified = of(kVerified) > 0;
  const bool said = !std::isnan(of(kRouted));
  step.undecided = said ? of(kRouted) >= 0 : step.drafted > step.exact;
  step.routed = said ? of(kRouted) > 0 : step.verified;
  step.propensity = of(kPropensity);
  step.forwards =
      of(kDraftForwards) + of(kVerifyForwards) + of(kCommitForwards) + of(kPrefillForwards);
  for (std::size_t column = kFirstStored; column < block.steps.size(); ++column)
    step.stored.push_back(of(column));
  const int span =
      std::min<int>(static_cast<int>(of(kSpan)), static_cast<int>(drafts.end - drafts.begin));
  for (int d = 0; d < span; ++d) {
    const std::size_t row = drafts.begin + static_cast<std::size_t>(d);
    const double accepted = block.rows[kAccepted][row];
    step.accept.push_back(block.rows[kAccept][row]);
    if (accepted >= 0 && step.prefix < 0) step.prefix = 0;
    if (accepted == 1 && step.prefix == d) ++step.prefix;
  }
  return step;
}

// Reads what the parts saw of step `s`, but for the numbers of its drafts.
StepView read_view(const LoggedSample& sample, std::int64_t s, const DraftRows& drafts) {
  const auto of = [&](std::size_t column) {
    return sample.block.steps[column][static_cast<std::size_t>(s)];
  };
  const Setting& setting = sample.setting;
  const std::int32_t size = setting.block, origin = setting.aligned_to_prompt ? sample.given : 0;
  const Blocks blocks{size, size > 0 ? origin % size : 0};
  const std::vector<double> positions = drafts.column(sample.block, kPosition);
  const auto first = static_cast<std::int32_t>(positions.front());
  const std::int32_t begin = blocks.first(first), end = blocks.end(first, sample.length);
  const int masked = static_cast<int>(of(kMasked));
  StepView view;
  view.sequence = sample.sequence;
  view.span = {first, static_cast<int>(of(kSpan))};
  // The masked positions of a block are those that were drafted; a prompt lies to the left of what
  // is decoded in blocks.
  const auto inside = std::count_if(positions.begin(), positions.end(), [&](double position) {
    return position >= begin && position < end;
  });
  view.block = {blocks.index(first), end - begin, std::clamp(sample.given - begin, 0, end - begin),
                size > 0 ? static_cast<int>(inside) : masked};
  view.length = sample.length;
  view.masked = masked;
  view.vocabulary = setting.vocabulary;
  const int generated = sample.length - sample.given;
  view.progress = generated > 0 ? 1 - of(kMasked) / generated : 0;
  view.preview = std::isnan(of(kPreview)) ? 0 : static_cast<int>(of(kPreview));
  view.expected = of(kExpected);
  return view;
}

// Visits step `number` of a sample, whose view lives as long as the visit.
void visit_step(const LoggedSample& sample, int number, std::int64_t s,
                const std::function<void(const LoggedStep&)>& visit) {
  const Frame::Block& block = sample.block;
  const DraftRows drafts{static_cast<std::size_t>(block.row_begin[s]),
                         static_cast<std::size_t>(block.row_begin[s + 1])};
  LoggedStep step = read_outcome(block, s, drafts);
  step.sample = sample.row, step.number = number;
  if (drafts.begin == drafts.end) return visit(step);
  step.preview_known = !std::isnan(block.steps[kPreview][static_cast<std::size_t>(s)]);
  step.view = read_view(sample, s, drafts);
  step.view.step = number;
  const std::vector<double> confidence = drafts.column(block, kConfidence),
                            margin = drafts.column(block, kMargin),
                            entropy = drafts.column(block, kEntropy),
                            renyi2 = drafts.column(block, kRenyi2);
  step.view.confidence = view_of(confidence), step.view.margin = view_of(margin);
  step.view.entropy = view_of(entropy), step.view.renyi2 = view_of(renyi2);
  visit(step);
}

}  // namespace

bool LoggedStep::known() const {
  return std::none_of(accept.begin(), accept.end(), [](double a) { return std::isnan(a); });
}

void each_step(const Frame& frame, int vocabulary,
               const std::function<void(const LoggedStep&)>& visit) {
  for (const Frame::File& file : frame.files()) {
    if (file.drafts == "none")
      throw DataError(
          "'{}' recorded no drafts, without which nothing can be replayed; decode with "
          "trace.drafts = span or all",
          file.path);
  }
  std::vector<Setting> settings;
  for (std::size_t arm = 0; arm < frame.arms().size(); ++arm)
    settings.push_back(setting_of(frame, static_cast<int>(arm), vocabulary));
  const std::vector<double> lengths = frame.numbers("sample_length"),
                            givens = frame.numbers("sample_prompt_tokens");
  std::vector<std::string> columns = kStepColumns;
  for (const std::string& name : frame.estimators()) columns.push_back("step_expected_" + name);
  frame.walk(columns, Table::draft, kDraftColumns, [&](const Frame::Block& block) {
    for (std::size_t i = 0; i < block.samples.size(); ++i) {
      const std::int64_t row = block.samples[i];
      const Frame::Sample& sample = frame.samples()[row];
      if (!sample.counts) continue;
      const LoggedSample logged{
          block,
          settings[sample.arm],
          row,
          stable_hash(frame.prompts()[sample.prompt] + "/" + std::to_string(sample.sample_index)),
          static_cast<std::int32_t>(lengths[row]),
          static_cast<std::int32_t>(givens[row])};
      for (std::int64_t s = block.step_begin[i]; s < block.step_begin[i + 1]; ++s)
        visit_step(logged, static_cast<int>(s - block.step_begin[i]), s, visit);
    }
  });
}

}  // namespace draftlab
