// The words for the values of an enum. A function words(Enum) beside the enum lists them in order;
// options read and write these words.
#pragma once

#include <cstddef>
#include <string_view>

namespace draftlab {

template <class Enum>
constexpr std::string_view word(Enum value) {
  return words(value)[static_cast<std::size_t>(value)];
}

}  // namespace draftlab
