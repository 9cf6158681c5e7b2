// Where the configs lie that come with draftlab.
#pragma once

#include <filesystem>

namespace draftlab {

// Returns the folder of configs that lies beside this program's Python package, in the source tree
// and in an installation alike. Throws DataError where there is none.
std::filesystem::path config_folder();

}  // namespace draftlab
