#include "plugins/remote/peer.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

#include "core/base/author.h"
#include "core/base/stop_request.h"

namespace draftlab::remote {
namespace {

std::string text_of(const Json& error, const char* key) {
  const auto found = error.is_object() ? error.find(key) : error.end();
  return found != error.end() && found->is_string() ? found->get<std::string>() : "";
}

// The peers of this process.
std::atomic<int> peers = 0;

}  // namespace

Peer::Peer(std::string name, std::function<Connected()> connect, PeerOptions options)
    : name_(std::move(name)), connect_(std::move(connect)), options_(std::move(options)) {
  open();
  ++peers;
}

Peer::~Peer() {
  close();
  --peers;
}

bool Peer::any() { return peers > 0; }

std::string Peer::close() {
  connected_.channel.reset();  // The other process ends when its connection does.
  const pid_t process = std::exchange(connected_.process, -1);
  if (process < 0) return "";
  int status = 0;
  constexpr int kPatience = 200;  // The end is awaited so many times 5 ms.
  for (int waited = 0; waited < kPatience; ++waited) {
    if (::waitpid(process, &status, WNOHANG) == process) {
      if (WIFSIGNALED(status))
        return " (killed by signal " + std::to_string(WTERMSIG(status)) + ")";
      constexpr int kNotFound = 127;
      return WEXITSTATUS(status) == kNotFound
                 ? "; that interpreter cannot be started, --python and DRAFTLAB_PYTHON name another"
                 : " (status " + std::to_string(WEXITSTATUS(status)) + ")";
    }
    ::usleep(5000);
  }
  ::kill(process, SIGKILL);
  ::waitpid(process, &status, 0);
  return "";
}

void Peer::ensure() {
  if (connected_.channel && connected_.channel->ended()) close();
  if (!connected_.channel) open();
}

void Peer::open() {
  try {
    connected_ = connect_();
    ++generation_;
    pool_ = {};  // What the process before this one knew is not known to this one.
    Message hello;
    hello.header = {{"draftlab", "wire"},
                    {"version", kVersion},
                    {"limits", {{"header", kMostHeader}, {"payload", kMostPayload}}},
                    {"twice", options_.twice},
                    {"secret", options_.secret},
                    {"shares_memory", connected_.channel->is_local()}};
    connected_.channel->send(hello, options_.starting);
    const Message said = connected_.channel->receive(options_.starting);
    if (const auto error = said.header.find("e"); error != said.header.end()) {
      close();
      throw ConfigError("{}: {}", name_, text_of(*error, "text"));
    }
    if (said.header.value("draftlab", "") != "wire" || said.header.value("version", 0) != kVersion)
      throw MalformedMessage("version {} of the wire, and this program speaks version {}",
                             said.header.value("version", Json()).dump(), kVersion);
    const Json& limits = said.header.at("limits");
    connected_.channel->limit(limits.at("header"), limits.at("payload"));
    shares_memory_ = connected_.channel->is_local() && said.header.value("shares_memory", false);
    runtime_ = said.header.at("runtime").get<std::string>();
    parts_.clear();
    for (const Json& part : said.header.at("parts")) parts_.push_back(part_spec(part));
  } catch (const Json::exception& error) {
    close();
    throw ConfigError("{} announced something damaged: {}", name_, plain(error));
  } catch (const MalformedMessage& error) {
    close();
    throw ConfigError("{} announced {}", name_, error.what());
  } catch (const Lost&) {
    throw ConfigError("{}: its process ended before it said what it has{}", name_, close());
  } catch (const Stopped&) {
    kill();
    throw;
  } catch (const TimedOut&) {
    kill();
    throw ConfigError("{}: its process did not say within {:g} s what it has", name_,
                      options_.starting);
  }
}

void Peer::kill() {
  if (connected_.process > 0) ::kill(connected_.process, SIGKILL);
  close();
}

template <class Exchange>
auto Peer::connected(const std::string& place, double spent, const Exchange& exchange) {
  if (!connected_.channel) throw PartFault("{}: its process has ended", place);
  const double of_step = options_.step_timeout - spent;
  try {
    return exchange(std::min(options_.timeout, of_step));
  } catch (const MalformedMessage& error) {
    kill();
    throw PartFault("{} sent {}", place, error.what());
  } catch (const Lost&) {
    throw PartFault("{}: its process ended while it was asked something{}", place, close());
  } catch (const TimedOut&) {
    kill();
    if (of_step < options_.timeout)
      throw PartFault("{} took more than the {:g} s that a part has for a step", place,
                      options_.step_timeout);
    throw PartFault("{} did not answer within {:g} s", place, options_.timeout);
  } catch (const Stopped&) {
    kill();
    throw;
  }
}

Message Peer::converse(const Message& message, const Serve& serve, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(seconds));
  const auto left = [&] {  // A process that asks for ever never keeps draftlab waiting.
    const double its = std::chrono::duration<double>(deadline - Clock::now()).count();
    if (its <= 0) throw TimedOut("no end in time");
    return its;
  };
  check_stop();
  connected_.channel->send(message, left());
  while (true) {
    Message said = connected_.channel->receive(left());
    if (!said.header.contains("q")) return said;
    check_stop();
    Message reply;
    try {
      if (!serve) throw Fault("nothing can be asked here");
      reply = serve(said);
    } catch (const Stopped&) {
      throw;
    } catch (const Error& error) {
      reply.header = {{"a", nullptr}, {"e", error.what()}};
    } catch (const MalformedMessage& error) {
      reply.header = {{"a", nullptr}, {"e", error.what()}};
    } catch (const Json::exception& error) {
      reply.header = {{"a", nullptr}, {"e", not_allowed(said.header, error)}};
    }
    // A call within the query may have found the process gone.
    if (!connected_.channel) throw Lost("gone");
    connected_.channel->send(reply, left());
  }
}

Message Peer::request(const std::string& who, const Message& message, const Serve& serve,
                      double spent) {
  const std::string place = who + " (" + name_ + ")";
  const Message said =
      connected(place, spent, [&](double seconds) { return converse(message, serve, seconds); });
  const auto error = said.header.find("e");
  if (error == said.header.end()) return said;
  const std::string text = place + ": " + text_of(*error, "text");
  if (text_of(*error, "kind") == "config") throw ConfigError(text);
  throw PartFault(text);
}

std::shared_ptr<SharedMemory> Peer::share(const std::string& who, std::size_t bytes) {
  if (!shares_memory_) return nullptr;
  const auto [taken, fresh] = pool_.take(bytes);
  if (!fresh) return taken;
  const std::shared_ptr<SharedMemory> memory = taken;
  Message announced;
  announced.header = {{"c", "memory"}, {"slot", memory->slot()}, {"bytes", memory->bytes()}};
  request(who, announced);  // The other process now waits for the descriptor.
  connected(who + " (" + name_ + ")", 0, [&](double seconds) {
    connected_.channel->send_descriptor(memory->descriptor(), seconds);
  });
  return memory;
}

void Peer::tell(int generation, Message message) noexcept {
  if (!connected_.channel || generation != generation_) return;
  try {
    connected_.channel->send(message, options_.timeout);
  } catch (const std::exception&) {  // The next request finds out and says so.
  }
}

}  // namespace draftlab::remote
