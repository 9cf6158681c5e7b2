// A library that stands before the C library (LD_PRELOAD) and makes a folder of this machine look
// as a network's file system does to one of many machines: renames take their time and overtake
// each other, a folder is listed late, in any order and for a while as it was when it was listed
// before, a name that was looked for in vain is not found for a while, and the clock is not the
// server's. Exclusive creation, times of files and contents are the server's, as they are over NFS.
//
// SLOW_NETWORK_ROOT   the folder on the network
// SLOW_NETWORK_HOST   the name of this machine
// SLOW_NETWORK_CLOCK  the seconds by which its clock is ahead
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr double kStale = 1;    // For so many seconds others do not see a new name.
constexpr int kDelay = 60'000;  // A call is delayed by at most so many microseconds.

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

struct Machine {
  std::string root, host;
  time_t ahead = 0;
  std::mutex mutex;
  std::map<std::string, double> missed;  // Maps a name to the time when it was looked for in vain.
  struct Listing {
    double since = 0;
    std::vector<dirent> entries;
  };
  std::map<std::string, Listing> listings;  // The listings of folders as this machine knows them.
  std::mt19937 chance{static_cast<unsigned>(::getpid())};
  std::map<DIR*, std::vector<dirent>> reading;
  Machine() {
    if (const char* const at = std::getenv("SLOW_NETWORK_ROOT")) root = std::string(at) + "/";
    if (const char* const name = std::getenv("SLOW_NETWORK_HOST")) host = name;
    if (const char* const clock = std::getenv("SLOW_NETWORK_CLOCK")) ahead = std::atol(clock);
  }
};
Machine& machine() {
  static Machine& one = *new Machine;  // It outlives whoever asks for the time at the very end.
  return one;
}

std::string absolute(const char* path) {
  std::error_code error;
  return std::filesystem::absolute(path, error).lexically_normal().string();
}
bool remote(const std::string& path) {
  return !machine().root.empty() && path.starts_with(machine().root);
}
double drawn() {
  const std::lock_guard lock(machine().mutex);
  return std::uniform_real_distribution<double>()(machine().chance);
}
void wait() { ::usleep(static_cast<useconds_t>(kDelay * drawn())); }
double now() {
  static const auto real = next<int (*)(clockid_t, timespec*)>("clock_gettime");
  timespec time{};
  real(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
// What a machine does itself it knows.
void changed(const std::string& path) {
  const std::lock_guard lock(machine().mutex);
  machine().missed.erase(path);
  machine().listings.erase(std::filesystem::path(path).parent_path().string());
}

}  // namespace

extern "C" {
int gethostname(char* name, size_t size) {
  static const auto real = next<int (*)(char*, size_t)>("gethostname");
  if (machine().host.empty()) return real(name, size);
  std::strncpy(name, machine().host.c_str(), size);
  return 0;
}
int clock_gettime(clockid_t clock, timespec* time) {
  static const auto real = next<int (*)(clockid_t, timespec*)>("clock_gettime");
  const int result = real(clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec += machine().ahead;
  return result;
}
time_t time(time_t* to) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}
int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t);
  va_end(list);
  const int fd = real(path, flags, mode);
  if (fd >= 0 && (flags & O_CREAT)) changed(absolute(path));
  return fd;
}
int mkdir(const char* path, mode_t mode) {
  static const auto real = next<int (*)(const char*, mode_t)>("mkdir");
  const int result = real(path, mode);
  if (result == 0) changed(absolute(path));
  return result;
}
int unlink(const char* path) {
  static const auto real = next<int (*)(const char*)>("unlink");
  const int result = real(path);
  if (result == 0) changed(absolute(path));
  return result;
}
int rename(const char* from, const char* to) {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  const std::string target = absolute(to);
  if (!remote(target)) return real(from, to);
  wait();
  const int result = real(from, to);
  if (result == 0) changed(target);
  wait();
  return result;
}
int stat(const char* path, struct stat* found) {
  static const auto real = next<int (*)(const char*, struct stat*)>("stat");
  const std::string name = absolute(path);
  if (!remote(name)) return real(path, found);
  const std::lock_guard lock(machine().mutex);
  const auto missed = machine().missed.find(name);
  if (missed != machine().missed.end() && now() - missed->second < kStale) {
    errno = ENOENT;
    return -1;
  }
  const int result = real(path, found);
  if (result != 0 && errno == ENOENT) machine().missed[name] = now(), errno = ENOENT;
  return result;
}
dirent* readdir(DIR* folder) {
  static const auto real = next<dirent* (*)(DIR*)>("readdir");
  std::error_code error;
  const std::string path =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(::dirfd(folder)), error)
          .string();
  if (!remote(path + "/")) return real(folder);
  if (!machine().reading.count(folder)) wait();
  const std::lock_guard lock(machine().mutex);
  if (!machine().reading.count(folder)) {
    Machine::Listing& known = machine().listings[path];
    if (known.since == 0 || now() - known.since > kStale) {
      known = {now(), {}};
      while (const dirent* const entry = real(folder)) known.entries.push_back(*entry);
    }
    std::vector<dirent>& entries = machine().reading[folder] = known.entries;
    std::shuffle(entries.begin(), entries.end(), machine().chance);
    entries.push_back(dirent{});  // This entry is what is taken away first.
  }
  std::vector<dirent>& left = machine().reading[folder];
  if (!left.empty()) left.pop_back();
  return left.empty() ? nullptr : &left.back();
}
int closedir(DIR* folder) {
  static const auto real = next<int (*)(DIR*)>("closedir");
  {
    const std::lock_guard lock(machine().mutex);
    machine().reading.erase(folder);
  }
  return real(folder);
}
}
