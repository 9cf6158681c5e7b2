#include "plugins/tasks/benchmarks/python_runs.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "plugins/tasks/benchmarks/sandbox.h"
#include "tests/plugins/tasks/benchmarks/python_at_hand.h"

namespace draftlab {
namespace {

TEST_CASE("code is taken out of an answer") {
  CHECK(extracted_code("So: [BEGIN]\nx = 1\n[DONE] That is it.") == "\nx = 1\n");
  CHECK(extracted_code("Look:\n```python\nx = 1\n```\nDone.") == "x = 1\n");
  CHECK(extracted_code("[BEGIN]\nx = 1") == "\nx = 1");
  CHECK(extracted_code("x = 1") == "x = 1");
  CHECK(extracted_code("```") == "");
}

TEST_CASE("a sandbox that cannot be is refused in a sentence") {
  CHECK(run_in_sandbox({{"/nowhere/python"}, ""}, {}).status == -1);
  try {
    PythonLimits{"/nowhere/python"}.check("mbpp");
    CHECK(false);
  } catch (const ConfigError& error) {
    const std::string what = error.what();
    CHECK(
        what.starts_with("task.mbpp.python = /nowhere/python cannot run: programs of a model run "
                         "only in a bubblewrap sandbox, and there is no "));
  }
  PythonLimits{}.check("mbpp");  // Nothing runs.
}

TEST_CASE("the sandbox: programs run to their end or fail") {
  if (!testing::runs_python()) return;
  const auto runs = [](const std::string& program,
                       PythonLimits limits = {testing::kPython, 20, 512}) {
    return python_succeeds({program}, limits);
  };
  CHECK(runs("assert sorted([2, 1]) == [1, 2]"));
  CHECK(
      runs("import math, re, collections, heapq, typing, threading\nt = "
           "threading.Thread(target=print)\nt.start()\nt.join()"));
  CHECK_FALSE(runs("assert 1 == 2"));
  CHECK_FALSE(runs("def f(:"));
  CHECK_FALSE(runs("import sys\nsys.exit(0)\n"));  // Leaving early is no success.
  CHECK_FALSE(runs("import os\nos._exit(0)\n"));
  CHECK_FALSE(runs("import os\nos._exit(113)\n"));
  for (int status = 0; status < 256; status += 51)
    CHECK_FALSE(runs("raise SystemExit(" + std::to_string(status) + ")"));
  CHECK(
      runs("import os, sys\nassert os.read(0, 10) == b''\nos.lseek(0, 0, 0)\nassert os.read(0, 10) "
           "== b''\nassert sys.stdin.read() == "
           "''"));  // Its own tests cannot be read.
  CHECK(runs("import sys\nfor _ in range(10000): print('noise', file=sys.stderr)"));
  CHECK(runs(
      "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass "
      "A:\n    x: int = 1\nassert A() == A(1) and __name__ == 'builtins'"));
  CHECK(runs("x = '" + std::string(300000, 'x') + "'"));  // Longer than an argument may be.
}

TEST_CASE("the sandbox: no network, no writing, no processes, no memory, no endless loops") {
  if (!testing::runs_python()) return;
  const auto runs = [](const std::string& program,
                       PythonLimits limits = {testing::kPython, 20, 512}) {
    return python_succeeds({program}, limits);
  };

  // A server of ours, which a program without a sandbox would reach.
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(bind(server, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(listen(server, 1) == 0);
  REQUIRE(getsockname(server, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const std::string connects = "import socket\nsocket.create_connection(('127.0.0.1', " +
                               std::to_string(ntohs(address.sin_port)) + "), 5)";
  CHECK(std::system(
            ("exec " + std::string(testing::kPython) + " -c \"" + connects + "\"").c_str()) == 0);
  CHECK_FALSE(runs(connects));
  close(server);

  const std::string place =
      (std::filesystem::temp_directory_path() / ("draftlab_sandbox_" + std::to_string(getpid())))
          .string();
  for (const std::string& path : {place, std::string("/usr/draftlab"),
                                  std::string(DRAFTLAB_SOURCE_DIR) + "/draftlab_sandbox"}) {
    CHECK_FALSE(runs("f = open('" + path + "', 'w')\nf.write('x')\nf.flush()"));
    CHECK_FALSE(std::filesystem::exists(path));
  }
  // The program may not read either, but for files of the system.
  CHECK_FALSE(runs("open('" + std::string(DRAFTLAB_SOURCE_DIR) + "/README.md').read()"));
  CHECK_FALSE(runs(
      "import os\nassert 'USER' in os.environ or 'SHELL' in os.environ or len(os.environ) > 6"));
  // Root's number is enough to write there what holds for the whole kernel.
  CHECK(runs("import os\nassert not os.path.exists('/proc')"));
  CHECK(
      runs("import os\nassert os.getuid() != 0 and os.geteuid() != 0 and os.getgid() != 0 and "
           "os.getgroups() in ([], [os.getgid()], [65534])"));
  CHECK(
      runs("import os\nfor path in ('/', '/tmp', '/dev', '/dev/shm', '/usr'):\n"
           "    for make in (lambda p: os.symlink('x', p), os.mkdir, os.mkfifo):\n"
           "        try: make(path + '/made')\n"
           "        except OSError: continue\n"
           "        raise SystemExit('made ' + path)"));

  CHECK_FALSE(runs("import os\nos.fork()"));
  CHECK_FALSE(runs("import subprocess\nsubprocess.run(['/bin/true'])"));
  CHECK_FALSE(runs("import os\nwhile True: os.fork()"));
  CHECK_FALSE(runs("bytearray(1 << 30)"));
  CHECK_FALSE(runs("x = []\nwhile True: x.append('y' * 1000000)"));

  // Descriptors that are open here without close-on-exec, low and high, are not there inside.
  const int low = open("/dev/null", O_RDONLY), high = fcntl(low, F_DUPFD, 800);
  REQUIRE((low > 2 && high >= 800));
  CHECK(
      runs("import os, stat\nfor fd in range(3, 2000):\n"
           "    try: kind = os.fstat(fd).st_mode\n    except OSError: continue\n"
           "    if not stat.S_ISSOCK(kind): raise SystemExit('open')"));
  close(low);
  close(high);

  // Limited to one second; the machine may be slow, but not by fifty times.
  const auto seconds = [&](const std::string& program) {
    const auto start = std::chrono::steady_clock::now();
    CHECK_FALSE(runs(program, {testing::kPython, 1, 512}));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  CHECK(seconds("while True: pass") < 50);
  CHECK(seconds("import time\ntime.sleep(60)") < 50);
  CHECK(seconds("import os, time\nos.close(2)\ntime.sleep(60)") < 50);
  CHECK(seconds("import signal, time\nfor s in (signal.SIGTERM, signal.SIGXCPU, signal.SIGALRM): "
                "signal.signal(s, signal.SIG_IGN)\nwhile True: pass") < 50);
}

TEST_CASE("the sandbox: each refused system call is refused") {
  if (!testing::runs_python()) return;
  std::string program =
      "import ctypes\ncall = ctypes.CDLL(None, use_errno=True).syscall\nfor number in (";
  for (const long number : {long{SYS_ptrace},
                            long{SYS_process_vm_readv},
                            long{SYS_process_vm_writev},
                            long{SYS_kcmp},
                            long{SYS_add_key},
                            long{SYS_request_key},
                            long{SYS_keyctl},
                            long{SYS_bpf},
                            long{SYS_perf_event_open},
                            long{SYS_userfaultfd},
                            long{SYS_io_uring_setup},
                            long{SYS_init_module},
                            long{SYS_finit_module},
                            long{SYS_delete_module},
                            long{SYS_kexec_load},
                            long{SYS_quotactl},
                            long{SYS_acct},
                            long{SYS_swapon},
                            long{SYS_unshare},
                            long{SYS_setns},
                            long{SYS_mount},
                            long{SYS_umount2},
                            long{SYS_pivot_root},
                            long{SYS_chroot},
                            long{SYS_open_tree},
                            long{SYS_move_mount},
                            long{SYS_fsopen},
                            long{SYS_fsconfig},
                            long{SYS_fsmount},
                            long{SYS_socket},
                            long{SYS_shmget},
                            long{SYS_msgget},
                            long{SYS_semget},
                            long{SYS_memfd_create},
                            long{SYS_mq_open}})
    program += std::to_string(number) + ", ";
  // Arguments that no call accepts: where it is allowed it fails, too, but with another number than
  // EPERM (1), or succeeds.
  program +=
      "):\n    ctypes.set_errno(0)\n    result = call(number, -1, -1, -1, -1, -1)\n"
      "    if result != -1 or ctypes.get_errno() != 1: raise SystemExit(f'{number}: {result}, "
      "{ctypes.get_errno()}')\n";
  // clone without CLONE_THREAD makes a process, and clone3 does not exist.
  program += "assert call(" + std::to_string(SYS_clone) +
             ", 17, 0, 0, 0, 0) == -1 and ctypes.get_errno() == 1\n";
  program +=
      "assert call(" + std::to_string(SYS_clone3) + ", 0, 0) == -1 and ctypes.get_errno() == 38\n";
  CHECK(python_succeeds({program}, {testing::kPython, 20, 512}));
}

// The processes of this machine whose command line has a word, as folders of /proc.
std::vector<std::filesystem::path> processes_with(const std::string& word) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::ifstream file(entry.path() / "cmdline");
    std::ostringstream read;
    read << file.rdbuf();  // A process that ends meanwhile has no command line, and throws nothing.
    const std::string words = read.str();
    if (words.find(word) != std::string::npos && words.find("bwrap") == std::string::npos)
      found.push_back(entry.path());
  }
  return found;
}

std::vector<std::filesystem::path> wait_for_processes(const std::string& word, bool there) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (auto found = processes_with(word); found.empty() != there) return found;
    usleep(10000);
  }
  return processes_with(word);
}

TEST_CASE(
    "the sandbox: namespaces of its own, an ordinary user outside too, and an end with the process "
    "that began it") {
  if (!testing::runs_python()) return;
  const std::string word = "draftlab-sandbox-test-" + std::to_string(getpid());
  const pid_t parent = fork();
  REQUIRE(parent >= 0);
  if (parent == 0) {
    run_in_sandbox({{testing::kPython, "-I", "-c", "import time; time.sleep(120)", word}, ""},
                   {120, 512});
    _exit(0);
  }
  const auto inside = wait_for_processes(word, true);
  // bubblewrap's first process inside carries the command's words, too, once it has become the
  // command.
  REQUIRE(!inside.empty());
  for (const std::string space : {"user", "ipc", "uts", "cgroup", "pid", "net", "mnt"}) {
    CAPTURE(space);
    CHECK(std::filesystem::read_symlink(inside[0] / "ns" / space) !=
          std::filesystem::read_symlink("/proc/self/ns/" + space));
  }
  struct stat owner {};
  REQUIRE(stat((inside[0] / "stat").c_str(), &owner) == 0);
  CHECK(owner.st_uid != 0);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  CHECK(wait_for_processes(word, false).empty());
}

}  // namespace
}  // namespace draftlab
