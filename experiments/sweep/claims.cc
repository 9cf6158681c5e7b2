#include "experiments/sweep/claims.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/trace/provenance.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStates[] = {"running", "done", "failed", "interrupted", "forgiven"};

// What stands where a record should, if that is no file.
constexpr const char* kNoFile = "no file\n";

std::string claim_text(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return fs::exists(path, error) ? kNoFile : "";
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string to_json(const Attempt& a) {
  const nlohmann::json json = {{"state", kStates[static_cast<int>(a.state)]},
                               {"owner", a.owner},
                               {"host", a.host},
                               {"started", a.started},
                               {"round", a.round},
                               {"job", a.job},
                               {"seconds", a.seconds},
                               {"exit_status", a.exit_status},
                               {"signal", a.signal},
                               {"reason", a.reason},
                               {"last_line", a.last_line},
                               {"first", a.first},
                               {"prompts", a.prompts},
                               {"samples", a.samples}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// Says whether a text is the beginning of a record, whose end is yet to be written.
bool is_begun(const std::string& text) { return text.front() == '{' && text.back() != '\n'; }

// A record that is empty or cut short was claimed and is not written yet: it ends with its lease.
// One that is damaged is nobody's, and the cell may be claimed again at once.
Attempt from_json(const std::string& text, int number) {
  Attempt a, damaged;
  a.number = damaged.number = number;
  damaged.state = AttemptState::interrupted;
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return text.empty() || is_begun(text) ? a : damaged;
  try {
    const std::string state = json.value("state", "running");
    for (int i = 0; i < 5; ++i)
      if (state == kStates[i]) a.state = static_cast<AttemptState>(i);
    a.owner = json.value("owner", ""), a.host = json.value("host", ""),
    a.started = json.value("started", ""), a.round = json.value("round", ""),
    a.job = json.value("job", "");
    a.seconds = json.value("seconds", 0.0), a.exit_status = json.value("exit_status", 0),
    a.signal = json.value("signal", 0);
    a.reason = json.value("reason", ""), a.last_line = json.value("last_line", "");
    a.first = json.value("first", std::int64_t{0}),
    a.prompts = json.value("prompts", std::int64_t{0}),
    a.samples = json.value("samples", std::int64_t{0});
  } catch (const nlohmann::json::exception&) {
    return damaged;  // It does not stop the other cells.
  }
  return a;
}

}  // namespace

Claims::Claims(std::string folder, double lease)
    : folder_(std::move(folder)),
      clock_(folder_ + "/.clock-" + host_name() + "-" + std::to_string(::getpid())),
      lease_(lease) {
  make_folder(folder_);
  renewing_ = std::thread([this] { renew(); });
}

Claims::~Claims() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  renewing_.join();
  ::unlink(clock_.c_str());
}

std::string Claims::file(const std::string& cell, int number) const {
  return folder_ + "/" + cell + "." + std::to_string(number);
}

std::map<std::string, Attempts> Claims::all() const {
  std::map<std::string, Attempts> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    const std::size_t dot = name.rfind('.');
    if (dot == 0 || dot == std::string::npos ||
        name.find_first_not_of("0123456789", dot + 1) != std::string::npos ||
        dot + 1 == name.size())
      continue;
    found[name.substr(0, dot)].push_back(
        from_json(claim_text(entry.path().string()), std::atoi(name.c_str() + dot + 1)));
  }
  if (error) throw OutputError("cannot read '{}': {}", folder_, error.message());
  for (auto& [cell, attempts] : found)
    std::sort(attempts.begin(), attempts.end(),
              [](const Attempt& a, const Attempt& b) { return a.number < b.number; });
  return found;
}

Attempts Claims::of(const std::string& cell) const {
  Attempts attempts;
  for (int number = 1; fs::exists(file(cell, number)); ++number)
    attempts.push_back(from_json(claim_text(file(cell, number)), number));
  return attempts;
}

double Claims::age(const std::string& path) const {
  // Both times are the file server's: our clock file is changed now, and the lease was when it was
  // renewed last.
  const int fd = ::open(clock_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return 0;
  struct stat now {
  }, then{};
  const bool good = ::futimens(fd, nullptr) == 0 && ::fstat(fd, &now) == 0;
  ::close(fd);
  if (!good || ::stat(path.c_str(), &then) != 0) return 0;
  return static_cast<double>(now.st_mtim.tv_sec - then.st_mtim.tv_sec) +
         1e-9 * static_cast<double>(now.st_mtim.tv_nsec - then.st_mtim.tv_nsec);
}

bool Claims::abandoned(const std::string& cell, const Attempt& attempt) const {
  // A time far in the future is nobody's either: a clock, or a hand, put it there.
  return attempt.state == AttemptState::running &&
         (is_gone(attempt.owner) || std::abs(age(file(cell, attempt.number))) > lease_);
}

bool Claims::claim(const std::string& cell, int number, const std::string& round,
                   const std::string& job) {
  const std::string path = file(cell, number);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0 && errno == EEXIST) return false;
  if (fd < 0) throw OutputError("cannot write '{}': {}", path, std::strerror(errno));
  Attempt attempt;
  attempt.number = number;
  attempt.owner = process_identity();
  attempt.host = host_name();
  attempt.started = utc_now();
  attempt.round = round;
  attempt.job = job;
  const std::string text = to_json(attempt);
  const bool whole = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  if (!whole) {
    ::unlink(path.c_str());
    throw OutputError("cannot write '{}': {}", path, std::strerror(errno));
  }
  const std::lock_guard lock(mutex_);
  cell_ = cell;
  attempt_ = attempt;
  return true;
}

bool Claims::holds() const {
  return !cell_.empty() && !fs::exists(file(cell_, attempt_.number + 1));
}

void Claims::finish(AttemptState state, Attempt outcome) {
  const std::string cell = cell_;
  outcome.state = state;
  record(cell, release(outcome));
}

Attempt Claims::release(Attempt outcome) {
  const std::lock_guard lock(mutex_);
  outcome.number = attempt_.number, outcome.owner = attempt_.owner, outcome.host = attempt_.host;
  outcome.started = attempt_.started, outcome.round = attempt_.round, outcome.job = attempt_.job;
  cell_.clear();
  return outcome;
}

void Claims::record(const std::string& cell, Attempt attempt) const {
  replace_whole(file(cell, attempt.number), to_json(attempt));
}

// Several renewals within a lease, so that one that is late does not end it.
void Claims::renew() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    wake_.wait_for(lock, std::chrono::duration<double>(lease_ / 8));
    if (!cell_.empty()) ::utimensat(AT_FDCWD, file(cell_, attempt_.number).c_str(), nullptr, 0);
  }
}

int failures(const Attempts& attempts) {
  int count = 0;
  for (const Attempt& attempt : attempts) {
    if (attempt.state == AttemptState::forgiven) count = 0;
    count += attempt.state == AttemptState::failed;
  }
  return count;
}

std::string last_line(const std::string& log) {
  std::ifstream in(log, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const std::streamoff size = in.tellg(), from = std::max<std::streamoff>(0, size - 4096);
  in.seekg(from);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  text.erase(text.find_last_not_of(" \r\n") + 1);
  const std::size_t line = text.rfind('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

}  // namespace draftlab
