// Another process that answers draftlab's calls: a Python worker that was started here, or a server
// that was there before.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "plugins/remote/channel.h"
#include "plugins/remote/part_spec.h"

namespace draftlab::remote {

// What a process asks while it computes an answer, and what it is told.
using Serve = std::function<Message(const Message& query)>;

// A connection, and the process at its other end where it is ours.
struct Connected {
  std::unique_ptr<Channel> channel;
  pid_t process = -1;
};

struct PeerOptions {
  double timeout = 60;    // seconds that a call may take
  double starting = 120;  // seconds until it has said what it has
  bool twice = false;     // every decision is made twice, and must come out the same
  std::string secret;
};

class Peer {
 public:
  // `name`, a file or an address, begins every sentence about it. ConfigError when it cannot be
  // reached, or what it has cannot be loaded.
  Peer(std::string name, std::function<Connected()> connect, PeerOptions options);
  ~Peer();
  Peer(const Peer&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<PartSpec>& parts() const { return parts_; }
  // Interpreter and packages, and the digest of the file: "python 3.11.2, numpy 1.24.2; a.py 0f3c".
  const std::string& runtime() const { return runtime_; }

  // Connects again where the other process has ended. Instances of before are then gone.
  void ensure();
  int generation() const { return generation_; }
  bool shares_memory() const { return shares_memory_; }
  // Sends a request and returns what it was answered. `who` names the part in every sentence; a
  // Fault carries the other side's traceback, or says that it ended, hung or answered nonsense.
  Message request(const std::string& who, Message message, const Serve& serve = nullptr);
  // Sends what needs no answer, of whoever was made in that generation.
  void tell(int generation, Message message) noexcept;

 private:
  void open();
  std::string close();  // how the process ended, where it was ours: " (killed by signal 9)"

  std::string name_;
  std::function<Connected()> connect_;
  PeerOptions options_;
  Connected connected_;
  std::vector<PartSpec> parts_;
  std::string runtime_;
  int generation_ = 0;
  bool shares_memory_ = false;
};

// Starts `python -m draftlab.worker FILE`; it ends with this process, however that ends.
Connected start_python(const std::string& python, const std::string& file);
// Connects to "unix:PATH" or "tcp:HOST:PORT".
Connected connect_to(const std::string& address);

}  // namespace draftlab::remote
