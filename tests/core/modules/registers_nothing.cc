// A library that is a plugin and brings no part.
#include "core/config/plugin.h"

DRAFTLAB_SHARED_PLUGIN() {}
