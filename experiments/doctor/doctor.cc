// `draftlab doctor` prints what this machine is, and what on it makes experiments slow or wrong.
#include <dlfcn.h>
#include <sched.h>
#include <spdlog/version.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include "core/config/plugin.h"
#include "core/trace/provenance.h"
#include "experiments/doctor/blas.h"
#include "experiments/doctor/device_report.h"
#include "experiments/doctor/doctor.h"
#include "experiments/doctor/golden.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

// Prints the findings, and counts those that the user should mend.
class Report {
 public:
  void row(const std::string& name, const std::string& text) {
    std::printf("%-14s %s\n", name.c_str(), text.c_str());
  }
  void note(const std::string& text) { row("  note", text); }
  void fail(const std::string& text) {
    row("  WRONG", text);
    ++failed_;
  }
  int failed() const { return failed_; }

 private:
  int failed_ = 0;
};

std::string gib(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", bytes / (1024.0 * 1024 * 1024));
  return text;
}

// Returns the value of a line "name: value kB" of /proc/meminfo, in bytes.
double memory(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, name.size() + 1, name + ":") == 0)
      return std::stod(line.substr(name.size() + 1)) * 1024;
  }
  return 0;
}

void report_processor(Report& report, const std::string& cpu) {
  cpu_set_t set;
  const int usable = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  std::ifstream file("/proc/cpuinfo");
  std::string flags;
  for (std::string line; flags.empty() && std::getline(file, line);) {
    if (line.compare(0, 5, "flags") == 0) flags = line + " ";
  }
  std::string vectors;
  for (const char* flag : {"avx2", "avx512f", "avx512_bf16", "amx_bf16"}) {
    if (flags.find(std::string(" ") + flag + " ") == std::string::npos) continue;
    vectors += (vectors.empty() ? "" : ", ") + std::string(flag);
  }
  report.row("processor", cpu + (vectors.empty() ? "" : " (" + vectors + ")"));
  report.row("cores", std::to_string(usable) + " usable of " + std::to_string(online));
  if (usable < online)
    report.note(
        "the affinity mask leaves out the other cores; run.threads = 0 uses those that are left");
  if (flags.find("bf16") == std::string::npos)
    report.note("no bf16 instructions: run.dtype = bf16 is slower than f32 here");
  report.row("memory", gib(memory("MemAvailable")) + " free of " + gib(memory("MemTotal")));
}

void report_blas(Report& report) {
  const Blas blas = find_blas();
  const double rate = product_speed(blas);
  char text[64];
  std::snprintf(text, sizeof text, "%.1f GFLOP/s for 32x1024x4096", rate);
  report.row("BLAS", blas.path + (blas.config.empty() ? "" : " (" + blas.config + ")"));
  report.row("products", text);
  const std::string wrong = complaint(blas, rate);
  if (wrong.empty()) return;
  if (is_reference(blas))
    report.fail(wrong);
  else
    report.note(wrong);
}

// Reports whether this program decodes what it did when the texts of tests/golden were written.
void report_signature(Report& report, const Registries& registries) {
  const std::string folder = golden_folder();
  if (folder.empty())
    return report.row("signature", "unknown: there is no tests/golden in this folder");
  try {
    const std::vector<GoldenDecode> decodes = golden_decodes(folder, registries);
    report.row("signature",
               signature(decodes) + ", over " + std::to_string(decodes.size()) + " golden decodes");
    for (const GoldenDecode& one : decodes) {
      if (!one.difference.empty())
        report.fail(one.config + " decodes otherwise than stored: " + one.difference);
    }
  } catch (const Error& error) {
    report.fail(std::string("the golden decodes cannot be made: ") + error.what());
  }
}

// Reports whether a file in the working folder can be written and locked, as HDF5 does with a
// trace.
void report_folder(Report& report) {
  std::error_code error;
  const fs::path folder = fs::current_path(error);
  const fs::space_info space = fs::space(folder, error);
  report.row("disk", gib(static_cast<double>(space.available)) + " free in the working folder");
  if (error || space.available < (std::uintmax_t{1} << 30))
    report.fail("less than 1 GiB is free; traces need more");
  std::string name = (folder / ".draftlab-doctor-XXXXXX").string();
  const int file = mkstemp(name.data());
  if (file < 0)
    return report.fail("the working folder cannot be written: " +
                       std::string(std::strerror(errno)));
  const bool locked = flock(file, LOCK_EX | LOCK_NB) == 0;
  const std::string why = locked ? "" : std::strerror(errno);
  close(file);
  unlink(name.c_str());
  report.row("file locking", locked ? "works in the working folder"
                                    : "does not work in the working folder: " + why);
  if (!locked)
    report.fail("HDF5 cannot lock files here; write: export HDF5_USE_FILE_LOCKING=FALSE");
}

