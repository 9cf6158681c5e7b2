#include "core/base/process.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>

namespace draftlab {
namespace {

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Returns when a process started, in ticks since the boot, and "" when there is no such process.
std::string start_of(const std::string& pid) {
  const std::string stat = contents("/proc/" + pid + "/stat");
  std::istringstream words(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string word;
  for (int field = 3; field <= 22 && words >> word; ++field) {}
  return words ? word : "";
}

// Names the place within which process numbers mean the same.
std::string place() {
  std::string boot = contents("/proc/sys/kernel/random/boot_id");
  boot = boot.substr(0, boot.find('\n'));
  struct stat space {};
  ::stat("/proc/self/ns/pid", &space);
  return host_name() + "/" + boot + "/" + std::to_string(space.st_ino);
}

// Returns sixteen digits that stand for place().
std::string short_place() {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016zx", std::hash<std::string>()(place()));
  return digits;
}

}  // namespace

std::string host_name() {
  char host[256] = "unknown";
  ::gethostname(host, sizeof host - 1);
  return host;
}

std::string process_identity() {
  const std::string pid = std::to_string(::getpid());
  return place() + "/" + pid + "/" + start_of(pid);
}

bool is_gone(const std::string& identity) {
  const std::string here = place() + "/";
  if (identity.compare(0, here.size(), here) != 0) return false;
  const std::string process = identity.substr(here.size());
  const std::size_t slash = process.find('/');
  return slash != std::string::npos &&
         start_of(process.substr(0, slash)) != process.substr(slash + 1);
}

std::string process_tag() {
  thread_local pid_t made_by = 0;
  thread_local std::string tag;
  const pid_t pid = ::getpid();
  if (made_by != pid) {
    const std::string number = std::to_string(pid);
    tag = short_place() + "-" + number + "-" + start_of(number);
    made_by = pid;
  }
  return tag;
}

bool tag_is_gone(const std::string& tag) {
  const std::string here = short_place() + "-";
  if (!tag.starts_with(here)) return false;
  const std::size_t dash = tag.find('-', here.size());
  if (dash == std::string::npos) return false;
  return start_of(tag.substr(here.size(), dash - here.size())) != tag.substr(dash + 1);
}

}  // namespace draftlab
