#include "core/base/text.h"

namespace draftlab {

Point read_point(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + bytes > text.size()) return {};
  std::uint32_t point = lead & (0x7F >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {};
    point = point << 6 | (byte(at + i) & 0x3F);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (point < kSmallest[bytes] || (point >= 0xD800 && point < 0xE000) || point > 0x10FFFF)
    return {};
  return {point, bytes};
}

void append_point(std::string& text, std::uint32_t point) {
  const auto rest = [&](int shift) { text += static_cast<char>(0x80 | (point >> shift & 0x3F)); };
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xC0 | point >> 6);
    rest(0);
  } else if (point < 0x10000) {
    text += static_cast<char>(0xE0 | point >> 12);
    rest(6), rest(0);
  } else {
    text += static_cast<char>(0xF0 | point >> 18);
    rest(12), rest(6), rest(0);
  }
}

bool white_space(std::uint32_t point) {
  return point == ' ' || (point >= 9 && point <= 13) || point == 0x85 || point == 0xA0 ||
         point == 0x1680 || (point >= 0x2000 && point <= 0x200A) || point == 0x2028 ||
         point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x3000;
}

std::size_t invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Point read = read_point(text, at);
    if (read.bytes == 0) return at;
    at += read.bytes;
  }
  return std::string_view::npos;
}

std::string mended_utf8(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Point read = read_point(text, at);
    if (read.bytes) {
      out += text.substr(at, read.bytes);
      at += read.bytes;
      continue;
    }
    // Finds the longest beginning of a character: bytes that some continuation would complete.
    std::size_t end = at + 1;
    const auto begins = [&](std::size_t bytes) {
      for (const std::string_view rest :
           {std::string_view("\x80\x80\x80"), std::string_view("\xBF\xBF\xBF")})
        for (std::size_t more = 1; more <= 3; ++more)
          if (const std::string whole =
                  std::string(text.substr(at, bytes)) + std::string(rest.substr(0, more));
              read_point(whole, 0).bytes == whole.size())
            return true;
      return false;
    };
    while (end < text.size() && end - at < 3 && begins(end - at + 1)) ++end;
    out += "\xEF\xBF\xBD";
    at = end;
  }
  return out;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : between).append(word);
  return text;
}

std::string first_sentence(std::string_view comment) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\n'; };
  std::size_t end = 0;
  for (; end < comment.size(); ++end) {
    const bool last = end + 1 == comment.size();
    const char next = last ? '\n' : comment[end + 1];
    if ((comment[end] == '.' || comment[end] == '?') && is_blank(next)) {
      ++end;
      break;
    }
    const bool another = is_blank(next) || (next >= 'A' && next <= 'Z');
    if (comment[end] == '\n' && another) break;
  }
  return one_line(std::string(comment.substr(0, end)));
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

}  // namespace draftlab
