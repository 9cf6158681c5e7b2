// A library that stands before the C library (LD_PRELOAD) in every process of a run or a sweep and
// writes down what a disk was told: which files were made, written, renamed and removed, and what
// was synced since. power_cut.py then takes away what was not. Before the call numbered `fatal`,
// counted over all processes, each process that goes on is killed.
//
// POWER_CUT_ROOT   the folder that stands for the disk
// POWER_CUT_STATE  a folder with `count` (two longs: the calls so far, and the fatal one), the log,
//                  and a grave for files whose last name is taken away
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

namespace {

namespace fs = std::filesystem;

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

using Open = int (*)(const char*, int, ...);
Open real_open() {
  static const Open found = next<Open>("open");
  return found;
}

struct Count {
  std::atomic<long> calls;
  long fatal;
};

struct State {
  std::string root, folder;
  Count* count = nullptr;
  State() {
    const char *const disk = std::getenv("POWER_CUT_ROOT"), *const at =
                                                                std::getenv("POWER_CUT_STATE");
    if (!disk || !at) return;
    root = std::string(disk) + "/", folder = at;
    const int fd = real_open()((folder + "/count").c_str(), O_RDWR | O_CLOEXEC);
    void* const memory = ::mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory != MAP_FAILED) count = static_cast<Count*>(memory);
  }
};
const State& state() {
  static const State one;
  return one;
}

std::string absolute(const char* path) {
  std::error_code error;
  return fs::absolute(path, error).lexically_normal().string();
}
std::string path_of(int fd) {
  std::error_code error;
  return fs::read_symlink("/proc/self/fd/" + std::to_string(fd), error).string();
}
bool on_disk(const std::string& path) { return state().count && path.starts_with(state().root); }
bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// One call at a time over all processes, in the order of the log; or the end.
class Turn {
 public:
  Turn()
      : lock_(real_open()((state().folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    ::flock(lock_, LOCK_EX);
    number_ = state().count->calls++;
    if (number_ >= state().count->fatal) ::kill(::getpid(), SIGKILL);
  }
  ~Turn() { ::close(lock_); }
  Turn(const Turn&) = delete;

  void note(const std::string& what) const {
    static const auto write = next<ssize_t (*)(int, const void*, size_t)>("write");
    const int log = real_open()((state().folder + "/log").c_str(),
                                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const std::string line = std::to_string(::gettid()) + "\t" + what + "\n";
    if (write(log, line.data(), line.size()) < 0) ::abort();
    ::close(log);
  }
  // Another name for a file that is about to lose this one; "" where there is no such file.
  std::string bury(const std::string& path) const {
    const std::string grave = state().folder + "/grave/" + std::to_string(number_);
    return ::link(path.c_str(), grave.c_str()) == 0 ? grave : "";
  }

 private:
  int lock_;
  long number_ = 0;
};

std::string inode(int fd) {
  struct stat found {};
  ::fstat(fd, &found);
  return std::to_string(found.st_ino) + "\t" + std::to_string(found.st_size);
}

int synced(int fd, int (*real)(int)) {
  const std::string path = path_of(fd);
  if (!on_disk(path + "/")) return real(fd);
  const Turn turn;
  struct stat found {};
  ::fstat(fd, &found);
  turn.note(S_ISDIR(found.st_mode) ? "sync-folder\t" + path : "sync\t" + inode(fd));
  return 0;  // The disk under the shim need not be slow.
}

int removed(const std::string& path, const std::function<int()>& real) {
  if (!on_disk(path)) return real();
  const Turn turn;
  const std::string grave = turn.bury(path);
  const int result = real();
  if (result == 0) turn.note((grave.empty() ? "rmdir\t" : "unlink\t") + path + "\t" + grave);
  return result;
}

}  // namespace

extern "C" {
int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t);
  va_end(list);
  const std::string name = flags & O_CREAT ? absolute(path) : "";
  if (!on_disk(name)) return real_open()(path, flags, mode);
  const Turn turn;
  const bool is_new = !exists(name);
  const int fd = real_open()(path, flags, mode);
  if (fd >= 0 && is_new) turn.note("create\t" + name);
  return fd;
}
ssize_t write(int fd, const void* bytes, size_t count) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  if (fd <= 2 || !on_disk(path_of(fd))) return real(fd, bytes, count);
  const Turn turn;
  turn.note("write\t" + inode(fd));
  return real(fd, bytes, count);
}
int fsync(int fd) {
  static const auto real = next<int (*)(int)>("fsync");
  return synced(fd, real);
}
int fdatasync(int fd) {
  static const auto real = next<int (*)(int)>("fdatasync");
  return synced(fd, real);
}
int rename(const char* from, const char* to) {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  const std::string source = absolute(from), target = absolute(to);
  if (!on_disk(target)) return real(from, to);
  const Turn turn;
  const std::string grave = turn.bury(target);
  const int result = real(from, to);
  if (result == 0) turn.note("rename\t" + source + "\t" + target + "\t" + grave);
  return result;
}
int unlink(const char* path) {
  static const auto real = next<int (*)(const char*)>("unlink");
  return removed(absolute(path), [&] { return real(path); });
}
int remove(const char* path) {
  static const auto real = next<int (*)(const char*)>("remove");
  return removed(absolute(path), [&] { return real(path); });
}
int rmdir(const char* path) {
  static const auto real = next<int (*)(const char*)>("rmdir");
  return removed(absolute(path), [&] { return real(path); });
}
int unlinkat(int folder, const char* path, int flags) {
  static const auto real = next<int (*)(int, const char*, int)>("unlinkat");
  const std::string name =
      folder == AT_FDCWD || *path == '/' ? absolute(path) : path_of(folder) + "/" + path;
  return removed(name, [&] { return real(folder, path, flags); });
}
int mkdir(const char* path, mode_t mode) {
  static const auto real = next<int (*)(const char*, mode_t)>("mkdir");
  const std::string name = absolute(path);
  if (!on_disk(name)) return real(path, mode);
  const Turn turn;
  const int result = real(path, mode);
  if (result == 0) turn.note("mkdir\t" + name);
  return result;
}
}
