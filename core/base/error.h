// Errors that end a command. Each is one sentence naming file, key, value and rule; `main` alone
// catches them.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace draftlab {

// The base of every error that a user can cause. `status` is the exit status of the process
// (sysexits).
class Error : public std::runtime_error {
 public:
  Error(int status, const std::string& what) : std::runtime_error(what), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

struct UsageError : Error {
  explicit UsageError(const std::string& what) : Error(64, what) {}
};
struct DataError : Error {
  explicit DataError(const std::string& what) : Error(65, what) {}
};
struct OutputError : Error {
  explicit OutputError(const std::string& what) : Error(73, what) {}
};
struct ConfigError : Error {
  explicit ConfigError(const std::string& what) : Error(78, what) {}
};

// An error of the program or of a plugin, not of the user: a broken contract, or a random site that
// was drawn twice.
struct Fault : Error {
  explicit Fault(const std::string& what) : Error(70, what) {}
};

// Collects every fault of a config, so that a user sees all of them at once.
class Faults {
 public:
  void add(std::string sentence) { sentences_.push_back(std::move(sentence)); }
  bool empty() const { return sentences_.empty(); }
  const std::vector<std::string>& sentences() const { return sentences_; }
  // Throws ConfigError with one sentence a line when there is any fault.
  void raise() const;

 private:
  std::vector<std::string> sentences_;
};

// Returns the candidate nearest to `word` by edit distance, or "" when none is near enough to
// suggest.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace draftlab
