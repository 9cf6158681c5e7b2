#include "analysis/inspect/inspect.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "core/base/error.h"

namespace draftlab {
namespace {

// The marks of drafted and committed tokens.
struct Marks {
  const char *exact, *accepted, *rejected, *becomes, *unjudged, *given;
};
constexpr Marks kUtf8Marks = {"\u00B7", "\u2713", "\u2717", "\u2192", "?", "\u2026"};
constexpr Marks kAsciiMarks = {"=", "+", "x", ">", "?", "..."};

// Makes a text printable: control characters never reach the terminal, and in ASCII the piece of a
// space is an underscore.
std::string printable(const std::string& text, bool ascii) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c1 =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (byte < 0x20 || byte == 0x7F)
      result += ' ';
    else if (c1)
      ++i, result += ' ';
    else if (byte < 0x80 || !ascii)
      result += text[i];
    else if (text.compare(i, 3, "\u2581") == 0)
      i += 2, result += '_';
    else if ((byte & 0xC0) != 0x80)
      result += '?';
  }
  return result;
}

int columns_of(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// Cuts `text` to at most `most` columns.
std::string cut(const std::string& text, int most) {
  int columns = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 && ++columns > most)
      return text.substr(0, i);
  }
  return text;
}

// Writes words one after another, wrapped at the width, and continued under the first.
class Paragraph {
 public:
  Paragraph(std::string head, int width)
      : text_(std::move(head)), indent_(columns_of(text_)), at_(indent_), width_(width) {}
  void add(const std::string& word) {
    const std::string fits = cut(word, width_ - indent_);
    const int length = columns_of(fits);
    if (!begun_)
      begun_ = true;
    else if (at_ + 1 + length > width_)
      text_ += "\n" + std::string(indent_, ' '), at_ = indent_;
    else
      text_ += " ", ++at_;
    text_ += fits;
    at_ += length;
  }
  std::string line() const { return text_ + "\n"; }

 private:
  std::string text_;
  int indent_, at_, width_;
  bool begun_ = false;
};

class Picture {
 public:
  Picture(const Trace& trace, const SampleRow& sample, const InspectOptions& options)
      : trace_(trace),
        sample_(sample),
        options_(options),
        marks_(options.ascii ? kAsciiMarks : kUtf8Marks) {}
  std::string header(std::int64_t index) const;
  std::string step(const StepRow& step) const;
  std::string canvas() const;
  std::string text() const;

 private:
  std::string piece(Token token) const {
    std::string shown =
        options_.piece ? printable(options_.piece(sample_.run, token), options_.ascii) : "";
    return shown.empty() ? std::to_string(token) : cut(shown, 24);
  }
  std::string paragraph(const std::string& head, const std::string& text) const;

  const Trace& trace_;
  const SampleRow& sample_;
  const InspectOptions& options_;
  const Marks& marks_;
};

