// What the config.json of a widened checkpoint says of itself (`draftlab widen`): the checkpoint
// whose function it computes, at the cost of a larger one.
#pragma once

#include <cstdint>
#include <string>

namespace draftlab {

struct Origin {
  // The parameters of the original checkpoint; 0 when this one was not widened.
  std::int64_t parameters = 0;
  // The digest of its weights.
  std::string digest;
};

// Reads FOLDER/config.json. Throws DataError when the file cannot be read, or when it says
// something else under this key than `draftlab widen` writes.
Origin read_origin(const std::string& folder);
// Adds the origin to a config.json that is there.
void write_origin(const std::string& folder, const Origin& origin);

}  // namespace draftlab
