#include "plugins/models/nn/kernels/machine_torch.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>

#include "core/base/error.h"
#include "core/trace/provenance.h"

namespace draftlab {

at::Device device_of(const Machine& machine) {
  if (machine.device == Device::cpu) return at::kCPU;
  if (!at::hasCUDA())
    throw ConfigError(
        "run.device is {}, but this libtorch sees no such device: it is built for the CPU alone, "
        "or the driver is missing",
        word(machine.device));
  return at::kCUDA;
}

void use_threads(int threads) {
  const int count = threads > 0 ? threads : usable_threads();
  at::set_num_threads(count);
  // OpenBLAS counts threads of its own, which torch does not set; another BLAS has no such
  // function.
  if (void* const set = ::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))
    reinterpret_cast<void (*)(int)>(set)(count);
}

}  // namespace draftlab
