// `draftlab doctor`: what this machine is, and what on it makes experiments slow or wrong.
#pragma once

#include "core/plugin.h"
#include "experiments/command_line.h"

namespace draftlab {

// Rate of a 32x1024x4096 single-precision product in the BLAS that the torch models would use; 0 when there is none.
double blas_gflops();
// Below this it is the reference BLAS, forty times slower than it need be.
inline constexpr double kSlowBlasGflops = 20;
// What to say at the start of a run: one sentence when products are slow, "" when they are not.
std::string blas_warning();

int doctor(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
