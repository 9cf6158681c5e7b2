// Reads parallel text: two plain files that hold, line by line, a sentence and its translation.
#pragma once

#include <string>
#include <vector>

namespace draftlab {

struct SentencePair {
  std::string source, target;
  std::size_t line = 0;  // The line, counted from 1.
};

// Lines whose both sides are blank are passed over. Throws DataError when a file cannot be read,
// when the files differ in their number of lines, when one side of a line alone is blank, or when
// nothing is left.
std::vector<SentencePair> read_parallel(const std::string& source_path,
                                        const std::string& target_path);
// Does the same with texts; `source_name` and `target_name` are for messages.
std::vector<SentencePair> parse_parallel(const std::string& source, const std::string& source_name,
                                         const std::string& target, const std::string& target_name);

}  // namespace draftlab
