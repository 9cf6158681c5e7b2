// A message between draftlab and another process (docs/WIRE.md) has a MessagePack header, and
// behind it the raw arrays that the header names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace draftlab::remote {

using Json = nlohmann::json;

inline constexpr int kVersion = 2;
// This side accepts no more bytes than these in a message; the handshake announces the limits.
inline constexpr std::uint64_t kMostHeader = 16 << 20, kMostPayload = std::uint64_t{1} << 30;

// A message that breaks the rules of the wire. Its sentence, a form like those of errors, says
// which rule it breaks.
struct MalformedMessage : std::runtime_error {
  template <class... Values>
  explicit MalformedMessage(fmt::format_string<Values...> form, Values&&... values)
      : std::runtime_error(filled_in(form, fmt::make_format_args(values...))) {}
};

// Returns a number of a header. Throws MalformedMessage where it is no whole number, or the type
// cannot hold it.
template <class Whole>
Whole whole(const Json& number) {
  if (!number.is_number_integer() ||
      (number.is_number_unsigned() ? !std::in_range<Whole>(number.get<std::uint64_t>())
                                   : !std::in_range<Whole>(number.get<std::int64_t>())))
    throw MalformedMessage("{} where a whole number stands", number.dump());
  return number.get<Whole>();
}

// Says in words what was looked for in a header and not found there.
std::string plain(const Json::exception& error);
// The same as a clause of a sentence that begins with who sent the header.
std::string not_allowed(const Json& header, const Json::exception& error);

// Returns the name of a number's type as numpy spells it.
template <class Number>
constexpr const char* dtype();
template <>
constexpr const char* dtype<std::int32_t>() {
  return "<i4";
}
template <>
constexpr const char* dtype<std::int64_t>() {
  return "<i8";
}
template <>
constexpr const char* dtype<float>() {
  return "<f4";
}
template <>
constexpr const char* dtype<double>() {
  return "<f8";
}
template <>
constexpr const char* dtype<std::uint8_t>() {
  return "|u1";
}

struct Message {
  Json header = Json::object();
  std::vector<std::byte> payload;

  // Appends an array of one dimension, or of several whose sizes multiply to its length.
  template <class Number>
  void add(const char* name, std::span<const Number> values, Json shape = Json::array()) {
    if (shape.empty()) shape = {values.size()};
    append(name, dtype<Number>(), std::move(shape), std::as_bytes(values));
  }
  bool has(const std::string& name) const;
  // Returns the array of that name. Throws MalformedMessage where there is none, or its type is
  // another.
  template <class Number>
  std::span<const Number> array(const std::string& name) const {
    const std::span<const std::byte> bytes = find(name, dtype<Number>());
    return {reinterpret_cast<const Number*>(bytes.data()), bytes.size() / sizeof(Number)};
  }
  // Returns an array of one dimension as numbers in double precision, whatever its type of floats.
  std::vector<double> numbers(const std::string& name) const;
  std::vector<std::int64_t> shape(const std::string& name) const;

 private:
  void append(const char* name, const char* type, Json shape, std::span<const std::byte> bytes);
  std::span<const std::byte> find(const std::string& name, const char* type) const;
};

// Turns a header into bytes, and back. Throws MalformedMessage for bytes that are no MessagePack
// map of UTF-8 texts, or that nest too deep.
std::vector<std::uint8_t> packed(const Json& header);
Json unpacked(std::span<const std::uint8_t> bytes);

}  // namespace draftlab::remote
