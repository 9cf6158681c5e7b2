#include "core/trace/provenance.h"

#include <dlfcn.h>
#include <unistd.h>

#include <hdf5.h>

#include <algorithm>
#include <boost/version.hpp>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <commit.h>  // cmake/commit.cmake writes it.

#include "core/base/cores.h"

namespace draftlab {
namespace {

// Returns what /proc/cpuinfo says of the first processor under a name.
std::string processor(const std::string& name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name, 0) == 0) return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "unknown";
}

// Returns the instructions by which kernels are chosen: sums of other ones are rounded otherwise.
std::string instructions() {
  std::string text = "x86-64";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) text = "AVX2";
  if (__builtin_cpu_supports("avx512f")) text = "AVX-512";
  if (__builtin_cpu_supports("avx512vnni")) text += " VNNI";
  if (__builtin_cpu_supports("avx512bf16")) text += " BF16";
  if (processor("flags").find("amx_bf16") != std::string::npos) text += ", AMX";
  return text;
}

// Reads the names of the graphics processors from the driver's own files, so no library of the
// vendor is needed.
std::string graphics_processors() {
  std::string text;
  std::error_code error;
  for (const auto& gpu : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    std::ifstream file(gpu.path() / "information");
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with("Model:")) continue;
      const std::size_t from = line.find_first_not_of(" \t", 6);
      if (from != std::string::npos) text += (text.empty() ? "" : ", ") + line.substr(from);
    }
  }
  std::ifstream driver("/proc/driver/nvidia/version");
  std::string version;
  if (std::getline(driver, version)) text += (text.empty() ? "" : "; ") + version;
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible && !text.empty()) text += std::string("; CUDA_VISIBLE_DEVICES=") + visible;
  return text;
}

// Returns what computes the products of the torch models, as their module says; "" where it was not
// loaded. A module that is there is found without loading anything.
std::string math_libraries() {
  void* const module = ::dlopen("libdraftlab_torch.so", RTLD_LAZY | RTLD_NOLOAD);
  void* const function = ::dlsym(module ? module : RTLD_DEFAULT, "draftlab_math_libraries");
  const std::string text = function ? reinterpret_cast<const char* (*)()>(function)() : "";
  if (module) ::dlclose(module);
  return text;
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

std::string version() { return DRAFTLAB_VERSION; }

Provenance provenance(const Machine& machine, std::int64_t seed) {
  char host[256] = "unknown";
  gethostname(host, sizeof host - 1);
  Provenance made;
  made.software = "draftlab " + version();
  made.git_commit = DRAFTLAB_COMMIT;
  made.host = host;
  // Both are asked once, because asking wakes every core.
  static const std::string cpu = processor("model name") + " (" + instructions() + ")",
                           gpu = graphics_processors();
  made.cpu = cpu;
  made.gpu = gpu;
  made.libraries = std::string("g++ ") + __VERSION__ + ", HDF5 " + std::to_string(H5_VERS_MAJOR) +
                   "." + std::to_string(H5_VERS_MINOR) + "." + std::to_string(H5_VERS_RELEASE) +
                   ", Boost " + BOOST_LIB_VERSION + ", Eigen " +
                   std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) +
                   "." + std::to_string(EIGEN_MINOR_VERSION);
  if (const std::string math = math_libraries(); !math.empty()) made.libraries += ", " + math;
  made.started = utc_now();
  made.threads = machine.threads > 0 ? machine.threads : usable_threads();
  made.seed = seed;
  made.device = word(machine.device);
  made.dtype = word(machine.dtype);
  return made;
}

}  // namespace draftlab
