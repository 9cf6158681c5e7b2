#include "plugins/models/nn/checkpoint/origin.h"

#include "core/base/files.h"
#include "plugins/models/nn/checkpoint/config_file.h"

namespace draftlab {
namespace {

constexpr const char* kKey = "widened_from";
}  // namespace

Origin read_origin(const std::string& folder) {
  const std::optional<ConfigFile> stated = ConfigFile::in(folder).object(kKey);
  if (!stated) return {};
  Origin origin;
  origin.parameters = stated->integer("parameters", 1, std::int64_t{1} << 50, 0);
  origin.digest = stated->value<std::string>("digest", "");
  return origin;
}

void write_origin(const std::string& folder, const Origin& origin) {
  const ConfigFile file = ConfigFile::in(folder);
  Json json = file.keys();
  json[kKey] = {{"parameters", origin.parameters}, {"digest", origin.digest}};
  write_whole(file.path(), json.dump(2) + "\n");
}

}  // namespace draftlab
