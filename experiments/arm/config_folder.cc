#include "experiments/arm/config_folder.h"

#include "core/base/error.h"
#include "plugins/remote/python_plugin.h"

namespace draftlab {

std::filesystem::path config_folder() {
  const std::filesystem::path package(python_package());
  std::filesystem::path folder = package.parent_path() / "configs";
  if (!std::filesystem::is_directory(folder))
    throw DataError(
        "no configs lie beside this program; they come with its source tree, and with "
        "an installation in share/draftlab/configs");
  return folder;
}

}  // namespace draftlab
