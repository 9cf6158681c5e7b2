#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "plugins/remote/peer.h"

namespace draftlab::remote {
namespace {

constexpr uid_t kNobody = 65534;

// A socket at which `user` listens. Only root can listen for another user.
struct Listening {
  Listening(const std::string& path, uid_t user) : path(path) {
    std::filesystem::remove(path);
    descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un where{};
    where.sun_family = AF_UNIX;
    std::strcpy(where.sun_path, path.c_str());
    REQUIRE(::bind(descriptor, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0);
    const uid_t before = ::geteuid();
    REQUIRE(::seteuid(user) == 0);
    const int listening = ::listen(descriptor, 1);
    REQUIRE(::seteuid(before) == 0);
    REQUIRE(listening == 0);
  }
  ~Listening() {
    ::close(descriptor);
    std::filesystem::remove(path);
  }
  std::string path;
  int descriptor;
};

TEST_CASE("a server of one's own user is connected to, and that of another one is not") {
  {
    const Listening own("test_connect.own", ::geteuid());
    CHECK(connect_to("unix:test_connect.own").channel->is_local());
  }
  if (::geteuid() != 0) return;
  const Listening other("test_connect.other", kNobody);
  CHECK_THROWS_WITH_AS(connect_to("unix:test_connect.other"),
                       "unix:test_connect.other is served by user 65534, and only a server of user "
                       "0 is connected to",
                       ConfigError);
}

TEST_CASE("a secret is the first line of a file") {
  std::ofstream("test_secret") << "open sesame\nand nothing else\n";
  CHECK(secret_in("test_secret", "--plugin-secret") == "open sesame");
  CHECK(secret_in("", "--plugin-secret") == "");
  std::ofstream("test_secret") << "\n";
  CHECK_THROWS_WITH_AS(secret_in("test_secret", "--plugin-secret"),
                       "--plugin-secret = test_secret holds no secret in its first line",
                       ConfigError);
  std::filesystem::remove("test_secret");
}

}  // namespace
}  // namespace draftlab::remote
