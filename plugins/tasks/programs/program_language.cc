#include "plugins/tasks/programs/program_language.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>

#include "plugins/tasks/programs/program_syntax.h"

namespace draftlab {
namespace {

// A fault in the text, thrown as an exception; it never leaves Program::parse.
struct Unread {
  std::size_t at;
  std::string rule;
};

struct Lexeme {
  enum Kind { name, keyword, number, symbol, end } kind = end;
  std::string_view text;
  std::size_t at = 0;
  bool is(std::string_view word) const {
    return (kind == keyword || kind == symbol) && text == word;
  }
};

constexpr std::array<std::string_view, 11> kKeywords = {
    "def", "return", "if", "else", "while", "for", "in", "and", "or", "not", "end"};
constexpr std::array<std::string_view, 18> kSymbols = {
    "//", "==", "!=", "<=", ">=", "<", ">", "=", "+", "-", "*", "%", "(", ")", "[", "]", ",", ":"};

bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

Lexeme lexeme_at(std::string_view text, std::size_t at) {
  while (at < text.size() &&
         (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t'))
    ++at;
  if (at == text.size()) return {Lexeme::end, {}, at};
  std::size_t end = at;
  if (letter(text[at])) {
    while (end < text.size() && (letter(text[end]) || digit(text[end]))) ++end;
    const std::string_view word = text.substr(at, end - at);
    return {std::find(kKeywords.begin(), kKeywords.end(), word) == kKeywords.end()
                ? Lexeme::name
                : Lexeme::keyword,
            word, at};
  }
  if (digit(text[at])) {
    while (end < text.size() && digit(text[end])) ++end;
    if (end < text.size() && letter(text[end])) throw Unread{end, "a letter follows a number"};
    return {Lexeme::number, text.substr(at, end - at), at};
  }
  for (const std::string_view symbol : kSymbols)
    if (text.substr(at).starts_with(symbol))
      return {Lexeme::symbol, text.substr(at, symbol.size()), at};
  throw Unread{at, "no sign of the language"};
}

struct Operator {
  std::string_view text;
  int level;
  ProgramForm form;
};
constexpr int kNot = 3, kComparison = 4, kSign = 7;
constexpr Operator kOperators[] = {{"or", 1, ProgramForm::either},
                                   {"and", 2, ProgramForm::both},
                                   {"==", kComparison, ProgramForm::equal},
                                   {"!=", kComparison, ProgramForm::unequal},
                                   {"<", kComparison, ProgramForm::less},
                                   {"<=", kComparison, ProgramForm::at_most},
                                   {">", kComparison, ProgramForm::greater},
                                   {">=", kComparison, ProgramForm::at_least},
                                   {"in", kComparison, ProgramForm::within},
                                   {"+", 5, ProgramForm::plus},
                                   {"-", 5, ProgramForm::minus},
                                   {"*", 6, ProgramForm::times},
                                   {"//", 6, ProgramForm::divided},
                                   {"%", 6, ProgramForm::modulo}};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), next_(lexeme_at(text, 0)) {}

  ProgramNode program() {
    ProgramNode root = node(ProgramForm::program);
    do add(root, function());
    while (next_.kind != Lexeme::end);
    for (std::size_t i = 0; i < root.children.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (root.children[i].name == root.children[j].name)
          throw Unread{0, "two functions are named " + root.children[i].name};
    return root;
  }

 private:
  // Counts one level of nesting in the text while it is read.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser.levels_ > Program::kMostNesting) parser.refuse("less nesting");
    }
    ~Level() { --parser_.levels_; }

   private:
    Parser& parser_;
  };

  static ProgramNode node(ProgramForm form, std::int64_t number = 0) {
    ProgramNode made;
    made.form = form;
    made.number = number;
    return made;
  }
  // Operators of one level nest to the left without nesting in the text, so the depth of the tree
  // is checked too.
  void add(ProgramNode& parent, ProgramNode child) {
    parent.adopt(std::move(child));
    if (parent.nesting > Program::kMostNesting) refuse("less nesting");
  }
  [[noreturn]] void refuse(const std::string& wanted) const {
    throw Unread{next_.at, "expected " + wanted};
  }
  Lexeme take() {
    const Lexeme taken = next_;
    next_ = lexeme_at(text_, taken.at + taken.text.size());
    return taken;
  }
  void take(std::string_view word) {
    if (!next_.is(word)) refuse("'" + std::string(word) + "'");
    take();
  }
  bool took(std::string_view word) {
    if (!next_.is(word)) return false;
    take();
    return true;
  }
  std::string name() {
    if (next_.kind != Lexeme::name) refuse("a name");
    return std::string(take().text);
  }
  std::int64_t slot(const std::string& name) {
    return slots_.emplace(name, static_cast<std::int64_t>(slots_.size())).first->second;
  }