// Returns the folder of the core library, beside which modules lie in a build and in an
// installation.
fs::path module_folder() {
  Dl_info core;
  return dladdr(reinterpret_cast<const void*>(&module_function), &core) && core.dli_fname
             ? fs::path(core.dli_fname).parent_path()
             : fs::path();
}

void report_torch(Report& report) {
  std::error_code error;
  const fs::path module = module_folder() / "libdraftlab_torch.so";
  const bool built = fs::exists(module, error);
  report.row("torch models",
             built ? "built" : "not built (cmake -DDRAFTLAB_WITH_TORCH=ON; needs libtorch-dev)");
  report.row("GPU", fs::exists("/dev/nvidiactl", error) ? "an NVIDIA driver is loaded"
                                                        : "none seen: run.device = cpu");
}

void report_traps(Report& report) {
  for (const char* variable : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}) {
    if (const char* value = std::getenv(variable)) {
      report.note(std::string(variable) + " = " + value +
                  " is set; models take run.threads, the product above obeyed it");
    }
  }
  if (const char* locking = std::getenv("HDF5_USE_FILE_LOCKING")) {
    report.note(std::string("HDF5_USE_FILE_LOCKING = ") + locking + " is set");
  }
  if (const char* job = std::getenv("SLURM_JOB_ID")) {
    report.note(std::string("inside Slurm job ") + job + ": its limits count, not the machine's");
  }
}

struct DoctorFlags {
  Device device = Device::cpu;
  void declare(OptionSet& set) {
    set.add("device", &device)
        .help(
            "Compares a device with the CPU on the shipped checkpoints, or on the configs named.");
  }
};

// Says what works on a device.
int doctor_of_device(const DoctorFlags& flags, const CommandLine& line,
                     const Registries& registries) {
  Report report;
  const Provenance made = provenance({}, 0);
  report.row("program",
             made.software + (made.git_commit.empty() ? "" : " (" + made.git_commit + ")"));
  report.row("processor", made.cpu);
  report.row("GPU", made.gpu.empty() ? "none seen" : made.gpu);
  report.row("device", std::string(word(flags.device)));
  std::printf("\n");
  const int failed =
      report_device(line.paths.empty() ? device_configs() : line.paths, flags.device, registries);
  std::printf("\n%s\n", failed == 0 ? "All of them work." : "What is marked WRONG does not work.");
  return failed == 0 ? 0 : 1;
}

int doctor(const DoctorFlags& flags, const CommandLine& line, const Registries& registries) {
  if (flags.device != Device::cpu) return doctor_of_device(flags, line, registries);
  if (!line.paths.empty())
    throw UsageError("draftlab doctor: configs are decoded on a device; name one with --device");
  Report report;
  const Provenance made = provenance({}, 0);
  report.row("program", made.software +
                            (made.git_commit.empty() ? "" : " (" + made.git_commit + ")") +
                            ", " DRAFTLAB_ABI);
  const std::string spdlog =
      std::to_string(SPDLOG_VER_MAJOR) + "." + std::to_string(SPDLOG_VER_MINOR);
  report.row("libraries", made.libraries + ", spdlog " + spdlog +
                              ", sentencepiece " DRAFTLAB_SENTENCEPIECE_VERSION);
  std::size_t plugins = 0;
  registries.each([&](const auto& registry) { plugins += registry.entries().size(); });
  report.row("plugins", std::to_string(plugins));
  report_processor(report, made.cpu);
  report_blas(report);
  report_folder(report);
  report_torch(report);
  report_traps(report);
  report_signature(report, registries);
  std::printf("\n%s\n",
              report.failed() == 0 ? "All is well." : "What is marked WRONG needs a hand.");
  return report.failed() == 0 ? 0 : 1;
}

}  // namespace

Command doctor_command() {
  return {.name = "doctor",
          .arguments = "[CONFIG...]",
          .summary = "what on this machine makes experiments slow or wrong, or what works on a GPU",
          .fewest = 0,
          .most = kAnyNumber,
          .flags = with_flags(doctor)};
}

}  // namespace draftlab
