#include "core/config/plugin_file.h"

#include <doctest/doctest.h>

#include "core/config/composition.h"

namespace draftlab {
namespace {

const std::string kDigest(64, 'a'), kOther(64, 'b');

std::vector<NamedPlugin> read(const std::string& text, Diagnostics& diagnostics) {
  return named_plugins(Config::parse(text, "there/a.ini", diagnostics), diagnostics);
}

TEST_CASE("paths of plugins are relative to the config that names them") {
  Diagnostics diagnostics;
  const auto found =
      read("[plugins]\nmine = my parts.py\nlib = /opt/libtheirs.so sha256:" + kDigest +
               "\nnear = unix:near\n",
           diagnostics);
  REQUIRE(diagnostics.empty());
  REQUIRE(found.size() == 3);
  CHECK(found[0].name == "mine");
  CHECK(found[0].path == "there/my parts.py");
  CHECK(found[0].digest.empty());
  CHECK(found[0].said == "there/a.ini:2: plugins.mine = there/my parts.py");
  CHECK(found[1].path == "/opt/libtheirs.so");
  CHECK(found[1].digest == kDigest);
  CHECK(found[2].path == "unix:near");
}

TEST_CASE("what names no file, and a digest that is none, are faults") {
  Diagnostics diagnostics;
  read("[plugins]\na =\nb = b.py sha256:0f\n", diagnostics);
  REQUIRE(diagnostics.sentences().size() == 2);
  CHECK(diagnostics.sentences()[0] ==
        "there/a.ini:2: plugins.a = : names no file; write plugins.a = "
        "FILE");
  CHECK(diagnostics.sentences()[1].ends_with("64 hexadecimal digits in lower case"));
}

TEST_CASE("a flag's plugin has the name of its stem") {
  CHECK(plugin_flag("a/My Parts.py").name == "my-parts");
  CHECK(plugin_flag("a/My Parts.py").said == "--plugin a/My Parts.py");
  CHECK(plugin_flag("tcp:host:7").name == "tcp-host-7");
}

TEST_CASE("an arm's id is of what is in its plugins, not of where they lie nor of their names") {
  const auto section = [](const std::string& lines) {
    return "router = mine\n\n[plugins]\n" + lines;
  };
  const std::string one = arm_id(section("a = /here/a.py sha256:" + kDigest + "\n"));
  CHECK(one == arm_id(section("b = /there/b.py sha256:" + kDigest + "\n")));
  CHECK(one != arm_id(section("a = /here/a.py sha256:" + kOther + "\n")));
  CHECK(one != arm_id("router = mine\n"));
  CHECK(arm_id("router = mine\n") == id_of("router = mine\n"));
  CHECK(arm_id(section("a = /a sha256:" + kDigest + "\nb = /b sha256:" + kOther + "\n")) ==
        arm_id(section("a = /b sha256:" + kOther + "\nb = /a sha256:" + kDigest + "\n")));
}

}  // namespace
}  // namespace draftlab
