#include "analysis/page/html.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "analysis/page/page_parts.h"
#include "analysis/words.h"
#include "core/trace/hdf5_columns.h"

namespace draftlab {
namespace {

using Json = nlohmann::ordered_json;

// So many samples are in memory at a time.
constexpr std::int64_t kBlock = 256;

std::string base64(const std::string& bytes) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? kDigits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

PackedColumn pack_floats(const std::vector<double>& values) {
  std::string bytes;
  for (double value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 255);
  }
  return {"f32", base64(bytes)};
}

// A sample that the page shows, and how the page names it.
struct Shown {
  std::int32_t group, prompt, repeat;
};

// Gathers columns by name; a column has one number a row of its table.
class Trajectories {
 public:
  void sample(const Shown& shown, const SampleRow& row,
              const std::map<std::int32_t, std::string>& pieces);
  Json columns() const;
  Json pieces = Json::array(), ids = Json::array(), texts = Json::array();
  bool blocks = false;

 private:
  void token(const TokenRow& row, const std::map<std::int32_t, std::string>& pieces);
  void draft(const DraftRow& row, const std::map<std::int32_t, std::string>& pieces);
  std::int64_t word(Token token, const std::map<std::int32_t, std::string>& pieces);
  void add(const char* column, std::int64_t value) { integers_[column].push_back(value); }

  std::map<std::string, std::vector<std::int64_t>> integers_ = empty_columns();
  std::map<std::string, std::vector<double>> numbers_ = {{"step_score", {}}, {"step_expected", {}}};
  std::map<std::pair<Token, std::string>, std::int64_t> words_;

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
    pieces.push_back(text);
    ids.push_back(token);
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
  texts.push_back(row.text);
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
    blocks = blocks || step.block > 0;
  }
}

Json Trajectories::columns() const {
  Json all = Json::object();
  for (const auto& [name, values] : integers_) {
    const PackedColumn packed = pack(values);
    all[name] = {{"type", packed.type}, {"data", packed.data}};
  }
  for (const auto& [name, values] : numbers_) {
    const PackedColumn packed = pack_floats(values);
    all[name] = {{"type", packed.type}, {"data", packed.data}};
  }
  return all;
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
            Trajectories& trajectories, std::vector<std::string>& references) {
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
        if (references[at->second.prompt].empty()) references[at->second.prompt] = row.reference;
        trajectories.sample(at->second, row, pieces[row.run]);
      }
    }
  }
}

// Returns what the groups' names say, "drafter=self decode.draft_length=5", as columns, and none
// when a name says something else.
std::vector<std::string> keys_of(const Report& report, Json& values_of_groups) {
  std::vector<std::string> keys = report.by;
  std::vector<std::map<std::string, std::string>> said(report.groups.size());
  for (std::size_t g = 0; g < report.groups.size(); ++g) {
    std::istringstream words(report.groups[g].name);
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) continue;
      const std::string key = word.substr(0, equals);
      said[g][key] = word.substr(equals + 1);
      if (report.by.empty() && std::find(keys.begin(), keys.end(), key) == keys.end())
        keys.push_back(key);
    }
    for (std::size_t k = 0; k < report.by.size() && k < report.groups[g].keys.size(); ++k)
      said[g][report.by[k]] = report.groups[g].keys[k];
  }
  for (const auto& values : said) {
    Json row = Json::array();
    for (const std::string& key : keys) row.push_back(values.contains(key) ? values.at(key) : "");
    values_of_groups.push_back(row);
  }
  return keys;
}

Json number(const Estimate& estimate) {
  Json cell = {{"value", estimate.value}};
  if (std::isfinite(estimate.interval.low) && std::isfinite(estimate.interval.high)) {
    cell["low"] = estimate.interval.low;
    cell["high"] = estimate.interval.high;
  }
  return cell;
}

// Writes every quantity as a column, and behind costs and rates their ratio to the baseline; each
// group has its cells.
void table(const Report& report, Json& metrics, std::vector<Json>& cells) {
  cells.assign(report.groups.size(), Json::array());
  for (const Quantity& quantity : report.quantities) {
    metrics.push_back({{"name", quantity.title},
                       {"help", quantity.doc},
                       {"digits", quantity.digits},
                       {"better", quantity.better},
                       {"refused", quantity.timing && !report.times_refused.empty()}});
    for (std::size_t g = 0; g < report.groups.size(); ++g)
      cells[g].push_back(number(report.groups[g].cell(quantity).value));
    const bool cost = quantity.compare == Quantity::Compare::cost;
    if (quantity.compare == Quantity::Compare::difference || report.groups.size() < 2) continue;
    metrics.push_back({{"name", (cost ? "fewer " : "more ") + quantity.title},
                       {"help", "how many times, against the baseline"},
                       {"digits", 2},
                       {"better", 1},
                       {"refused", quantity.timing && !report.times_refused.empty()}});
    for (std::size_t g = 0; g < report.groups.size(); ++g) {
      const auto& versus = report.groups[g].cell(quantity).versus;
      cells[g].push_back(versus ? number(versus->ratio) : Json{{"value", 1.0}});
    }
  }
}

// Returns the label that a config gave the arm, or what distinguishes it, in words: "self, draft
// length 5".
std::string label_of(const Frame& frame, const Report& report, const Report::Group& group) {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  for (std::size_t k = 0; k < report.by.size(); ++k)
    add(value_words(report.by[k], group.keys[k], report.by));
  if (!report.by.empty()) return text;
  const ArmName name = arm_name(frame, group.arms[0]);
  if (!name.label.empty()) add(name.label);
  for (const auto& [key, value] : name.values)
    if (key != "run.seed") add(value_words(key, value));
  return text.empty() ? "all" : text;
}