  ProgramNode function() {
    slots_.clear();
    take("def");
    ProgramNode made = node(ProgramForm::function);
    made.name = name();
    take("(");
    if (!next_.is(")")) do {
        made.parameters.push_back(name());
        slot(made.parameters.back());
        if (slots_.size() != made.parameters.size()) refuse("parameters of different names");
      } while (took(","));
    take(")");
    add(made, block());
    take("end");
    made.number = static_cast<std::int64_t>(slots_.size());
    return made;
  }

  ProgramNode block() {
    const Level level(*this);
    take(":");
    ProgramNode made = node(ProgramForm::block);
    while (!next_.is("end") && !next_.is("else")) add(made, statement());
    return made;
  }

  ProgramNode statement() {
    if (took("return")) {
      ProgramNode made = node(ProgramForm::give_back);
      add(made, value());
      return made;
    }
    if (next_.is("if") || next_.is("while")) {
      ProgramNode made = node(take().text == "if" ? ProgramForm::test : ProgramForm::repeat);
      add(made, value());
      add(made, block());
      if (made.form == ProgramForm::test && took("else")) add(made, block());
      take("end");
      return made;
    }
    if (took("for")) {
      ProgramNode made = node(ProgramForm::each, slot(name()));
      take("in");
      add(made, value());
      add(made, block());
      take("end");
      return made;
    }
    if (next_.kind != Lexeme::name) refuse("a statement");
    ProgramNode made = node(ProgramForm::set, slot(name()));
    take("=");
    add(made, value());
    return made;
  }

  const Operator* operator_here(int loosest) const {
    for (const Operator& one : kOperators)
      if (next_.is(one.text) && one.level >= loosest) return &one;
    return nullptr;
  }

  // Reads a value whose operators bind at least as tightly as `loosest`.
  ProgramNode value(int loosest = 1) {
    const Level level(*this);
    ProgramNode left = prefixed(loosest);
    while (const Operator* found = operator_here(loosest)) {
      take();
      ProgramNode made = node(found->form);
      add(made, std::move(left));
      add(made, value(found->level + 1));
      left = std::move(made);
      const Operator* next = operator_here(kComparison);
      if (found->level == kComparison && next && next->level == kComparison)
        refuse("no second comparison");
    }
    return left;
  }

  ProgramNode prefixed(int loosest) {
    const bool negation = next_.is("not") && loosest <= kNot;
    if (!negation && !next_.is("-")) return indexed();
    take();
    ProgramNode made = node(negation ? ProgramForm::negation : ProgramForm::sign);
    add(made, value(negation ? kNot : kSign));
    return made;
  }

  ProgramNode indexed() {
    ProgramNode made = primary();
    while (took("[")) {
      ProgramNode at = node(ProgramForm::index);
      add(at, std::move(made));
      add(at, value());
      take("]");
      made = std::move(at);
    }
    return made;
  }

  ProgramNode primary() {
    if (took("(")) {
      ProgramNode made = value();
      take(")");
      return made;
    }
    if (took("[")) return values(node(ProgramForm::list), "]");
    if (next_.kind == Lexeme::number) {
      std::int64_t number = 0;
      if (std::from_chars(next_.text.data(), next_.text.data() + next_.text.size(), number).ec !=
          std::errc())
        refuse("a smaller number");
      take();
      return node(ProgramForm::number, number);
    }
    if (next_.kind != Lexeme::name) refuse("a value");
    const std::string called = name();
    if (!took("(")) return node(ProgramForm::variable, slot(called));
    ProgramNode made = node(ProgramForm::call);
    made.name = called;
    return values(std::move(made), ")");
  }

  ProgramNode values(ProgramNode made, std::string_view close) {
    if (took(close)) return made;
    do add(made, value());
    while (took(","));
    take(close);
    return made;
  }

  std::string_view text_;
  Lexeme next_;
  // The slots of the function that is being read.
  std::map<std::string, std::int64_t> slots_;
  int levels_ = 0;
};

}  // namespace

Program Program::parse(std::string_view text) {
  Program made;
  if (text.size() > kMostBytes) {
    made.error_ = "longer than " + std::to_string(kMostBytes) + " bytes";
    return made;
  }
  try {
    made.root_ = std::make_shared<const ProgramNode>(Parser(text).program());
    made.error_.clear();
  } catch (const Unread& fault) {
    made.error_ = "at byte " + std::to_string(fault.at) + ": " + fault.rule;
  }
  return made;
}

std::vector<std::string> Program::parameters(std::string_view function) const {
  if (root_)
    for (const ProgramNode& one : root_->children)
      if (one.name == function) return one.parameters;
  return {};
}

}  // namespace draftlab
