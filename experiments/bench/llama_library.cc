#include "experiments/bench/llama_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace draftlab {
namespace {

void say_nothing(int, const char*, void*) {}

template <class Function>
void find(void* library, const std::string& path, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function)
    throw ConfigError("--bench.llama {} has no function {}, which llama.cpp 0.5 has", path, name);
}

}  // namespace

struct LlamaLibrary::Functions {
  // The settings of a model or of a context, as llama.cpp makes them. They are only handed back to
  // it, by value in memory, for which room for more than they have is enough.
  struct alignas(8) Settings {
    char bytes[1024];
  };

  // llama_batch of llama.h: what is appended to a sequence. Where `sequences` is null, all belong
  // to sequence 0.
  struct Batch {
    std::int32_t count;
    std::int32_t* tokens;
    float* embeddings;
    std::int32_t* positions;
    std::int32_t* sequence_counts;
    std::int32_t** sequences;
    // Says of which tokens the logits are wanted.
    std::int8_t* wanted;
  };

  const char* (*version)();
  const char* (*system_info)();
  void (*log_set)(void (*)(int, const char*, void*), void*);
  void (*load_backends)(const char* folder);
  Settings (*model_settings)();
  Settings (*context_settings)();
  void* (*load_model)(const char* path, Settings settings);
  void (*free_model)(void* model);
  void* (*make_context)(void* model, Settings settings);
  void (*free_context)(void* context);
  std::uint32_t (*room)(const void* context);
  void (*set_threads)(void* context, std::int32_t one, std::int32_t many);
  void* (*memory)(const void* context);
  bool (*forget)(void* memory, std::int32_t sequence, std::int32_t first, std::int32_t end);
  std::int32_t (*decode)(void* context, Batch batch);
  float* (*logits)(void* context, std::int32_t row);
};

LlamaLibrary::LlamaLibrary(const std::string& path) {
  // If the path had no slash, dlopen would search the system's folders.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw ConfigError("--bench.llama {} cannot be loaded: {}", path, dlerror());
  auto call = std::make_unique<Functions>();
  find(library, path, "llama_version", call->version);
  find(library, path, "llama_print_system_info", call->system_info);
  find(library, path, "llama_log_set", call->log_set);
  find(library, path, "ggml_backend_load_all_from_path", call->load_backends);
  find(library, path, "llama_model_default_params", call->model_settings);
  find(library, path, "llama_context_default_params", call->context_settings);
  find(library, path, "llama_model_load_from_file", call->load_model);
  find(library, path, "llama_model_free", call->free_model);
  find(library, path, "llama_init_from_model", call->make_context);
  find(library, path, "llama_free", call->free_context);
  find(library, path, "llama_n_ctx", call->room);
  find(library, path, "llama_set_n_threads", call->set_threads);
  find(library, path, "llama_get_memory", call->memory);
  find(library, path, "llama_memory_seq_rm", call->forget);
  find(library, path, "llama_decode", call->decode);
  find(library, path, "llama_get_logits_ith", call->logits);
  if (!std::string_view(call->version()).starts_with("0.5."))
    throw ConfigError("--bench.llama {} is llama.cpp {}, and 0.5 is known", path, call->version());
  call->log_set(say_nothing, nullptr);
  call->load_backends(std::filesystem::absolute(file).parent_path().c_str());
  call_ = std::move(call);
}

LlamaLibrary::~LlamaLibrary() = default;

std::string LlamaLibrary::description() const {
  return std::string("llama.cpp ") + call_->version() + ", " + call_->system_info();
}

struct LlamaModel::State {
  const LlamaLibrary::Functions& call;
  void *model = nullptr, *context = nullptr;
  ~State() {
    if (context) call.free_context(context);
    if (model) call.free_model(model);
  }
};

LlamaModel::LlamaModel(const LlamaLibrary& library, const std::string& path)
    : state_(new State{*library.call_}) {
  const LlamaLibrary::Functions& call = state_->call;
  state_->model = call.load_model(path.c_str(), call.model_settings());
  if (state_->model) state_->context = call.make_context(state_->model, call.context_settings());
  if (!state_->context) throw DataError("{}: llama.cpp does not load it", path);
  call.set_threads(state_->context, 1, 1);
}

LlamaModel::~LlamaModel() = default;

std::int64_t LlamaModel::room() const { return state_->call.room(state_->context); }

void LlamaModel::append(std::int32_t first, std::span<const Token> tokens) {
  std::vector<std::int32_t> ids(tokens.begin(), tokens.end()), positions;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    positions.push_back(first + static_cast<std::int32_t>(i));
  std::vector<std::int8_t> wanted(tokens.size(), 1);
  const LlamaLibrary::Functions::Batch batch{.count = static_cast<std::int32_t>(ids.size()),
                                             .tokens = ids.data(),
                                             .embeddings = nullptr,
                                             .positions = positions.data(),
                                             .sequence_counts = nullptr,
                                             .sequences = nullptr,
                                             .wanted = wanted.data()};
  if (const std::int32_t status = state_->call.decode(state_->context, batch))
    throw Fault("llama_decode returned {}", status);
}

void LlamaModel::forget(std::int32_t first) {
  if (!state_->call.forget(state_->call.memory(state_->context), 0, first, -1))
    throw Fault("llama.cpp cannot forget what stands behind position {}", first);
}

const float* LlamaModel::logits(std::int32_t row) const {
  return state_->call.logits(state_->context, row);
}

}  // namespace draftlab
