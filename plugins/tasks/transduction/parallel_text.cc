#include "plugins/tasks/transduction/parallel_text.h"

#include <algorithm>

#include "core/base/documents.h"
#include "core/base/error.h"

namespace draftlab {

std::vector<SentencePair> parse_parallel(const std::string& source, const std::string& source_name,
                                         const std::string& target,
                                         const std::string& target_name) {
  const std::vector<std::string> sources = all_lines(source), targets = all_lines(target);
  if (sources.size() != targets.size())
    throw DataError(
        "'{}' has {} lines and '{}' has {}; line by line they must be translations of one another",
        source_name, sources.size(), target_name, targets.size());
  std::vector<SentencePair> pairs;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (blank(sources[i]) && blank(targets[i])) continue;
    if (blank(sources[i]) || blank(targets[i]))
      throw DataError("'{}' line {} is blank, but not its translation",
                      blank(sources[i]) ? source_name : target_name, i + 1);
    pairs.push_back({sources[i], targets[i], i + 1});
  }
  if (pairs.empty()) throw DataError("'{}' holds no text: every line is blank", source_name);
  return pairs;
}

std::vector<SentencePair> read_parallel(const std::string& source_path,
                                        const std::string& target_path) {
  return parse_parallel(read_utf8(source_path), source_path, read_utf8(target_path), target_path);
}

}  // namespace draftlab
