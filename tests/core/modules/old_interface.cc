// A plugin built against another version of the interface.
extern "C" const char* draftlab_plugin_abi();
extern "C" void draftlab_plugin_register(void*);

extern "C" const char* draftlab_plugin_abi() { return "draftlab-plugin-0/old"; }
// The program must not call it.
extern "C" void draftlab_plugin_register(void*) { __builtin_trap(); }
