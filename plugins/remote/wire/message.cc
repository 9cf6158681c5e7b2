#include "plugins/remote/wire/message.h"

#include <algorithm>

#include "core/base/text.h"

namespace draftlab::remote {
namespace {

constexpr std::size_t kAlignment = 8;
// The parser descends by recursion, so the depth of a header is limited.
constexpr int kDeepest = 32;

std::size_t aligned(std::size_t at) { return (at + kAlignment - 1) / kAlignment * kAlignment; }

// Returns the bytes of a number of that type, or 0 for a type that the wire does not know.
std::size_t width(const std::string& type) {
  if (type == "|u1" || type == "|b1") return 1;
  if (type == "<i4" || type == "<f4") return 4;
  return type == "<i8" || type == "<f8" ? 8 : 0;
}

bool is_utf8(const std::string& text) { return invalid_utf8(text) == std::string::npos; }

// This parser builds the header, and stops where it is nested too deep or holds a text that is not
// UTF-8, which no error that quotes it could print.
struct Builder : nlohmann::detail::json_sax_dom_parser<Json> {
  using Base = nlohmann::detail::json_sax_dom_parser<Json>;
  explicit Builder(Json& header) : Base(header, false) {}
  int depth = 0;
  bool start_object(std::size_t size) { return ++depth <= kDeepest && Base::start_object(size); }
  bool start_array(std::size_t size) { return ++depth <= kDeepest && Base::start_array(size); }
  bool string(std::string& text) { return is_utf8(text) && Base::string(text); }
  bool key(std::string& text) { return is_utf8(text) && Base::key(text); }
  bool end_object() {
    --depth;
    return Base::end_object();
  }
  bool end_array() {
    --depth;
    return Base::end_array();
  }
};

}  // namespace

std::string plain(const Json::exception& error) {
  constexpr int kNoList = 304, kNoMap = 305, kTooShort = 401;
  if (error.id == kNoList || error.id == kNoMap)
    return "a list or a map is wanted where something else stands";
  const std::string text = error.what();  // It begins with "[json.exception.KIND.ID] ".
  const std::string its = text.substr(std::min(text.size(), text.find("] ") + 2));
  return error.id == kTooShort ? "a list is too short (" + its + ")" : its;
}

std::string not_allowed(const Json& header, const Json::exception& error) {
  constexpr std::size_t kMost = 160;
  std::string text = header.dump(-1, ' ', true);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text + ", which docs/WIRE.md does not allow: " + plain(error);
}

std::vector<std::uint8_t> packed(const Json& header) { return Json::to_msgpack(header); }

Json unpacked(std::span<const std::uint8_t> bytes) {
  Json header;
  Builder builder(header);
  const bool whole = Json::sax_parse(bytes.data(), bytes.data() + bytes.size(), &builder,
                                     nlohmann::detail::input_format_t::msgpack);
  if (!whole || builder.is_errored() || !header.is_object())
    throw MalformedMessage("a header that is no MessagePack map of UTF-8 texts");
  return header;
}

void Message::append(const char* name, const char* type, Json shape,
                     std::span<const std::byte> bytes) {
  payload.resize(aligned(payload.size()));
  payload.insert(payload.end(), bytes.begin(), bytes.end());
  header["arrays"].push_back({name, type, std::move(shape)});
}

bool Message::has(const std::string& name) const {
  const auto arrays = header.find("arrays");
  return arrays != header.end() && std::any_of(arrays->begin(), arrays->end(), [&](const Json& it) {
           return it.is_array() && it.size() == 3 && it[0] == name;
         });
}

std::vector<std::int64_t> Message::shape(const std::string& name) const {
  for (const Json& array : header.value("arrays", Json::array()))
    if (array.is_array() && array.size() == 3 && array[0] == name) {
      if (!array[2].is_array() ||
          !std::all_of(array[2].begin(), array[2].end(),
                       [](const Json& it) { return it.is_number_unsigned(); }))
        throw MalformedMessage("an array of shape {}", array[2].dump());
      return array[2].get<std::vector<std::int64_t>>();
    }
  throw MalformedMessage("no array '{}'", name);
}

std::vector<double> Message::numbers(const std::string& name) const {
  const std::vector<std::int64_t> its = shape(name);
  if (its.size() != 1)
    throw MalformedMessage("an array of shape {}, where a row is due", Json(its).dump());
  for (const Json& array : header.at("arrays"))
    if (array.at(0) == name && array.at(1) == dtype<float>()) {
      const std::span<const float> row = this->array<float>(name);
      return {row.begin(), row.end()};
    }
  const std::span<const double> row = array<double>(name);
  return {row.begin(), row.end()};
}

std::span<const std::byte> Message::find(const std::string& name, const char* type) const {
  std::size_t at = 0;
  for (const Json& array : header.value("arrays", Json::array())) {
    if (!array.is_array() || array.size() != 3 || !array[1].is_string() || !array[2].is_array())
      throw MalformedMessage("a list of arrays that is none");
    const std::size_t each = width(array[1]);
    if (each == 0) throw MalformedMessage("an array of type {}", array[1].dump());
    std::uint64_t count = 1;
    for (const Json& size : array[2]) {
      if (!size.is_number_unsigned())
        throw MalformedMessage("an array of shape {}", array[2].dump());
      if (__builtin_mul_overflow(count, size.get<std::uint64_t>(), &count) ||
          count > payload.size())
        throw MalformedMessage("an array of shape {} that is longer than its message",
                               array[2].dump());
    }
    at = aligned(at);
    if (at > payload.size() || count * each > payload.size() - at)
      throw MalformedMessage("an array of shape {} that is longer than its message",
                             array[2].dump());
    if (array[0] == name) {
      if (array[1] != type)
        throw MalformedMessage("array '{}' of type {} where the wire has {}", name,
                               array[1].get<std::string>(), type);
      return std::span(payload).subspan(at, count * each);
    }
    at += count * each;
  }
  throw MalformedMessage("no array '{}'", name);
}

}  // namespace draftlab::remote