// Chooses the axes. The horizontal one is the first ratio or rate; the vertical one is the last of
// a task's scores in which groups differ, else any measure of quality.
std::pair<int, int> axes(const Report& report, const Json& metrics,
                         const std::vector<Json>& cells) {
  const auto count = static_cast<int>(metrics.size());
  const auto differs = [&](int m) {
    return std::any_of(cells.begin(), cells.end(),
                       [&](const Json& row) { return row[m]["value"] != cells[0][m]["value"]; });
  };
  int x = 0, y = count - 1;
  for (int m = count - 1; m >= 0; --m)
    if (metrics[m]["better"] == 1 && !metrics[m]["refused"].get<bool>() &&
        (metrics[m]["name"].get<std::string>().starts_with("fewer ") || m == x))
      x = m;
  std::map<std::string, int> column;
  for (int m = 0; m < count; ++m) column[metrics[m]["name"].get<std::string>()] = m;
  for (const Quantity& quantity : report.quantities) {
    const int m = column[quantity.title];
    // Scores come last.
    if (quantity.compare == Quantity::Compare::difference && quantity.better != 0 && differs(m))
      y = m;
  }
  return {x, y};
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

// Writes JSON inside HTML, so that no tag begins, and no line ends that a script would see.
std::string embedded(const Json& json) {
  std::string text;
  for (char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '&')
      result += "&amp;";
    else
      result += c;
  }
  return result;
}

}  // namespace

std::int64_t probability_code(double p) {
  if (std::isnan(p)) return 65535;
  if (p <= 0) return 65534;
  return std::clamp<std::int64_t>(std::llround(-3000 * std::log(p)), 0, 65533);
}

PackedColumn pack(const std::vector<std::int64_t>& values) {
  std::int64_t most = 0;
  for (std::int64_t value : values) most = std::max(most, value);
  const int width = most < 256 ? 1 : most < 65536 ? 2 : 4;
  std::string bytes;
  bytes.reserve(values.size() * static_cast<std::size_t>(width));
  for (std::int64_t value : values) {
    for (int k = 0; k < width; ++k)
      bytes += static_cast<char>(
          static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)) >> (8 * k) & 255);
  }
  return {"u" + std::to_string(8 * width), base64(bytes)};
}

std::string html_page(const Frame& frame, const Report& report, const PageOptions& options) {
  const Provenance& made = frame.files().front().provenance;
  const std::size_t line = made.title.find('\n');
  Json data;
  data["title"] = made.title.empty() ? frame.files().front().path : made.title.substr(0, line);
  data["about"] = line == std::string::npos ? "" : made.title.substr(line + 1);
  data["made"] = made.software + (made.git_commit.empty() ? "" : " (" + made.git_commit + ")") +
                 (made.started.empty() ? "" : ", " + made.started) +
                 (made.cpu.empty() ? "" : ", " + made.cpu);
  std::vector<std::string> notes = report.notes;
  const auto prompts =
      std::min<std::size_t>(frame.prompts().size(), static_cast<std::size_t>(options.prompts));
  if (prompts < frame.prompts().size()) {
    notes.push_back("Trajectories: the first " + std::to_string(prompts) + " of " +
                    std::to_string(frame.prompts().size()) + " prompts.");
  }
  data["caption"] = joined(notes);
  data["findings"] = Json::array();
  for (const Report::Finding& finding : report.findings)
    data["findings"].push_back({{"arm", finding.group}, {"sentence", finding.sentence + "."}});

  Json keys = Json::array(), metrics = Json::array();
  std::vector<Json> cells;
  data["keys"] = keys_of(report, keys);
  table(report, metrics, cells);
  data["metrics"] = metrics;
  const auto [x, y] = axes(report, metrics, cells);
  data["axes"] = {x, y};
  data["arms"] = Json::array();
  for (std::size_t g = 0; g < report.groups.size(); ++g) {
    data["arms"].push_back({{"label", label_of(frame, report, report.groups[g])},
                            {"baseline", report.groups[g].baseline},
                            {"keys", keys[g]},
                            {"values", cells[g]}});
  }

  Trajectories trajectories;
  std::vector<std::string> references(prompts);
  gather(frame, chosen_samples(frame, report, static_cast<int>(prompts)), trajectories, references);
  data["prompts"] = std::vector<std::string>(
      frame.prompts().begin(), frame.prompts().begin() + static_cast<std::ptrdiff_t>(prompts));
  data["references"] = references;
  data["texts"] = trajectories.texts;
  data["pieces"] = trajectories.pieces;
  data["ids"] = trajectories.ids;
  data["blocks"] = trajectories.blocks;
  data["columns"] = trajectories.columns();

  const std::map<std::string, std::string> parts = {
      {"title", escaped(data["title"].get<std::string>())},
      {"style", kPageStyle},
      {"data", embedded(data)},
      {"script", kPageScript}};
  std::string text;
  const std::string page = kPageFrame;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t open = page.find("{{", at), close = page.find("}}", open);
    text += page.substr(at, open - at);
    if (open == std::string::npos) break;
    text += parts.at(page.substr(open + 2, close - open - 2));
    at = close + 2;
  }
  return text;
}

}  // namespace draftlab
