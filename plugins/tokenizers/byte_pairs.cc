#include "plugins/tokenizers/byte_pairs.h"

#include <algorithm>
#include <array>
#include <queue>

#include "core/base/error.h"
#include "core/base/text.h"

namespace draftlab {
namespace {

constexpr bool printable(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
  // The code point that spells a byte.
  std::array<std::uint16_t, 256> point{};
  // The byte that a code point spells; -1 where it spells none.
  std::array<std::int16_t, 512> byte{};
  constexpr Alphabet() {
    for (auto& one : byte) one = -1;
    for (int b = 0, others = 0; b < 256; ++b) {
      point[static_cast<std::size_t>(b)] =
          static_cast<std::uint16_t>(printable(b) ? b : 256 + others++);
      byte[point[static_cast<std::size_t>(b)]] = static_cast<std::int16_t>(b);
    }
  }
};
constexpr Alphabet kAlphabet;

}  // namespace

std::string spelled_bytes(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) append_point(out, kAlphabet.point[static_cast<unsigned char>(c)]);
  return out;
}

bool read_spelling(std::string_view spelling, std::string* bytes) {
  bytes->clear();
  for (std::size_t at = 0; at < spelling.size();) {
    const Point read = read_point(spelling, at);
    if (read.bytes == 0 || read.point >= kAlphabet.byte.size() || kAlphabet.byte[read.point] < 0)
      return false;
    *bytes += static_cast<char>(kAlphabet.byte[read.point]);
    at += read.bytes;
  }
  return true;
}

BytePairs::BytePairs(Vocabulary vocabulary, const Merges& merges, bool whole_words,
                     const std::string& file)
    : vocabulary_(std::move(vocabulary)), whole_words_(whole_words), file_(file) {
  const auto token = [&](const std::string& spelling) {
    const auto found = vocabulary_.find(spelling);
    return found == vocabulary_.end() ? kNoToken : found->second;
  };
  for (int b = 0; b < 256; ++b) {
    const char byte = static_cast<char>(b);
    byte_[b] = token(spelled_bytes({&byte, 1}));
  }
  merges_.reserve(merges.size());
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const auto& [left, right] = merges[i];
    const Token first = token(left), second = token(right), both = token(left + right);
    if (first == kNoToken || second == kNoToken || both == kNoToken)
      throw DataError("'{}' merge {} ('{}' and '{}'): '{}' is not in the vocabulary", file_, i + 1,
                      left, right,
                      first == kNoToken    ? left
                      : second == kNoToken ? right
                                           : left + right);
    merges_[key(first, second)] = {static_cast<std::int32_t>(i), both};
  }
}

void BytePairs::encode(std::string_view word, std::vector<Token>& tokens) const {
  const auto whole = whole_words_ ? vocabulary_.find(spelled_bytes(word)) : vocabulary_.end();
  if (whole != vocabulary_.end()) return tokens.push_back(whole->second);
  // What is left of the word is a linked list. A merge puts the pair into its first place and takes
  // out the second.
  struct Symbol {
    Token token;
    std::int32_t before, behind;
  };
  struct Pair {
    std::int32_t rank, place;
    Token token;
  };
  const auto later = [](const Pair& a, const Pair& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.place > b.place;
  };
  const auto end = static_cast<std::int32_t>(word.size());
  std::vector<Symbol> symbols(word.size());
  const auto at = [&](std::int32_t place) -> Symbol& {
    return symbols[static_cast<std::size_t>(place)];
  };
  for (std::int32_t i = 0; i < end; ++i) {
    const auto byte = static_cast<unsigned char>(word[static_cast<std::size_t>(i)]);
    if (byte_[byte] == kNoToken)
      throw DataError("'{}' has no token for the byte {}, which the text has", file_, byte);
    at(i) = {byte_[byte], i - 1, i + 1};
  }
  std::vector<Pair> heap;
  // Returns the merge of the symbol at `place` and the next one, and nullptr where there is none.
  const auto merge_at = [&](std::int32_t place) -> const Merge* {
    const Symbol& symbol = at(place);
    if (symbol.token == kNoToken || symbol.behind == end) return nullptr;
    const auto found = merges_.find(key(symbol.token, at(symbol.behind).token));
    return found == merges_.end() ? nullptr : &found->second;
  };
  const auto offer = [&](std::int32_t place) {
    if (const Merge* merge = merge_at(place)) {
      heap.push_back({merge->rank, place, merge->token});
      std::push_heap(heap.begin(), heap.end(), later);
    }
  };
  for (std::int32_t i = 0; i + 1 < end; ++i) offer(i);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    const Pair pair = heap.back();
    heap.pop_back();
    const Merge* merge = merge_at(pair.place);
    // One of the two has been merged meanwhile.
    if (!merge || merge->rank != pair.rank) continue;
    Symbol &symbol = at(pair.place), &gone = at(symbol.behind);
    symbol.token = pair.token;
    symbol.behind = gone.behind;
    gone.token = kNoToken;
    if (symbol.behind != end) at(symbol.behind).before = pair.place;
    if (symbol.before >= 0) offer(symbol.before);
    offer(pair.place);
  }
  for (std::int32_t i = 0; i < end; i = at(i).behind) tokens.push_back(at(i).token);
}

}  // namespace draftlab
