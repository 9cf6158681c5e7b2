// Another process is reached in one of two ways: it is started as a child, or found at an address.
#include <netdb.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fcntl.h>
#include <netinet/tcp.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "plugins/remote/peer.h"
#include "plugins/remote/python_plugin.h"

extern char** environ;

namespace draftlab {

std::string python_package() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = program.parent_path().parent_path() / "share/draftlab/python";
  for (const fs::path& folder : {installed, fs::path(DRAFTLAB_PYTHON_PACKAGE)})
    if (fs::exists(folder / "draftlab", error)) return folder.string();
  return {};
}

namespace remote {
namespace {

// Returns the environment of a Python process, which finds the package of this program first.
std::vector<std::string> environment() {
  const std::string key = "PYTHONPATH=";
  std::string path;
  std::vector<std::string> variables;
  for (char** variable = environ; *variable; ++variable) {
    if (std::strncmp(*variable, key.c_str(), key.size()) == 0)
      path = *variable + key.size();
    else
      variables.emplace_back(*variable);
  }
  if (const std::string package = python_package(); !package.empty())
    path = package + (path.empty() ? "" : ":" + path);
  if (!path.empty()) variables.push_back(key + path);
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

Connected connected(int descriptor) {
  Connected made;
  made.channel = std::make_unique<Channel>(descriptor);
  return made;
}

Connected connect_unix(const std::string& address, const std::string& path) {
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  if (path.size() >= sizeof where.sun_path)
    throw ConfigError("{}: the path of a socket may have {} bytes", address,
                      sizeof where.sun_path - 1);
  std::strcpy(where.sun_path, path.c_str());
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(descriptor, reinterpret_cast<sockaddr*>(&where), sizeof where) != 0) {
    const std::string why = std::strerror(errno);
    ::close(descriptor);
    throw ConfigError("{} cannot be reached: {}", address, why);
  }
  Connected made = connected(descriptor);
  ucred server{};
  socklen_t size = sizeof server;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &server, &size) != 0 ||
      server.uid != ::geteuid())
    throw ConfigError("{} is served by user {}, and only a server of user {} is connected to",
                      address, server.uid, ::geteuid());
  return made;
}

Connected connect_tcp(const std::string& address, const std::string& place) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos)
    throw ConfigError("'{}' is no address; write tcp:HOST:PORT", address);
  std::string host = place.substr(0, colon);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), place.c_str() + colon + 1, &wanted, &found))
    throw ConfigError("{} cannot be reached: {}", address, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  std::string why = "no address";
  for (const addrinfo* each = found; each; each = each->ai_next) {
    const int descriptor = ::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor >= 0 && ::connect(descriptor, each->ai_addr, each->ai_addrlen) == 0) {
      const int at_once = 1;
      ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
      return connected(descriptor);
    }
    why = std::strerror(errno);
    if (descriptor >= 0) ::close(descriptor);
  }
  throw ConfigError("{} cannot be reached: {}", address, why);
}

}  // namespace

Connected connect_to(const std::string& address) {
  if (address.starts_with("unix:")) return connect_unix(address, address.substr(5));
  if (address.starts_with("tcp:")) return connect_tcp(address, address.substr(4));
  throw ConfigError("'{}' is no address; write unix:PATH or tcp:HOST:PORT", address);
}

std::string secret_in(const std::string& file, const std::string& option) {
  if (file.empty()) return {};
  std::ifstream opened(file);
  std::string line;
  if (!std::getline(opened, line) || line.empty())
    throw ConfigError("{} = {} holds no secret in its first line", option, file);
  return line;
}

Connected start_python(const std::string& python, const std::string& file) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw ConfigError("{}: no socket for its process: {}", file, std::strerror(errno));
  std::vector<std::string> words = {python, "-m",           "draftlab.worker",
                                    file,   "--connection", std::to_string(ends[1])};
  std::vector<std::string> variables = environment();
  const std::vector<char*> arguments = pointers(words), its_environment = pointers(variables);
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);  // The parent died in between.
    ::signal(SIGINT, SIG_IGN);              // Ctrl-C ends draftlab, and that ends this process.
    ::signal(SIGTERM, SIG_IGN);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, 0);
    ::dup2(2, 1);  // What a part prints is no output of draftlab.
    ::fcntl(ends[1], F_SETFD, 0);
    ::close_range(3, static_cast<unsigned>(ends[1]) - 1, 0);
    ::close_range(static_cast<unsigned>(ends[1]) + 1, ~0u, 0);
    ::execvpe(python.c_str(), arguments.data(), its_environment.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  Connected made = connected(ends[0]);
  if (process < 0) throw ConfigError("{}: no process for it: {}", file, std::strerror(errno));
  made.process = process;
  return made;
}

}  // namespace remote
}  // namespace draftlab
