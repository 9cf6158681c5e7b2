#include "plugins/tokenizers/xlnet_text.h"

#include <algorithm>

#include "core/base/text.h"

namespace draftlab {
namespace {

// For U+00C0 to U+017F: the letter without its accent, or '.' where there is nothing to drop. The
// comment beside each row is its first code point.
constexpr std::string_view kLatin =
    "AAAAAA.CEEEEIIII"   // From U+00C0.
    ".NOOOOO..UUUUY.."   // From U+00D0.
    "aaaaaa.ceeeeiiii"   // From U+00E0.
    ".nooooo..uuuuy.y"   // From U+00F0.
    "AaAaAaCcCcCcCcDd"   // From U+0100.
    "..EeEeEeEeEeGgGg"   // From U+0110.
    "GgGgHh..IiIiIiIi"   // From U+0120.
    "I...JjKk.LlLlLl."   // From U+0130.
    "...NnNnNn...OoOo"   // From U+0140.
    "Oo..RrRrRrSsSsSs"   // From U+0150.
    "SsTtTt..UuUuUuUu"   // From U+0160.
    "UuUuWwYyYZzZzZz.";  // From U+0170.

}  // namespace

std::string clean_text(std::string_view text) {
  std::string out;
  bool gap = false;
  for (std::size_t at = 0; at < text.size();) {
    const Point read = read_point(text, at);
    const std::string_view bytes = text.substr(at, std::max<std::size_t>(read.bytes, 1));
    at += bytes.size();
    if (white_space(read.point)) {
      gap = !out.empty();
      continue;
    }
    if (read.point >= 0x300 && read.point <= 0x36F) continue;
    if (gap) out += ' ';
    gap = false;
    const bool latin =
        read.point >= 0xC0 && read.point < 0xC0 + kLatin.size() && kLatin[read.point - 0xC0] != '.';
    if (latin)
      out += kLatin[read.point - 0xC0];
    else if ((read.point == '`' || read.point == '\'') &&
             out.ends_with(static_cast<char>(read.point)))
      out.back() = '"';
    else
      out += bytes;
  }
  return out;
}

}  // namespace draftlab
