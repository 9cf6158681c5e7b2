#include "plugins/tokenizers/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <utility>

#include "core/base/error.h"

namespace draftlab {
namespace {

// The characters that Oniguruma's \w matches.
constexpr std::string_view kWord = R"(\p{L}\p{M}\p{Nd}\p{Pc})";

[[noreturn]] void refuse(const std::string& expression, const std::string& why) {
  throw DataError("the pattern '{}' {}", expression, why);
}

// Writes an expression of Oniguruma's dialect in that of PCRE2, and refuses what the two read
// differently.
class Translation {
 public:
  explicit Translation(const std::string& expression) : expression_(expression) {}
  std::string text() {
    for (; at_ < expression_.size(); ++at_) {
      const bool after_interval = std::exchange(interval_ended_, false);
      if (expression_[at_] == '\\' && at_ + 1 < expression_.size())
        escape();
      else if (in_class_)
        within_class();
      else
        outside_class(after_interval);
    }
    return out_;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { draftlab::refuse(expression_, why); }
  bool next_is(char c) const { return at_ + 1 < expression_.size() && expression_[at_ + 1] == c; }
  void copy() { out_ += expression_[at_]; }

  void escape() {
    const char escaped = expression_[++at_];
    switch (escaped) {
      case 's': out_ += R"(\p{White_Space})"; break;
      case 'S': out_ += R"(\P{White_Space})"; break;
      case 'w': out_ += in_class_ ? std::string(kWord) : "[" + std::string(kWord) + "]"; break;
      case 'W':
        if (in_class_) refuse("has \\W within brackets, which is not supported");
        out_ += "[^" + std::string(kWord) + "]";
        break;
      case 'h':
      case 'H': refuse("has \\h, which means different things in different dialects");
      case 'Q':
      case 'E':
      case 'K':
      case 'C':
      case 'R':
      case 'X': refuse(std::string("has \\") + escaped + ", which is not supported");
      default: out_ += '\\', out_ += escaped;
    }
    // A class such as \p{L} is passed over whole, because its braces are no interval.
    if ((escaped == 'p' || escaped == 'P' || escaped == 'x') && next_is('{'))
      copy_to(expression_.find('}', at_));
  }

  void within_class() {
    if (next_is('&') && expression_[at_] == '&')
      refuse("has an intersection (&&), which is not supported");
    if (expression_[at_] == '[') {  // This begins a class such as [:alpha:], or is no class.
      if (!next_is(':')) refuse("has brackets within brackets, which is not supported");
      const std::size_t end = expression_.find(":]", at_);
      if (end == std::string::npos) refuse("has a bracket that is never closed");
      copy();
      return copy_to(end + 1);
    }
    in_class_ = expression_[at_] != ']';
    copy();
  }

  void outside_class(bool after_interval) {
    const char c = expression_[at_];
    if (c == '[') return begin_class();
    if (c == '(' && next_is('*')) refuse("has a verb (*...), which is not supported");
    if (c == '+' && after_interval)
      refuse("has {...}+, which means different things in different dialects");
    interval_ended_ = c == '}';
    copy();
  }

  void begin_class() {
    in_class_ = true;
    copy();
    if (next_is('^')) ++at_, copy();
    if (next_is(']')) out_ += "\\]", ++at_;
  }

  // Copies what follows, up to and including `last` or the end.
  void copy_to(std::size_t last) {
    while (at_ + 1 < expression_.size() && at_ < last) ++at_, copy();
  }

  const std::string& expression_;
  std::size_t at_ = 0;
  std::string out_;
  bool in_class_ = false;
  // The character before was the end of an interval quantifier {n,m}.
  bool interval_ended_ = false;
};

template <class T, void (*release)(T*)>
struct Release {
  void operator()(T* it) const { release(it); }
};
using Context =
    std::unique_ptr<pcre2_match_context, Release<pcre2_match_context, pcre2_match_context_free>>;
using Stack = std::unique_ptr<pcre2_jit_stack, Release<pcre2_jit_stack, pcre2_jit_stack_free>>;
using Data = std::unique_ptr<pcre2_match_data, Release<pcre2_match_data, pcre2_match_data_free>>;

// What one thread needs to match, whatever the pattern.
struct Bench {
  Stack stack{pcre2_jit_stack_create(32 << 10, 16 << 20, nullptr)};
  Context context{pcre2_match_context_create(nullptr)};
  Data data{pcre2_match_data_create(1, nullptr)};
  Bench() {
    pcre2_set_match_limit(context.get(), 10'000'000);
    pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
  }
};

}  // namespace

struct Pattern::Code {
  std::unique_ptr<pcre2_code, Release<pcre2_code, pcre2_code_free>> code;
};

Pattern::Pattern(const std::string& expression) : Pattern(expression, false) {}
Pattern Pattern::literal(const std::string& text) { return {text, true}; }

Pattern::Pattern(const std::string& expression, bool literal) : expression_(expression) {
  if (expression.size() > 100'000)
    throw DataError("a pattern has {} bytes, more than the 100000 that are read",
                    expression.size());
  const std::string text = literal ? expression : Translation(expression).text();
  const std::uint32_t options =
      literal ? PCRE2_UTF | PCRE2_LITERAL
              : PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_compile_context* const how = pcre2_compile_context_create(nullptr);
  pcre2_set_newline(how, PCRE2_NEWLINE_LF);
  pcre2_code* const code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                         options, &error, &at, how);
  pcre2_compile_context_free(how);
  if (!code) {
    PCRE2_UCHAR why[200];
    pcre2_get_error_message(error, why, sizeof why);
    refuse(expression, std::string("is none: ") + reinterpret_cast<const char*>(why));
  }
  // Where the pattern cannot be compiled so, matching is slower.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  code_ = std::make_shared<Code>(Code{decltype(Code::code)(code)});
}

std::vector<Range> Pattern::matches(std::string_view text) const {
  thread_local const Bench bench;
  std::vector<Range> found;
  for (PCRE2_SIZE at = 0; at < text.size();) {
    const int count =
        pcre2_match(code_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                    PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, bench.data.get(), bench.context.get());
    if (count == PCRE2_ERROR_NOMATCH) break;
    if (count < 0) {
      PCRE2_UCHAR why[200];
      pcre2_get_error_message(count, why, sizeof why);
      refuse(expression_, "cannot be matched: " + std::string(reinterpret_cast<const char*>(why)));
    }
    const PCRE2_SIZE* const where = pcre2_get_ovector_pointer(bench.data.get());
    if (where[1] <= where[0] || where[0] < at)
      refuse(expression_, "matches nothing or moves its match");
    found.push_back({where[0], where[1]});
    at = where[1];
  }
  return found;
}

}  // namespace draftlab
