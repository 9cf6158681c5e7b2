// A peer is another process that answers draftlab's calls: a Python worker that was started here,
// or a server that was there before.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "plugins/remote/part_spec.h"
#include "plugins/remote/wire/channel.h"
#include "plugins/remote/wire/shared_memory.h"

namespace draftlab::remote {

// Answers what a process asks while it computes an answer of its own.
using Serve = std::function<Message(const Message& query)>;

// A connection, and the process at its other end if draftlab started it (-1 if not).
struct Connected {
  std::unique_ptr<Channel> channel;
  pid_t process = -1;
};

struct PeerOptions {
  // How many seconds a call may take, with all that it asks meanwhile; and how many all calls of a
  // part in one step may take together.
  double timeout = 60, step_timeout = 600;
  // How many seconds the process may take to start and to announce its parts.
  double starting = 120;
  // Makes every decision twice, and refuses one that comes out differently.
  bool twice = false;
  std::string secret;
};

class Peer {
 public:
  // `name`, a file or an address, begins every sentence about the process. Throws ConfigError when
  // it cannot be reached, or its parts cannot be loaded.
  Peer(std::string name, std::function<Connected()> connect, PeerOptions options);
  ~Peer();
  Peer(const Peer&) = delete;
  // Says whether this process holds a connection, which no copy of it could use beside it.
  static bool any();

  const std::string& name() const { return name_; }
  const std::vector<PartSpec>& parts() const { return parts_; }
  // Returns the interpreter, its packages and the digest of the file, such as "python 3.11.2, numpy
  // 1.24.2; a.py 0f3c".
  const std::string& runtime() const { return runtime_; }

  // Connects again where the other process has ended. Its instances are then gone, and the
  // generation is another.
  void ensure();
  int generation() const { return generation_; }
  // Returns memory that the other process may write to, for who asks it; null where it shares none,
  // and while too much of it is in use.
  std::shared_ptr<SharedMemory> share(const std::string& who, std::size_t bytes);
  // Sends a request and returns the answer. `who` names the part in every sentence, and `spent`
  // says how many seconds its calls took in this step so far. A PartFault carries the other side's
  // traceback, or says that it ended, hung, asked for ever or answered nonsense.
  Message request(const std::string& who, const Message& message, const Serve& serve = nullptr,
                  double spent = 0);
  // Sends a message that needs no answer, unless the generation that it is for has ended.
  void tell(int generation, Message message) noexcept;

 private:
  void open();
  // Runs `exchange` with the seconds that it may take, and says in a sentence about `place` why the
  // connection ended in it.
  template <class Exchange>
  auto connected(const std::string& place, double spent, const Exchange& exchange);
  // Returns how the process ended, such as " (killed by signal 9)"; "" if it was not started here.
  std::string close();
  // Ends the process, where draftlab started it, and the connection.
  void kill();
  // Waits for the answer, and answers what is asked before it.
  Message converse(const Message& message, const Serve& serve, double seconds);

  std::string name_;
  std::function<Connected()> connect_;
  PeerOptions options_;
  Connected connected_;
  std::vector<PartSpec> parts_;
  std::string runtime_;
  int generation_ = 0;
  bool shares_memory_ = false;
  SharedPool pool_;
};

// Starts `python -m draftlab.worker FILE`, which ends with this process, however that ends.
Connected start_python(const std::string& python, const std::string& file);
// Connects to "unix:PATH" or "tcp:HOST:PORT". A Unix socket that another user serves is refused.
Connected connect_to(const std::string& address);

// Returns the first line of a file, the secret that a server wants to hear; "" where no file is
// named. `option` is what named it.
std::string secret_in(const std::string& file, const std::string& option);

}  // namespace draftlab::remote
