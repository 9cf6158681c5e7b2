#include "plugins/builtin.h"

void register_builtin_plugins(draftlab::Registries& registries) {
#define DRAFTLAB_CALL_PLUGIN(kind, name) register_##kind##_##name(registries);
  DRAFTLAB_BUILTIN_PLUGINS(DRAFTLAB_CALL_PLUGIN)
#undef DRAFTLAB_CALL_PLUGIN
}
