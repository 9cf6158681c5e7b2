#include "experiments/endpoint/text_stream.h"

#include <algorithm>

namespace draftlab {
namespace {

// The length of the longest end of `text` with which `stop` begins, without being all of it.
std::size_t begun(const std::string& text, const std::string& stop) {
  for (std::size_t length = std::min(text.size(), stop.size() - 1); length > 0; --length)
    if (text.compare(text.size() - length, length, stop, 0, length) == 0) return length;
  return 0;
}

// How many bytes at the end are the beginning of a character of UTF-8. Tokenizers write U+FFFD for
// such bytes.
std::size_t unfinished(const std::string& text) {
  constexpr const char* kReplacement = "\xEF\xBF\xBD";
  std::size_t end = text.size();
  while (end >= 3 && text.compare(end - 3, 3, kReplacement) == 0) end -= 3;
  if (end < text.size()) return text.size() - end;
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, end); ++back) {
    const auto byte = static_cast<unsigned char>(text[end - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace

std::string TextStream::grow(const std::string& text, bool whole) {
  if (stopped_ || text.compare(0, handed_.size(), handed_) != 0) return "";
  std::size_t end = text.size();
  for (const std::string& stop : stops_) {
    const std::size_t found = text.find(stop, handed_.size());
    if (found == std::string::npos || found > end) continue;
    end = found;
    stopped_ = true;
  }
  if (!stopped_ && !whole) {
    std::size_t kept = unfinished(text);
    for (const std::string& stop : stops_) kept = std::max(kept, begun(text, stop));
    end = std::max(handed_.size(), end - kept);
  }
  std::string piece = text.substr(handed_.size(), end - handed_.size());
  handed_ += piece;
  return piece;
}

}  // namespace draftlab
