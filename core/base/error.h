// Errors that end a command. Each is one sentence naming file, key, value and rule; `main` alone
// catches them.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace draftlab {

// Base of every error a user can cause; `status` is the process's exit status (sysexits).
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
};  // cannot create or write
struct ConfigError : Error {
  explicit ConfigError(const std::string& what) : Error(78, what) {}
};

// A fault of ours or of a plugin: a broken contract, a site drawn twice.
struct Fault : Error {
  explicit Fault(const std::string& what) : Error(70, what) {}
};

// Collects every fault of a config, so that a user sees all of them at once.
class Faults {
 public:
  void add(std::string sentence) { sentences_.push_back(std::move(sentence)); }
  bool empty() const { return sentences_.empty(); }
  const std::vector<std::string>& sentences() const { return sentences_; }
  // Throws ConfigError with one sentence a line when there is any.
  void raise() const;

 private:
  std::vector<std::string> sentences_;
};

// The candidate nearest to `word` by edit distance, or "" when none is near enough to suggest.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace draftlab
