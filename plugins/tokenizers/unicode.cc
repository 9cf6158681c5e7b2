#include "plugins/tokenizers/unicode.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/base/text.h"

namespace draftlab {
namespace {

const icu::Normalizer2* instance(const std::string& form, UErrorCode& error) {
  if (form == "NFC") return icu::Normalizer2::getNFCInstance(error);
  if (form == "NFD") return icu::Normalizer2::getNFDInstance(error);
  if (form == "NFKC") return icu::Normalizer2::getNFKCInstance(error);
  return form == "NFKD" ? icu::Normalizer2::getNFKDInstance(error) : nullptr;
}

}  // namespace

bool is_normal_form(const std::string& name) {
  return name == "NFC" || name == "NFD" || name == "NFKC" || name == "NFKD";
}

std::string normalized(std::string_view text, const std::string& form) {
  if (std::all_of(text.begin(), text.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return std::string(text);
  if (text.size() > std::numeric_limits<int32_t>::max())
    throw DataError("a text of {} bytes is too long to be normalized", text.size());
  UErrorCode error = U_ZERO_ERROR;
  std::string out;
  icu::StringByteSink<std::string> sink(&out, static_cast<int32_t>(text.size()));
  const icu::StringPiece source(text.data(), static_cast<int32_t>(text.size()));
  const icu::Normalizer2* const normalizer = instance(form, error);
  if (normalizer) normalizer->normalizeUTF8(0, source, sink, nullptr, error);
  if (!normalizer || U_FAILURE(error))
    throw Fault("cannot bring a text into the form '{}': {}", form, u_errorName(error));
  return out;
}

bool upper_case(std::uint32_t point) { return u_isUUppercase(static_cast<UChar32>(point)); }
bool lower_case(std::uint32_t point) { return u_isULowercase(static_cast<UChar32>(point)); }

std::string lowered(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Point read = read_point(text, at);
    append_point(out, static_cast<std::uint32_t>(u_tolower(static_cast<UChar32>(read.point))));
    at += std::max<std::size_t>(read.bytes, 1);
  }
  return out;
}

bool word_character(std::uint32_t point) {
  const auto c = static_cast<UChar32>(point);
  constexpr std::uint32_t kMarks = U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK;
  return u_hasBinaryProperty(c, UCHAR_ALPHABETIC) || (U_GET_GC_MASK(c) & kMarks) ||
         u_hasBinaryProperty(c, UCHAR_JOIN_CONTROL);
}

}  // namespace draftlab
