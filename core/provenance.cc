#include "core/provenance.h"

#include <sched.h>
#include <unistd.h>

#include <boost/version.hpp>
#include <ctime>
#include <fstream>
#include <hdf5.h>

namespace draftlab {
namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

int usable_threads() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
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
  made.cpu = processor();
  made.libraries = std::string("g++ ") + __VERSION__ + ", HDF5 " + std::to_string(H5_VERS_MAJOR) + "." + std::to_string(H5_VERS_MINOR) + "." + std::to_string(H5_VERS_RELEASE) + ", Boost " + BOOST_LIB_VERSION + ", Eigen " +
                   std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." + std::to_string(EIGEN_MINOR_VERSION);
  made.started = utc_now();
  made.threads = machine.threads > 0 ? machine.threads : usable_threads();
  made.seed = seed;
  made.device = machine.device;
  made.dtype = machine.dtype;
  return made;
}

}  // namespace draftlab
