#include "plugins/models/nn/kernels/machine_torch.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <dlfcn.h>
#include <torch/version.h>

#include <filesystem>
#include <string>

#include "core/base/cores.h"
#include "core/base/error.h"
#include "plugins/models/nn/kernels/rows/instructions.h"
#include "plugins/models/nn/kernels/thread_choice_torch.h"

namespace draftlab {
namespace {

// Returns the vector instructions that libtorch's kernels use; only its description tells them.
std::string kernels() {
  const std::string all = at::show_config(), word = "CPU capability usage: ";
  const std::size_t at = all.find(word);
  if (at == std::string::npos) return "unknown";
  const std::size_t from = at + word.size();
  return all.substr(from, all.find('\n', from) - from);
}

// Returns the name of the file that holds a function which this module calls; "" for none.
std::string file_of(const char* function) {
  Dl_info info;
  void* const found = ::dlsym(RTLD_DEFAULT, function);
  if (!found || !::dladdr(found, &info) || !info.dli_fname) return "";
  std::error_code error;
  return std::filesystem::canonical(info.dli_fname, error).filename().string();
}

// Names the BLAS, with its version and the kernel that it chose where it says so, as OpenBLAS does.
std::string blas() {
  if (void* const config = ::dlsym(RTLD_DEFAULT, "openblas_get_config"))
    return reinterpret_cast<const char* (*)()>(config)();
  const std::string file = file_of("sgemm_");
  return "BLAS " + (file.empty() ? "of libtorch" : file);
}

std::string openmp() {
  const std::string file = file_of("omp_get_max_threads");
  if (file.empty()) return "no OpenMP";
  return "OpenMP " + std::to_string(_OPENMP) + " (" + file + ")";
}

}  // namespace

std::optional<at::Device> tensor_device(const Machine& machine) {
  if (machine.device == Device::cpu) return std::nullopt;
  if (machine.device == Device::cpu_tensors) return at::Device(at::kCPU);
  if (!at::hasCUDA())
    throw ConfigError(
        "run.device is {}, but this libtorch sees no such device: it is built for the CPU alone, "
        "or the driver is missing",
        word(machine.device));
  return at::Device(at::kCUDA);
}

at::TensorOptions tensor_options(at::Device device, Precision precision) {
  return at::TensorOptions(precision == Precision::bf16 ? at::kBFloat16 : at::kFloat)
      .device(device);
}

void use_threads(int threads) {
  const int count = threads > 0 ? threads : usable_threads();
  at::set_num_threads(count);
  // OpenBLAS counts threads of its own, which torch does not set; another BLAS has no such
  // function.
  if (void* const set = ::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))
    reinterpret_cast<void (*)(int)>(set)(count);
  let_forwards_choose(true);
}

void use_all_threads(int threads) {
  use_threads(threads);
  let_forwards_choose(false);
}

}  // namespace draftlab

// What computes the products of the torch models: provenance() asks for it once this module is
// loaded.
extern "C" const char* draftlab_math_libraries();

extern "C" const char* draftlab_math_libraries() {
  static std::string text;
  text = "row kernels of " + std::string(draftlab::word(draftlab::instructions())) + ", libtorch " +
         TORCH_VERSION + " (" + draftlab::kernels() + " kernels), " + draftlab::blas() + ", " +
         draftlab::openmp();
  if (const std::string chosen = draftlab::thread_choices_in_words(); !chosen.empty())
    text += ", " + chosen;
  return text.c_str();
}
