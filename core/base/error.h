// Errors that end a command. Each is one sentence naming file, key, value and rule; `main` alone
// catches them.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace draftlab {

// Returns `form` with each {} replaced by its value. The sentences below are written by it, so that
// a file which throws an error compiles no formatting code.
std::string filled_in(fmt::string_view form, fmt::format_args values);

// The base of every error that a user can cause. `status` is the exit status of the process
// (sysexits).
class Error : public std::runtime_error {
 public:
  Error(int status, const std::string& what) : std::runtime_error(what), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

// An error with a status of its own. Its sentence is a whole text, or a form whose {} are filled in
// with values: DataError("'{}' line {} is empty", path, line). The compiler checks the form.
template <int kStatus>
struct ErrorOf : Error {
  explicit ErrorOf(const std::string& what) : Error(kStatus, what) {}
  template <class... Values>
  requires(sizeof...(Values) > 0) ErrorOf(fmt::format_string<Values...> form, Values&&... values)
      : Error(kStatus, filled_in(form, fmt::make_format_args(values...))) {}
};

struct UsageError : ErrorOf<64> {
  using ErrorOf::ErrorOf;
};
struct DataError : ErrorOf<65> {
  using ErrorOf::ErrorOf;
};
struct OutputError : ErrorOf<73> {
  using ErrorOf::ErrorOf;
};
struct ConfigError : ErrorOf<78> {
  using ErrorOf::ErrorOf;
};

// An error of the program or of a plugin, not of the user: a broken contract, or a random site that
// was drawn twice.
struct Fault : ErrorOf<70> {
  using ErrorOf::ErrorOf;
};

// Collects all that is wrong with a config, so that a user sees all of it at once.
class Diagnostics {
 public:
  void add(std::string sentence) { sentences_.push_back(std::move(sentence)); }
  // Adds a form whose {} are filled in with the values.
  template <class... Values>
  requires(sizeof...(Values) > 0) void add(fmt::format_string<Values...> form, Values&&... values) {
    add(filled_in(form, fmt::make_format_args(values...)));
  }
  bool empty() const { return sentences_.empty(); }
  const std::vector<std::string>& sentences() const { return sentences_; }
  // Throws ConfigError with one sentence a line when there is any. Those about one file stand
  // in the order of its lines.
  void raise() const;

 private:
  std::vector<std::string> sentences_;
};

// Returns the candidate nearest to `word` by edit distance, or "" when none is near enough to
// suggest.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace draftlab
