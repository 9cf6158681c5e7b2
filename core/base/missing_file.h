// The hint that follows the name of a file that does not exist.
#pragma once

#include <string>

namespace draftlab {

// Returns "; did you mean 'configs/quickstart.ini'?" for a path beside which something has nearly
// its name, and "" where there is nothing near.
std::string file_hint(const std::string& path);

}  // namespace draftlab
