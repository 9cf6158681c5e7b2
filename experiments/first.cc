// The first program: `draftlab run configs/quickstart.ini` and nothing else. The launcher builds
// and runs it before the whole program, so that a newcomer sees a result after a third of the
// build. cmake/first.cmake finds out which files it needs.
#include "plugins/first.h"
#include "core/base/error.h"
#include "core/config/plugin.h"
#include "experiments/commands.h"
#include "experiments/program.h"

namespace {

// The status by which the launcher knows that the whole program is needed.
constexpr int kNotInThisProgram = 69;

int run_quickstart(const std::vector<std::string>& words) {
  using namespace draftlab;
  if (words.empty() || words[0] != "run") return kNotInThisProgram;
  try {
    return run_command_line(run_command(), words, [](Parsed& parsed, Registries& registries) {
      if (!parsed.line.plugins.empty()) throw ConfigError("this program loads no plugins");
#define DRAFTLAB_CALL_PLUGIN(kind, name) register_##kind##_##name(registries);
      DRAFTLAB_FIRST_PLUGINS(DRAFTLAB_CALL_PLUGIN)
#undef DRAFTLAB_CALL_PLUGIN
    });
  } catch (const ConfigError&) {
    // The config may be wrong, or name a part that is not here: the whole program can tell.
    return kNotInThisProgram;
  }
}

}  // namespace

int main(int argc, char** argv) {
  return draftlab::status_of([&] { return run_quickstart({argv + 1, argv + argc}); });
}
