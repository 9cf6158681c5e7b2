#include "core/parts/corpus.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <numeric>
#include <sstream>

#include "core/base/documents.h"
#include "core/base/error.h"

namespace draftlab {

Corpus::Corpus(const std::string& path) {
  std::size_t number = 0;
  for (const std::string& line : all_lines(read_utf8(path))) {
    ++number;
    if (blank(line)) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      Token token = kNoToken;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), token);
      if (error != std::errc() || end != word.data() + word.size() || token < 0 ||
          token > (1 << 24))
        throw DataError(
            "{}:{}: '{}' is no token id; a line of a corpus is a text, its ids separated by white "
            "space",
            path, number, word);
      tokens_.push_back(token);
      if (token >= static_cast<Token>(counts_.size())) counts_.resize(token + 1, 0);
      ++counts_[token];
    }
    tokens_.push_back(kNoToken);
    ++texts_;
  }
  if (texts_ == 0) throw DataError("{}: the corpus has no text", path);

  order_.resize(tokens_.size());
  std::iota(order_.begin(), order_.end(), 0);
  const auto from = [&](std::int32_t place) { return tokens_.begin() + place; };
  const auto until = [&](std::int32_t place) {
    return tokens_.begin() + static_cast<std::ptrdiff_t>(std::min(
                                 tokens_.size(), static_cast<std::size_t>(place) + kLongest));
  };
  std::stable_sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
    return std::lexicographical_compare(from(a), until(a), from(b), until(b));
  });
}

std::shared_ptr<const Corpus> Corpus::read(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Corpus>> known;
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<const Corpus>& corpus = known[path];
  if (!corpus) corpus.reset(new Corpus(path));
  return corpus;
}

std::vector<std::int32_t> Corpus::behind(std::span<const Token> run) const {
  const auto compare = [&](std::int32_t place) {
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (place + i >= tokens_.size()) return -1;
      const Token token = tokens_[place + i];
      if (token != run[i]) return token < run[i] ? -1 : 1;
    }
    return 0;
  };
  const auto first = std::partition_point(order_.begin(), order_.end(),
                                          [&](std::int32_t place) { return compare(place) < 0; });
  const auto last = std::partition_point(first, order_.end(),
                                         [&](std::int32_t place) { return compare(place) == 0; });
  std::vector<std::int32_t> places(first, last);
  for (std::int32_t& place : places) place += static_cast<std::int32_t>(run.size());
  return places;
}

}  // namespace draftlab
