// Whose fault it is when a contract is broken: a part, a model or a task, by its kind and name.
#pragma once

#include <string>

#include "core/base/error.h"

namespace draftlab {

// An error of a part that a plugin brought: a Python file, a server or a library. It broke its
// contract, failed, hung or ended. Fault is kept for what draftlab itself did wrong.
struct PartFault : ErrorOf<76> {
  using ErrorOf::ErrorOf;
};

struct Author {
  std::string kind, name;
  // What --plugin named; empty for the parts of draftlab's own tree.
  std::string plugin = {};

  // Returns "router 'min-span'", or "router 'mine' (mine.py)".
  std::string who() const;
  // Throws a sentence that goes on after the name: a PartFault about a plugin's part, and a Fault
  // about one of draftlab's own.
  template <class... Values>
  [[noreturn]] void blame(fmt::format_string<Values...> form, Values&&... values) const {
    fail(filled_in(form, fmt::make_format_args(values...)));
  }

 private:
  [[noreturn]] void fail(const std::string& sentence) const;
};

// Throws the exception that is being handled. Where a plugin's part threw it, it becomes a
// PartFault that names the part, but for errors of the user (a config, a file) and PartFaults of
// others.
[[noreturn]] void rethrow_in_name_of(const Author& author);

// Returns what `call` returns, or throws as above.
template <class Call>
decltype(auto) in_name_of(const Author& author, const Call& call) {
  try {
    return call();
  } catch (...) {
    rethrow_in_name_of(author);
  }
}

}  // namespace draftlab
