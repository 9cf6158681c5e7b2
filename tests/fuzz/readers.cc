// Feeds damaged CSV files, JSON lines and UTF-8 to the readers. A reader may return or refuse with a DataError; anything else,
// a crash, a hang or another exception, is a fault. Mutations are drawn by `Chance`, so a failing round can be run again:
//   fuzz_readers ROUNDS FIRST
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "core/chance.h"
#include "core/error.h"
#include "plugins/tasks/documents.h"
#include "plugins/tasks/five_sentences.h"
#include "plugins/tokenizers/utf8.h"

namespace draftlab {
namespace {

// The numbers of one round.
class Draw {
 public:
  explicit Draw(std::uint64_t round) : site_{round, 0, Purpose::train, 0, 0} {}
  std::size_t below(std::size_t count) {
    ++site_.position;
    return static_cast<std::size_t>(SampledChance::uniform(1, site_) * static_cast<double>(count));
  }

 private:
  Site site_;
};

const std::vector<std::string> kSeeds = {
    "sentence1,sentence2,sentence3,sentence4,sentence5\na.,\"b, \"\"c\"\".\",d.,e.,f.\n",
    "document_id,text\r\nt,\"one\r\ntwo\"\r\nt,three\r\n",
    "{\"text\": \"one \\u00e9\", \"more\": [1, {\"a\": null}]}\n\n{\"text\": \"two\"}\n",
    "caf\xC3\xA9 ``quoted'' \xE2\x82\xAC 3.50! \"Yes.\" He said.\n\nNext? No.",
};
const std::vector<std::string> kScraps = {"\"", "\"\"", ",", "\n", "\r\n", "\r", "{", "}", "[[[[[[[[", "\\u", "\\ud800", "\xFF", "\xE2\x82", "\xF4\x90\x80\x80",
                                          std::string(1, '\0'), "text", "1e999999", ".", "! ", "'", "``"};

std::string mutated(Draw& draw) {
  std::string text = kSeeds[draw.below(kSeeds.size())];
  for (std::size_t edits = 1 + draw.below(8); edits > 0; --edits) {
    const std::size_t at = draw.below(text.size() + 1);
    switch (draw.below(5)) {
      case 0: text.insert(at, kScraps[draw.below(kScraps.size())]); break;
      case 1: text.erase(at, draw.below(8)); break;
      case 2: if (at < text.size()) text[at] = static_cast<char>(draw.below(256)); break;
      case 3: text.insert(at, text.substr(draw.below(text.size() + 1), draw.below(20))); break;
      default: text.resize(at);
    }
  }
  return text;
}

struct Tally { long taken = 0, refused = 0; };

template <class Read> void attempt(Tally& tally, Read read) {
  try {
    read();
    ++tally.taken;
  } catch (const DataError& error) {
    if (std::string(error.what()).empty()) throw Fault("a refusal without words");
    ++tally.refused;
  }
}

void round(std::uint64_t number, Tally& tally) {
  Draw draw(number);
  const std::string text = mutated(draw);
  const bool valid = invalid_utf8(text) == std::string::npos;
  attempt(tally, [&] {
    const Table table = parse_csv(text, "fuzz.csv");
    for (const auto& row : table.rows) if (row.size() != table.columns.size()) throw Fault("a row of another width than the header");
    if (table.lines.size() != table.rows.size()) throw Fault("rows without line numbers");
  });
  if (!valid) return;  // files are refused before they reach the rest
  attempt(tally, [&] { parse_jsonl(text, "fuzz.jsonl", "text"); });
  attempt(tally, [&] {
    if (invalid_utf8(clean_text(text)) != std::string::npos) throw Fault("cleaning broke UTF-8");
    std::size_t bytes = 0;
    for (const std::string& sentence : sentences_of(text)) bytes += sentence.size();
    if (bytes > text.size()) throw Fault("sentences longer than their text");
  });
}

}  // namespace
}  // namespace draftlab

int main(int count, char** arguments) {
  const std::uint64_t rounds = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 100000;
  const std::uint64_t first = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 0;
  draftlab::Tally tally;
  for (std::uint64_t i = first; i < first + rounds; ++i) {
    try {
      draftlab::round(i, tally);
    } catch (const std::exception& error) {
      std::cerr << "round " << i << ": " << error.what() << "\n";
      return 1;
    }
  }
  std::cout << rounds << " rounds: " << tally.taken << " inputs taken, " << tally.refused << " refused\n";
  return tally.taken > 0 && tally.refused > 0 ? 0 : 1;
}
