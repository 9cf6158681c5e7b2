#include "plugins/tokenizers/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "core/base/error.h"

namespace draftlab {
namespace {

// The characters that Oniguruma's \w matches.
constexpr std::string_view kWord = R"(\p{L}\p{M}\p{Nd}\p{Pc})";

[[noreturn]] void refuse(const std::string& expression, const std::string& why) {
  throw DataError("the pattern '{}' {}", expression, why);
}

// Writes the same expression in PCRE2's dialect.
std::string translated(const std::string& expression) {
  std::string out;
  bool in_class = false;
  // The place where an interval quantifier {n,m} began that has just ended; 0 where there is none.
  std::size_t interval = 0;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    const std::size_t after_interval = interval;
    interval = 0;
    if (c == '\\' && i + 1 < expression.size()) {
      const char escaped = expression[++i];
      switch (escaped) {
        case 's': out += R"(\p{White_Space})"; break;
        case 'S': out += R"(\P{White_Space})"; break;
        case 'w': out += in_class ? std::string(kWord) : "[" + std::string(kWord) + "]"; break;
        case 'W':
          if (in_class) refuse(expression, "has \\W within brackets, which is not supported");
          out += "[^" + std::string(kWord) + "]";
          break;
        case 'h':
        case 'H': refuse(expression, "has \\h, which means different things in different dialects");
        case 'Q':
        case 'E':
        case 'K':
        case 'C':
        case 'R':
        case 'X': refuse(expression, std::string("has \\") + escaped + ", which is not supported");
        default: out += c, out += escaped;
      }
      // A class such as \p{L} is passed over whole, because its braces are no interval.
      if ((escaped == 'p' || escaped == 'P' || escaped == 'x') && i + 1 < expression.size() &&
          expression[i + 1] == '{')
        while (i + 1 < expression.size()) {
          out += expression[++i];
          if (expression[i] == '}') break;
        }
      continue;
    }
    if (in_class) {
      if (c == '[' && !(i + 1 < expression.size() && expression[i + 1] == ':'))
        refuse(expression, "has brackets within brackets, which is not supported");
      if (c == '&' && i + 1 < expression.size() && expression[i + 1] == '&')
        refuse(expression, "has an intersection (&&), which is not supported");
      if (c == '[') {  // This begins a class such as [:alpha:].
        const std::size_t end = expression.find(":]", i);
        if (end == std::string::npos) refuse(expression, "has a bracket that is never closed");
        out += expression.substr(i, end + 2 - i);
        i = end + 1;
        continue;
      }
      if (c == ']') in_class = false;
    } else if (c == '[') {
      in_class = true;
      out += c;
      if (i + 1 < expression.size() && expression[i + 1] == '^') out += expression[++i];
      if (i + 1 < expression.size() && expression[i + 1] == ']') out += "\\]", ++i;
      continue;
    } else if (c == '(' && i + 1 < expression.size() && expression[i + 1] == '*') {
      refuse(expression, "has a verb (*...), which is not supported");
    } else if (c == '}') {
      interval = i;
    } else if (c == '+' && after_interval) {
      refuse(expression, "has {...}+, which means different things in different dialects");
    }
    out += c;
  }
  return out;
}

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
  const std::string text = literal ? expression : translated(expression);
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
