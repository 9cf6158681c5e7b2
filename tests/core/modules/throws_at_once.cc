// A library that throws a number where it is to register its plugins.
#include "core/config/plugin.h"

DRAFTLAB_SHARED_PLUGIN() { throw 7; }
