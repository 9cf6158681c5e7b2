// A corpus of token ids, for parts that look things up in texts of the user's own. Each line of the
// file is a text: its ids, separated by white space (`draftlab export --corpus` writes one).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/prob/types.h"

namespace draftlab {

class Corpus {
 public:
  // The longest run of tokens that can be looked up.
  static constexpr std::size_t kLongest = 64;

  // Reads a corpus, once a process for each file: every sequence has parts of its own. Throws
  // DataError naming the file and line where a word is no id, and when there is no text.
  static std::shared_ptr<const Corpus> read(const std::string& path);

  // All texts, one after the other, each followed by kNoToken.
  const std::vector<Token>& tokens() const { return tokens_; }
  // How often each token occurs; tokens beyond the last of them do not.
  const std::vector<std::int64_t>& counts() const { return counts_; }
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()) - texts_; }
  // Returns the places behind which `run`, of at most kLongest tokens, ends: the indices of what
  // comes next, those that go on alike together.
  std::vector<std::int32_t> behind(std::span<const Token> run) const;

 private:
  explicit Corpus(const std::string& path);

  std::vector<Token> tokens_;
  std::vector<std::int64_t> counts_;
  std::int64_t texts_ = 0;
  // A suffix array: all places, in the order of the tokens that follow there.
  std::vector<std::int32_t> order_;
};

}  // namespace draftlab
