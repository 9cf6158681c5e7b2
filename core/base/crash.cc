#include "core/base/crash.h"

#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

namespace draftlab {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr std::size_t kMost = 64, kDeepest = 256;

// A library in memory. The handler reads it, so nothing in it is allocated.
struct Library {
  std::uintptr_t begin = 0, end = 0;
  std::array<char, 512> said = {};
};
std::array<Library, kMost> libraries;
std::atomic<std::size_t> known{0};

const char* word(int signal) {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGILL: return "SIGILL";
    case SIGFPE: return "SIGFPE";
    default: return "SIGABRT";
  }
}

void say_of(const Library& library, int signal) {
  // One call, so that what other processes say of their crash does not come between.
  std::array<iovec, 4> parts{};
  std::size_t count = 0;
  for (const char* text : {library.said.data(), " crashed (", word(signal),
                           "): the call was of a part in this library\n"})
    parts[count++] = {const_cast<char*>(text), std::strlen(text)};
  [[maybe_unused]] const auto told = ::writev(2, parts.data(), static_cast<int>(count));
}

// Calls nothing but what may be called within a signal's handler, backtrace() among it, whose
// library was loaded before.
void tell(int signal) {
  void* frames[kDeepest];
  const int count = ::backtrace(frames, kDeepest);
  for (int i = 0; i < count; ++i) {
    const auto at = reinterpret_cast<std::uintptr_t>(frames[i]);
    const Library* const end = libraries.data() + known.load();
    const Library* const library =
        std::find_if(std::as_const(libraries).data(), end,
                     [at](const Library& each) { return at >= each.begin && at < each.end; });
    if (library == end) continue;
    say_of(*library, signal);
    break;
  }
  ::raise(signal);  // The handler was removed when it was called.
}

// The segments of the library that holds an address.
struct Search {
  std::uintptr_t at = 0;
  Library found = {};
};

int look(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  std::uintptr_t begin = UINTPTR_MAX, end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    begin = std::min<std::uintptr_t>(begin, info->dlpi_addr + segment.p_vaddr);
    end = std::max<std::uintptr_t>(end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  if (search.at < begin || search.at >= end) return 0;
  search.found.begin = begin, search.found.end = end;
  return 1;
}

void handle_signals() {
  static std::array<char, 1 << 16> stack;  // A crash may be that of the usual stack.
  stack_t other{};
  other.ss_sp = stack.data(), other.ss_size = stack.size();
  ::sigaltstack(&other, nullptr);
  void* frame = nullptr;
  ::backtrace(&frame, 1);  // The first call loads a library.
  struct sigaction action {};
  action.sa_handler = tell;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND);
  for (const int signal : kSignals) ::sigaction(signal, &action, nullptr);
}

}  // namespace

void name_crashes(const void* function, const std::string& said) {
  Search search{reinterpret_cast<std::uintptr_t>(function)};
  const std::size_t place = known.load();
  if (place == kMost || ::dl_iterate_phdr(look, &search) == 0) return;
  said.copy(search.found.said.data(), search.found.said.size() - 1);
  libraries[place] = search.found;
  known = place + 1;
  if (place == 0) handle_signals();
}

}  // namespace draftlab
