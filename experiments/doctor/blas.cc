#include "experiments/doctor/blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <vector>

namespace draftlab {
namespace {

// A slower product comes from the reference BLAS, or from a busy machine.
constexpr double kSlowGflops = 20;

}  // namespace

Blas find_blas() {
  Blas blas;
  void* const library = dlopen("libblas.so.3", RTLD_NOW | RTLD_LOCAL);
  if (!library) return blas;
  blas.product = reinterpret_cast<Blas::Product>(dlsym(library, "sgemm_"));
  Dl_info info;
  std::error_code error;
  if (blas.product && dladdr(reinterpret_cast<const void*>(blas.product), &info) &&
      info.dli_fname) {
    blas.path = std::filesystem::canonical(info.dli_fname, error).string();
  }
  if (const auto config =
          reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_config")))
    blas.config = config();
  return blas;
}

double product_speed(const Blas& blas) {
  if (!blas.product) return 0;
  constexpr int kRows = 32, kInner = 1024, kColumns = 4096;
  constexpr int kMostRounds = 8;
  constexpr double kEnough = 0.1;  // The seconds after which a measurement ends.
  const float one = 1, zero = 0;
  std::vector<float> a(kRows * kInner, 0.5f), b(static_cast<std::size_t>(kInner) * kColumns, 0.25f),
      c(kRows * kColumns);
  double best = 0, spent = 0;
  for (int round = 0; round < kMostRounds && spent < kEnough; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    blas.product("N", "N", &kRows, &kColumns, &kInner, &one, a.data(), &kRows, b.data(), &kInner,
                 &zero, c.data(), &kRows);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::max(best, 2.0 * kRows * kInner * kColumns / seconds / 1e9);
    spent += seconds;
  }
  return best;
}

bool is_reference(const Blas& blas) {
  return blas.config.empty() && blas.path.find("openblas") == std::string::npos &&
         blas.path.find("mkl") == std::string::npos && blas.path.find("blis") == std::string::npos;
}

std::string always_slow(const Blas& blas) {
  const std::string remedy = "; write: apt-get install libopenblas0-pthread";
  if (!blas.product) return "there is no libblas.so.3" + remedy;
  if (!is_reference(blas)) return {};
  return "libblas.so.3 is the reference BLAS, forty times slower than it need be" + remedy;
}

std::string complaint(const Blas& blas, double speed) {
  if (speed >= kSlowGflops) return {};
  const std::string always = always_slow(blas);
  if (!blas.product) return always;
  char text[64];
  std::snprintf(text, sizeof text, "matrix products run at %.1f GFLOP/s: ", speed);
  return text + (always.empty()
                     ? "another process uses the cores, or the BLAS was told to use one thread"
                     : always);
}

}  // namespace draftlab
