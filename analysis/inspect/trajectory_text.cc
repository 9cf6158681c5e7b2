#include "analysis/inspect/trajectory_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace draftlab {
namespace {

constexpr std::size_t kWidth = 96;          // The columns of a line.
constexpr double kPrinted = 0.011;          // Two numbers that are alike may differ by so much.
constexpr double kRelativeRounding = 1e-3;  // Large ones may differ by this share.
constexpr int kShownCoordinates = 3;        // So many coordinates of a vector are shown.
constexpr const char* kMasked = "\u25A1";

std::string number_word(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", std::abs(value) < 0.005 ? 0.0 : value);
  return text;
}

// " NAME VALUE", or nothing where the value was not measured.
std::string labelled(const char* name, double value) {
  return std::isnan(value) ? "" : std::string(" ") + name + " " + number_word(value);
}

std::string coordinates(const Eigen::VectorXd& value) {
  std::string text = "(";
  for (Eigen::Index i = 0; i < std::min<Eigen::Index>(value.size(), kShownCoordinates); ++i)
    text += (i ? " " : "") + number_word(value[i]);
  return text + (value.size() > kShownCoordinates ? " ...)" : ")");
}

// Words after a head, wrapped, later lines indented like the head.
std::string wrapped(const std::string& head, const std::vector<std::string>& words) {
  const auto columns = [](const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
  };
  std::string text = head;
  std::size_t at = columns(head);
  for (const std::string& word : words) {
    if (at + 1 + columns(word) > kWidth) {
      text += "\n" + std::string(columns(head), ' ');
      at = columns(head);
    }
    text += " " + word;
    at += 1 + columns(word);
  }
  return text + "\n";
}

std::string forwards(const Counts& counts) {
  std::string text;
  for (Kind kind : {Kind::prefill, Kind::draft, Kind::verify, Kind::commit, Kind::aux}) {
    if (counts[kind].calls > 0)
      text += " " + std::string(name(kind)) + " " + std::to_string(counts[kind].calls);
  }
  return text.empty() ? " none" : text;
}

class Writer {
 public:
  Writer(const Prompt& prompt, const std::function<std::string(Token)>& spell)
      : spell_(spell), canvas_(static_cast<std::size_t>(prompt.length), kMasked) {
    for (const auto& [position, token] : prompt.given) put(position, spell_(token));
    text_ = "prompt " + prompt.id + "\n" + wrapped("canvas", canvas_);
  }

  void step(const StepRow& step) {
    text_ += "\nstep " + std::to_string(step.step) + ": block " + std::to_string(step.block) +
             ", window of " + std::to_string(step.span) + " of " + std::to_string(step.masked) +
             " masked, " + std::to_string(step.drafted) + " drafted, of which " +
             std::to_string(step.exact) + " exact\n";
    for (const DraftRow& row : step.drafts) draft(row);
    if (step.routed >= 0) {
      text_ += std::string("  route: ") + (step.routed ? "verify" : "do not verify") +
               labelled("score", step.score) + labelled("expected", step.expected) + "\n";
    }
    text_ += "  accepted " + std::to_string(step.accepted) + ", committed " +
             std::to_string(step.committed) +
             ", stop: " + std::string(name(static_cast<Stop>(step.stop))) +
             "; forwards:" + forwards(step.counts);
    if (step.drafter_counts.nfe() > 0) text_ += "; draft model:" + forwards(step.drafter_counts);
    text_ += "\n";
    for (const TokenRow& row : step.tokens) commit(row);
    text_ += wrapped("  canvas", canvas_);
  }

  std::string finish(const SampleRow& sample) {
    text_ += "\n" + std::to_string(sample.generated) + " tokens in " +
             std::to_string(sample.steps.size()) + " steps; forwards:" + forwards(sample.counts) +
             "\n";
    if (!sample.text.empty()) {
      std::vector<std::string> words;
      std::istringstream in(sample.text);
      for (std::string word; in >> word;) words.push_back(word);
      text_ += wrapped("text", words);
    }
    return text_;
  }

 private:
  void put(std::int32_t position, const std::string& text) {
    canvas_.at(static_cast<std::size_t>(position)) = text;
  }

  void draft(const DraftRow& row) {
    text_ += "  draft " + std::to_string(row.position) + ": " + spell_(row.token) +
             labelled("q", row.q) + labelled("p", row.p) + labelled("log q", row.log_q) +
             labelled("log p", row.log_p);
    if (row.accepted >= 0) text_ += row.accepted ? " accepted" : " rejected";
    text_ += labelled("at", row.accept) + "\n";
  }

  void commit(const TokenRow& row) {
    const std::string shown = row.value.size() > 0 ? coordinates(row.value) : spell_(row.token);
    text_ += "  commit " + std::to_string(row.position) + ": " + shown + " (" +
             std::string(name(static_cast<Source>(row.source))) + ")\n";
    put(row.position, row.value.size() > 0 ? "\u25A0" : shown);
  }

  const std::function<std::string(Token)>& spell_;
  std::vector<std::string> canvas_;
  std::string text_;
};

// Whether a word is a number as number_word() writes it, alone or at the edge of a vector.
bool is_number(std::string word) {
  std::erase_if(word, [](char c) { return c == '(' || c == ')'; });
  const std::size_t digits = word.find_first_not_of('-');
  return word.size() >= 4 && digits <= 1 && word[word.size() - 3] == '.' &&
         std::count(word.begin(), word.end(), '.') == 1 &&
         word.find_first_not_of("0123456789.", digits) == std::string::npos;
}

double value_of(std::string word) {
  std::erase_if(word, [](char c) { return c == '(' || c == ')'; });
  return std::strtod(word.c_str(), nullptr);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

bool alike(const std::string& a, const std::string& b) {
  const std::vector<std::string> left = split(a, ' '), right = split(b, ' ');
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(),
                    [](const std::string& one, const std::string& other) {
                      if (one == other) return true;
                      if (!is_number(one) || !is_number(other)) return false;
                      const double x = value_of(one), y = value_of(other);
                      return std::abs(x - y) <= kPrinted + kRelativeRounding * std::abs(x);
                    });
}

}  // namespace

std::string trajectory_text(const SampleRow& sample, const Prompt& prompt,
                            const std::function<std::string(Token)>& spell) {
  Writer writer(prompt, spell);
  for (const StepRow& step : sample.steps) writer.step(step);
  return writer.finish(sample);
}

std::string without_numbers(const std::string& trajectory) {
  std::string text;
  for (const std::string& line : split(trajectory, '\n')) {
    for (const std::string& word : split(line, ' ')) text += (is_number(word) ? "#" : word) + " ";
    text += "\n";
  }
  return text;
}

std::string difference(const std::string& stored, const std::string& decoded) {
  const std::vector<std::string> left = split(stored, '\n'), right = split(decoded, '\n');
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const std::string a = i < left.size() ? left[i] : "the end",
                      b = i < right.size() ? right[i] : "the end";
    if (!alike(a, b)) return "line " + std::to_string(i + 1) + ": '" + a + "', but '" + b + "'";
  }
  return {};
}

}  // namespace draftlab
