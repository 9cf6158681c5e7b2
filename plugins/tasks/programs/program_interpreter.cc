// Runs programs of the small language by a walk over the syntax tree, which counts its steps, the
// elements it makes and its depth.
#include <algorithm>
#include <limits>
#include <optional>

#include "plugins/tasks/programs/program_language.h"
#include "plugins/tasks/programs/program_syntax.h"

namespace draftlab {
namespace {

using Value = ProgramValue;

// An exception that ends a run; it never leaves Program::run.
struct Ended {
  ProgramFailure why;
};

[[noreturn]] void stop(ProgramFailure why) { throw Ended{why}; }

std::int64_t integer(const Value& value) {
  if (value.list) stop(ProgramFailure::kind);
  return value.number;
}
const ProgramList& list(const Value& value) {
  if (!value.list) stop(ProgramFailure::kind);
  return *value.list;
}
bool truth(const Value& value) { return integer(value) != 0; }

std::int64_t added(std::int64_t a, std::int64_t b) {
  std::int64_t result;
  if (__builtin_add_overflow(a, b, &result)) stop(ProgramFailure::overflow);
  return result;
}
std::int64_t subtracted(std::int64_t a, std::int64_t b) {
  std::int64_t result;
  if (__builtin_sub_overflow(a, b, &result)) stop(ProgramFailure::overflow);
  return result;
}
std::int64_t multiplied(std::int64_t a, std::int64_t b) {
  std::int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) stop(ProgramFailure::overflow);
  return result;
}
void check_division(std::int64_t a, std::int64_t b) {
  if (b == 0) stop(ProgramFailure::division);
  if (a == std::numeric_limits<std::int64_t>::min() && b == -1) stop(ProgramFailure::overflow);
}
std::int64_t divided(std::int64_t a, std::int64_t b) {
  check_division(a, b);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
std::int64_t remainder(std::int64_t a, std::int64_t b) {
  check_division(a, b);
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

class Run {
 public:
  Run(const ProgramNode& root, const ProgramLimits& limits) : root_(root), limits_(limits) {}
  std::int64_t steps() const { return std::min(steps_, limits_.steps); }

  Value call(std::string_view name, std::vector<Value> arguments) {
    for (const ProgramNode& function : root_.children) {
      if (function.name != name) continue;
      if (function.parameters.size() != arguments.size()) stop(ProgramFailure::name);
      step(function.number);
      Frame frame(arguments.begin(), arguments.end());
      frame.resize(static_cast<std::size_t>(function.number));
      std::optional<Value> result = block(function.children[0], frame);
      if (!result) stop(ProgramFailure::no_return);
      return *std::move(result);
    }
    return built_in(name, arguments);
  }

 private:
  // The variables of a function; each is empty before it is set.
  using Frame = std::vector<std::optional<Value>>;

  class Level {
   public:
    explicit Level(Run& run) : run_(run) {
      if (++run.depth_ > run.limits_.depth) stop(ProgramFailure::depth);
    }
    ~Level() { --run_.depth_; }

   private:
    Run& run_;
  };

  void step(std::int64_t count = 1) {
    steps_ = added(steps_, count);
    if (steps_ > limits_.steps) stop(ProgramFailure::steps);
  }
  // Counts the elements of a list before it is made.
  void make(std::size_t elements) {
    elements_ += static_cast<std::int64_t>(elements);
    if (elements_ > limits_.elements) stop(ProgramFailure::memory);
    step(static_cast<std::int64_t>(elements));
  }

  // Returns what the block returns, and nothing where it runs to its end.
  std::optional<Value> block(const ProgramNode& node, Frame& frame) {
    const Level level(*this);
    for (const ProgramNode& statement : node.children)
      if (std::optional<Value> returned = execute(statement, frame)) return returned;
    return std::nullopt;
  }

  std::optional<Value> execute(const ProgramNode& node, Frame& frame) {
    step();
    switch (node.form) {
      case ProgramForm::set:
        frame[static_cast<std::size_t>(node.number)] = evaluate(node.children[0], frame);
        return std::nullopt;
      case ProgramForm::give_back: return evaluate(node.children[0], frame);
      case ProgramForm::test:
        if (truth(evaluate(node.children[0], frame))) return block(node.children[1], frame);
        return node.children.size() == 3 ? block(node.children[2], frame) : std::nullopt;
      case ProgramForm::repeat:
        while (truth(evaluate(node.children[0], frame)))
          if (std::optional<Value> returned = block(node.children[1], frame)) return returned;
        return std::nullopt;
      default: {  // The form is `each`.
        const Value items = evaluate(node.children[0], frame);
        for (const std::int64_t item : list(items)) {
          step();
          frame[static_cast<std::size_t>(node.number)] = Value::of(item);
          if (std::optional<Value> returned = block(node.children[1], frame)) return returned;
        }
        return std::nullopt;
      }
    }
  }

  Value evaluate(const ProgramNode& node, Frame& frame) {
    const Level level(*this);
    step();
    switch (node.form) {
      case ProgramForm::number: return Value::of(node.number);
      case ProgramForm::variable: {
        const std::optional<Value>& variable = frame[static_cast<std::size_t>(node.number)];
        if (!variable) stop(ProgramFailure::name);
        return *variable;
      }
      case ProgramForm::either:
        return Value::of(truth(evaluate(node.children[0], frame)) ||
                         truth(evaluate(node.children[1], frame)));
      case ProgramForm::both:
        return Value::of(truth(evaluate(node.children[0], frame)) &&
                         truth(evaluate(node.children[1], frame)));
      case ProgramForm::negation: return Value::of(!truth(evaluate(node.children[0], frame)));
      case ProgramForm::sign:
        return Value::of(subtracted(0, integer(evaluate(node.children[0], frame))));
      case ProgramForm::call:
      case ProgramForm::list: {
        std::vector<Value> values;
        for (const ProgramNode& child : node.children) values.push_back(evaluate(child, frame));
        return node.form == ProgramForm::call ? call(node.name, std::move(values)) : listed(values);
      }
      default: break;
    }
    const Value left = evaluate(node.children[0], frame);
    return combine(node.form, left, evaluate(node.children[1], frame));
  }

  Value listed(const std::vector<Value>& values) {
    make(values.size());
    ProgramList made;
    for (const Value& value : values) made.push_back(integer(value));
    return Value::of(std::move(made));
  }

  Value combine(ProgramForm form, const Value& a, const Value& b) {
    switch (form) {
      case ProgramForm::equal: return Value::of(equal(a, b));
      case ProgramForm::unequal: return Value::of(!equal(a, b));
      case ProgramForm::within: {
        const std::int64_t wanted = integer(a);
        step(static_cast<std::int64_t>(list(b).size()));
        return Value::of(std::find(b.list->begin(), b.list->end(), wanted) != b.list->end());
      }
      case ProgramForm::index: {
        const ProgramList& items = list(a);
        const std::int64_t at = integer(b);
        if (at < 0 || at >= static_cast<std::int64_t>(items.size())) stop(ProgramFailure::index);
        return Value::of(items[static_cast<std::size_t>(at)]);
      }
      case ProgramForm::plus:
        if (a.list) return joined(list(a), list(b));
        return Value::of(added(integer(a), integer(b)));
      case ProgramForm::less: return Value::of(integer(a) < integer(b));
      case ProgramForm::at_most: return Value::of(integer(a) <= integer(b));
      case ProgramForm::greater: return Value::of(integer(a) > integer(b));
      case ProgramForm::at_least: return Value::of(integer(a) >= integer(b));
      case ProgramForm::minus: return Value::of(subtracted(integer(a), integer(b)));
      case ProgramForm::times: return Value::of(multiplied(integer(a), integer(b)));
      case ProgramForm::divided: return Value::of(divided(integer(a), integer(b)));
      default:
        // The form is `modulo`.
        return Value::of(remainder(integer(a), integer(b)));
    }
  }
  bool equal(const Value& a, const Value& b) {
    if (a.list && b.list) step(static_cast<std::int64_t>(std::min(a.list->size(), b.list->size())));
    return a == b;
  }
  Value joined(const ProgramList& a, const ProgramList& b) {
    make(a.size() + b.size());
    ProgramList made = a;
    made.insert(made.end(), b.begin(), b.end());
    return Value::of(std::move(made));
  }

  Value built_in(std::string_view name, const std::vector<Value>& arguments) {
    if (name == "range" && (arguments.size() == 1 || arguments.size() == 2))
      return range(arguments.size() == 2 ? integer(arguments[0]) : 0, integer(arguments.back()));
    if ((name == "min" || name == "max") && arguments.size() > 1)
      return extreme(name == "max", listed(arguments));
    if (arguments.size() != 1) stop(ProgramFailure::name);
    const Value& only = arguments[0];
    if (name == "abs") return integer(only) < 0 ? Value::of(subtracted(0, only.number)) : only;
    if (name == "len") return Value::of(static_cast<std::int64_t>(list(only).size()));
    if (name == "min" || name == "max") return extreme(name == "max", only);
    if (name == "sum") {
      std::int64_t total = 0;
      for (const std::int64_t item : list(only)) step(), total = added(total, item);
      return Value::of(total);
    }
    if (name != "sort" && name != "reverse") stop(ProgramFailure::name);
    make(list(only).size());
    ProgramList made = *only.list;
    if (name == "sort")
      std::sort(made.begin(), made.end());
    else
      std::reverse(made.begin(), made.end());
    return Value::of(std::move(made));
  }
  Value range(std::int64_t first, std::int64_t end) {
    if (end <= first) return Value::of(ProgramList{});
    const std::int64_t count = subtracted(end, first);
    make(static_cast<std::size_t>(std::min(count, limits_.elements + 1)));
    ProgramList made;
    for (std::int64_t item = first; item < end; ++item) made.push_back(item);
    return Value::of(std::move(made));
  }
  Value extreme(bool largest, const Value& of) {
    const ProgramList& items = list(of);
    if (items.empty()) stop(ProgramFailure::empty);
    step(static_cast<std::int64_t>(items.size()));
    return Value::of(largest ? *std::max_element(items.begin(), items.end())
                             : *std::min_element(items.begin(), items.end()));
  }

  const ProgramNode& root_;
  const ProgramLimits limits_;
  std::int64_t steps_ = 0, elements_ = 0;
  int depth_ = 0;
};

}  // namespace

bool ProgramValue::operator==(const ProgramValue& other) const {
  if (!list || !other.list) return !list && !other.list && number == other.number;
  return *list == *other.list;
}

std::string to_string(const ProgramValue& value) {
  if (!value.list) return std::to_string(value.number);
  std::string text = "[";
  for (const std::int64_t item : *value.list)
    text += (text.size() > 1 ? ", " : "") + std::to_string(item);
  return text + "]";
}

std::string to_string(ProgramFailure failure) {
  constexpr const char* kNames[] = {"none",  "steps", "memory", "depth", "overflow", "division",
                                    "index", "kind",  "name",   "empty", "no_return"};
  return kNames[static_cast<int>(failure)];
}

ProgramOutcome Program::run(std::string_view function, const std::vector<ProgramValue>& arguments,
                            const ProgramLimits& limits) const {
  ProgramOutcome outcome;
  if (!root_) {
    outcome.failure = ProgramFailure::name;
    return outcome;
  }
  Run run(*root_, limits);
  try {
    outcome.value = run.call(function, arguments);
  } catch (const Ended& ended) {
    outcome.failure = ended.why;
  }
  outcome.steps = run.steps();
  return outcome;
}

}  // namespace draftlab
