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
  const std::vector<std::string> estimators = frame.estimators();
  std::vector<std::string> columns = {
      "step_masked",     "step_span",     "step_drafted",    "step_exact",     "step_verified",
      "step_committed",  "step_routed",   "step_propensity", "step_nfe_draft", "step_nfe_verify",
      "step_nfe_commit", "step_expected", "step_preview"};
  const std::size_t first_stored = columns.size();
  for (const std::string& name : estimators) columns.push_back("step_expected_" + name);
  const std::vector<std::string> drafts = {"draft_position",   "draft_accept", "draft_accepted",
                                           "draft_confidence", "draft_margin", "draft_entropy",
                                           "draft_renyi2"};
  frame.walk(columns, Table::draft, drafts, [&](const Frame::Block& block) {
    for (std::size_t i = 0; i < block.samples.size(); ++i) {
      const std::int64_t row = block.samples[i];
      const Frame::Sample& sample = frame.samples()[row];
      if (!sample.counts) continue;
      const Setting& setting = settings[sample.arm];
      const auto length = static_cast<std::int32_t>(lengths[row]),
                 given = static_cast<std::int32_t>(givens[row]);
      const Blocks blocks{setting.block, setting.block > 0 && setting.aligned_to_prompt
                                             ? given % setting.block
                                             : 0};
      const std::uint64_t sequence =
          stable_hash(frame.prompts()[sample.prompt] + "/" + std::to_string(sample.sample_index));
      for (std::int64_t s = block.step_begin[i]; s < block.step_begin[i + 1]; ++s) {
        const auto begin = static_cast<std::size_t>(block.row_begin[s]),
                   end = static_cast<std::size_t>(block.row_begin[s + 1]);
        if (begin == end) continue;
        const auto of = [&](std::size_t column) { return block.steps[column][s]; };
        LoggedStep step;
        step.sample = row;
        step.number = static_cast<int>(s - block.step_begin[i]);
        step.drafted = static_cast<int>(of(2)), step.exact = static_cast<int>(of(3)),
        step.committed = static_cast<int>(of(5));
        step.verified = of(4) > 0;
        step.undecided = std::isnan(of(6)) ? step.drafted > step.exact : of(6) >= 0;
        step.routed = std::isnan(of(6)) ? step.verified : of(6) > 0;
        step.propensity = of(7);
        step.forwards = of(8) + of(9) + of(10);
        for (std::size_t e = 0; e < estimators.size(); ++e)
          step.stored.push_back(of(first_stored + e));

        const auto column = [&](std::size_t c) {
          return std::vector<double>(block.rows[c].begin() + static_cast<std::ptrdiff_t>(begin),
                                     block.rows[c].begin() + static_cast<std::ptrdiff_t>(end));
        };
        const std::vector<double> confidence = column(3), margin = column(4), entropy = column(5),
                                  renyi2 = column(6);
        const int span = std::min<int>(static_cast<int>(of(1)), static_cast<int>(end - begin));
        for (int d = 0; d < span; ++d) {
          const double accepted = block.rows[2][begin + static_cast<std::size_t>(d)];
          step.accept.push_back(block.rows[1][begin + static_cast<std::size_t>(d)]);
          if (accepted >= 0 && step.prefix < 0) step.prefix = 0;
          if (accepted == 1 && step.prefix == d) ++step.prefix;
        }

        StepView& view = step.view;
        view.sequence = sequence;
        const auto first = static_cast<std::int32_t>(block.rows[0][begin]);
        const std::int32_t block_first = blocks.first(first), block_end = blocks.end(first, length);
        view.span = {first, static_cast<int>(of(1))};
        // The masked positions of a block are those that were drafted; a prompt lies to the left of
        // what is decoded in blocks.
        int masked = static_cast<int>(of(0));
        if (setting.block > 0) {
          masked = static_cast<int>(std::count_if(
              block.rows[0].begin() + static_cast<std::ptrdiff_t>(begin),
              block.rows[0].begin() + static_cast<std::ptrdiff_t>(end),
              [&](double position) { return position >= block_first && position < block_end; }));
        }
        view.block = {blocks.index(first), block_end - block_first,
                      std::clamp(given - block_first, 0, block_end - block_first), masked};
        view.step = step.number;
        view.length = length;
        view.masked = static_cast<int>(of(0));
        view.vocabulary = setting.vocabulary;
        view.progress = length > given ? 1 - of(0) / (length - given) : 0;
        step.preview_known = !std::isnan(of(12));
        view.preview = step.preview_known ? static_cast<int>(of(12)) : 0;
        view.confidence = view_of(confidence);
        view.margin = view_of(margin);
        view.entropy = view_of(entropy);
        view.renyi2 = view_of(renyi2);
        view.expected = of(11);
        visit(step);
      }
    }
  });
}

}  // namespace draftlab