std::string kinds(const Counts& counts) {
  std::string text;
  for (Kind kind : {Kind::prefill, Kind::draft, Kind::verify, Kind::commit, Kind::aux}) {
    if (counts[kind].calls > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(counts[kind].calls) + " " +
              std::string(name(kind));
  }
  return text;
}

std::string Picture::paragraph(const std::string& head, const std::string& text) const {
  Paragraph lines(head, options_.width);
  const std::string clean = printable(text, options_.ascii);
  for (std::size_t at = 0; at < clean.size();) {
    const std::size_t end = std::min(clean.find(' ', at), clean.size());
    if (end > at) lines.add(clean.substr(at, end - at));
    at = end + 1;
  }
  return lines.line();
}

std::string Picture::header(std::int64_t index) const {
  const RunRow& run = trace_.runs()[sample_.run];
  const std::int64_t nfe = sample_.counts.nfe();
  char numbers[160];
  std::snprintf(numbers, sizeof numbers,
                "%d positions, %d given, %d decoded in %zu steps; NFE %lld (", sample_.length,
                sample_.prompt_tokens, sample_.generated, sample_.steps.size(),
                static_cast<long long>(nfe));
  std::string cost = numbers + kinds(sample_.counts) + ")";
  if (sample_.drafter_counts.nfe() > 0) cost += "; draft model: " + kinds(sample_.drafter_counts);
  if (nfe > 0) {
    std::snprintf(numbers, sizeof numbers, "; %.3f tokens per forward",
                  static_cast<double>(sample_.generated) / static_cast<double>(nfe));
    cost += numbers;
  }
  if (!std::isnan(sample_.seconds)) {
    std::snprintf(numbers, sizeof numbers, "; %.3f s", sample_.seconds);
    cost += numbers;
  }
  std::string scores;
  for (const auto& [name, value] : sample_.scores) {
    std::snprintf(numbers, sizeof numbers, "%.4g", value);
    scores += (scores.empty() ? "" : ", ") + name + " " + numbers;
  }
  const std::string arm = run.arm.empty() ? run.id : run.arm;
  return paragraph("sample ", std::to_string(index) + ": prompt " + sample_.prompt_id +
                                  ", repeat " + std::to_string(sample_.sample_index) + ", run " +
                                  std::to_string(sample_.run) + " (" + arm + ")") +
         paragraph("cost   ", cost) + (scores.empty() ? "" : paragraph("scores ", scores));
}

// Names the forwards of a step by the first letter of their kind, as in "d+v"; those of a draft
// model stand in brackets.
std::string short_cost(const StepRow& step) {
  auto letters = [](const Counts& counts) {
    std::string text;
    for (Kind kind : {Kind::prefill, Kind::draft, Kind::verify, Kind::commit, Kind::aux}) {
      const std::int64_t calls = counts[kind].calls;
      if (calls > 0)
        text += (text.empty() ? "" : "+") + (calls > 1 ? std::to_string(calls) : "") +
                std::string(name(kind).substr(0, 1));
    }
    return text;
  };
  const std::string drafter = letters(step.drafter_counts);
  const std::string text = letters(step.counts) + (drafter.empty() ? "" : "(" + drafter + ")");
  return text.empty() ? "-" : text;
}

// Shows one draft after the other, in the order of drafting, and then what was committed at
// positions that no draft had.
std::string Picture::step(const StepRow& step) const {
  char head[64];
  std::snprintf(head, sizeof head, "%5d %4d  %-6s ", step.step, step.committed,
                short_cost(step).c_str());
  Paragraph line(head, options_.width);
  std::map<std::int32_t, const TokenRow*> committed;
  for (const TokenRow& token : step.tokens) committed[token.position] = &token;
  for (std::size_t i = 0; i < step.drafts.size(); ++i) {
    const DraftRow& draft = step.drafts[i];
    const std::string drafted = std::to_string(draft.position) + ":" + piece(draft.token);
    const auto token = committed.find(draft.position);
    // All vectors have one id, so for vectors only an accepted draft counts as kept.
    const bool kept = token != committed.end() && token->second->token == draft.token &&
                      (draft.accepted != 0 || token->second->value.size() == 0);
    if (draft.accepted == 1 || kept) {
      line.add(drafted + (draft.depth < step.exact ? marks_.exact : marks_.accepted));
    } else if (draft.accepted == 0 && token != committed.end()) {
      line.add(drafted + marks_.rejected + marks_.becomes + piece(token->second->token));
    } else {
      line.add(drafted + (draft.accepted == 0 ? marks_.rejected : marks_.unjudged));
    }
    committed.erase(draft.position);
  }
  for (const TokenRow& token : step.tokens) {
    if (!committed.count(token.position)) continue;
    const bool accepted = token.source == static_cast<std::int32_t>(Source::accepted);
    line.add(std::to_string(token.position) + ":" + piece(token.token) +
             (accepted ? std::string(marks_.accepted)
                       : "(" + std::string(name(static_cast<Source>(token.source))) + ")"));
  }
  line.add("| " + std::string(name(static_cast<Stop>(step.stop))));
  return line.line();
}

std::string Picture::canvas() const {
  // By position: the token and its step.
  std::map<std::int32_t, std::pair<Token, std::int32_t>> at;
  for (const StepRow& step : sample_.steps) {
    for (const TokenRow& token : step.tokens) at[token.position] = {token.token, step.step};
  }
  Paragraph lines("canvas ", options_.width);
  std::int32_t next = 0;
  for (const auto& [position, cell] : at) {
    if (position > next) lines.add(marks_.given);
    lines.add(piece(cell.first) + "/" + std::to_string(cell.second));
    next = position + 1;
  }
  if (next < sample_.length) lines.add(marks_.given);
  return lines.line();
}

std::string Picture::text() const {
  return (sample_.text.empty() ? "" : paragraph("text   ", sample_.text)) +
         (sample_.reference.empty() ? "" : paragraph("stood  ", sample_.reference));
}

std::int64_t number(const std::string& text, const std::string& whole) {
  const bool digits = !text.empty() && text.size() <= 15 &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits) throw UsageError("--steps {} is neither A:B, A:, :B nor a number of steps", whole);
  return std::stoll(text);
}

}  // namespace

void read_steps(const std::string& text, InspectOptions& options) {
  const std::size_t colon = text.find(':');
  const std::string from = colon == std::string::npos ? "" : text.substr(0, colon);
  const std::string to = colon == std::string::npos ? text : text.substr(colon + 1);
  if (!from.empty()) options.first_step = number(from, text);
  if (!to.empty() || from.empty()) options.end_step = number(to, text);
}

bool terminal_shows_utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (!value || !*value) continue;
    const std::string locale = value;
    return locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

std::string inspect(const Trace& trace, std::int64_t index, const InspectOptions& options) {
  const SampleRow sample = trace.sample(index);
  const Picture picture(trace, sample, options);
  const Marks& marks = options.ascii ? kAsciiMarks : kUtf8Marks;
  std::string out = picture.header(index) + "\n";
  out += std::string(" step  new  nfe    position:token  ") + marks.exact + " target's own  " +
         marks.accepted + " accepted  " + marks.rejected + marks.becomes + "token replaced  " +
         marks.unjudged + " not judged\n";
  for (const StepRow& step : sample.steps) {
    if (step.step >= options.first_step && step.step < options.end_step) out += picture.step(step);
  }
  return out + "\n" + std::string("tokens by position, each with the step that committed it; ") +
         marks.given + " given or open\n" + picture.canvas() + picture.text();
}

}  // namespace draftlab
