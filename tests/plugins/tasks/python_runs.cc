#include "plugins/tasks/python_runs.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "plugins/tasks/sandbox.h"

namespace draftlab {
namespace {

constexpr const char* kPython = "/usr/bin/python3";

// Whether programs can be run here; says why not.
bool able() {
  try {
    PythonLimits{kPython}.check("test");
    return true;
  } catch (const ConfigError& error) {
    std::cout << "no sandbox here, so it is not tested: " << error.what() << "\n";
    return false;
  }
}

TEST_CASE("code is taken out of an answer") {
  CHECK(extracted_code("So: [BEGIN]\nx = 1\n[DONE] That is it.") == "\nx = 1\n");
  CHECK(extracted_code("Look:\n```python\nx = 1\n```\nDone.") == "x = 1\n");
  CHECK(extracted_code("[BEGIN]\nx = 1") == "\nx = 1");
  CHECK(extracted_code("x = 1") == "x = 1");
  CHECK(extracted_code("```") == "");
}

TEST_CASE("a sandbox that cannot be is refused in a sentence") {
  CHECK(run_in_sandbox({"/nowhere/python"}, "", {}).status == -1);
  try {
    PythonLimits{"/nowhere/python"}.check("mbpp");
    CHECK(false);
  } catch (const ConfigError& error) {
    const std::string what = error.what();
    CHECK(what.starts_with("task.mbpp.python = /nowhere/python cannot run: programs of a model run only in a bubblewrap sandbox, and there is no "));
  }
  PythonLimits{}.check("mbpp");  // nothing runs
}

TEST_CASE("the sandbox: programs run to their end or fail") {
  if (!able()) return;
  const auto runs = [](const std::string& program, PythonLimits limits = {kPython, 20, 512}) { return python_succeeds(program, limits); };
  CHECK(runs("assert sorted([2, 1]) == [1, 2]"));
  CHECK(runs("import math, re, collections, heapq, typing, threading\nt = threading.Thread(target=print)\nt.start()\nt.join()"));
  CHECK_FALSE(runs("assert 1 == 2"));
  CHECK_FALSE(runs("def f(:"));
  CHECK_FALSE(runs("import sys\nsys.exit(0)\n"));        // leaving early is no success
  CHECK_FALSE(runs("import os\nos._exit(0)\n"));
  CHECK(runs("x = '" + std::string(300000, 'x') + "'"));  // longer than an argument may be
}

TEST_CASE("the sandbox: no network, no writing, no processes, no memory, no endless loops") {
  if (!able()) return;
  const auto runs = [](const std::string& program, PythonLimits limits = {kPython, 20, 512}) { return python_succeeds(program, limits); };

  // A server of ours, which a program without a sandbox would reach.
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(bind(server, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(listen(server, 1) == 0);
  REQUIRE(getsockname(server, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const std::string connects = "import socket\nsocket.create_connection(('127.0.0.1', " + std::to_string(ntohs(address.sin_port)) + "), 5)";
  CHECK(std::system(("exec " + std::string(kPython) + " -c \"" + connects + "\"").c_str()) == 0);
  CHECK_FALSE(runs(connects));
  close(server);

  const std::string place = (std::filesystem::temp_directory_path() / ("draftlab_sandbox_" + std::to_string(getpid()))).string();
  for (const std::string& path : {place, std::string("/usr/draftlab"), std::string(DRAFTLAB_SOURCE_DIR) + "/draftlab_sandbox"}) {
    CHECK_FALSE(runs("f = open('" + path + "', 'w')\nf.write('x')\nf.flush()"));
    CHECK_FALSE(std::filesystem::exists(path));
  }
  CHECK_FALSE(runs("open('" + std::string(DRAFTLAB_SOURCE_DIR) + "/README.md').read()"));  // nor reading, but of the system
  CHECK_FALSE(runs("import os\nassert 'USER' in os.environ or 'SHELL' in os.environ or len(os.environ) > 6"));
  CHECK(runs("import os\nassert len([p for p in os.listdir('/proc') if p.isdigit()]) <= 3"));

  CHECK_FALSE(runs("import os\nos.fork()"));
  CHECK_FALSE(runs("import subprocess\nsubprocess.run(['/bin/true'])"));
  CHECK_FALSE(runs("import os\nwhile True: os.fork()"));
  CHECK_FALSE(runs("bytearray(1 << 30)"));
  CHECK_FALSE(runs("x = []\nwhile True: x.append('y' * 1000000)"));

  // Limited to one second; the machine may be slow, but not by fifty times.
  const auto seconds = [&](const std::string& program) {
    const auto start = std::chrono::steady_clock::now();
    CHECK_FALSE(runs(program, {kPython, 1, 512}));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  CHECK(seconds("while True: pass") < 50);
  CHECK(seconds("import time\ntime.sleep(60)") < 50);
  CHECK(seconds("import os, time\nos.close(2)\ntime.sleep(60)") < 50);
  CHECK(seconds("import signal, time\nfor s in (signal.SIGTERM, signal.SIGXCPU, signal.SIGALRM): signal.signal(s, signal.SIG_IGN)\nwhile True: pass") < 50);
}

}  // namespace
}  // namespace draftlab
