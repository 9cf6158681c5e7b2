#include "plugins/tasks/python_runs.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "core/error.h"

namespace draftlab {
namespace {

std::string between(const std::string& text, std::size_t from, const std::string& end) { return text.substr(from, text.find(end, from) - from); }

void limit(int resource, rlim_t most) {
  const rlimit both{most, most};
  setrlimit(resource, &both);
}

}  // namespace

std::string extracted_code(const std::string& answer) {
  const std::string begin = "[BEGIN]", fence = "```";
  if (const std::size_t at = answer.find(begin); at != std::string::npos) return between(answer, at + begin.size(), "[DONE]");
  if (const std::size_t at = answer.find(fence); at != std::string::npos) {
    const std::size_t line = answer.find('\n', at);  // what follows the fence on its line names the language
    return line == std::string::npos ? "" : between(answer, line + 1, fence);
  }
  return answer;
}

bool python_succeeds(const std::string& program, const PythonLimits& limits) {
  const pid_t child = fork();
  if (child < 0) throw OutputError("cannot start '" + limits.python + "': no process can be made");
  if (child == 0) {
    setpgid(0, 0);  // so that what it starts ends with it
    const int nowhere = open("/dev/null", O_RDWR);
    for (int stream : {0, 1, 2}) dup2(nowhere, stream);
    limit(RLIMIT_CPU, static_cast<rlim_t>(limits.seconds));
    limit(RLIMIT_AS, static_cast<rlim_t>(limits.megabytes) << 20);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_CORE, 0);
    execl(limits.python.c_str(), limits.python.c_str(), "-I", "-c", program.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limits.seconds);
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return false;
    if (std::chrono::steady_clock::now() > end) {
      kill(-child, SIGKILL);
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace draftlab
