// Writes large numbers as people say them.
#pragma once

#include <cstdint>
#include <string>

namespace draftlab {

// Three digits and a unit: "855", "1.63M", "30M", "4.1B".
std::string count_text(std::int64_t count);

}  // namespace draftlab
