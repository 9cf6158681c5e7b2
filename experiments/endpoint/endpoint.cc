#include "experiments/endpoint/endpoint.h"

#include <signal.h>
#include <sys/random.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/stop_request.h"
#include "experiments/arm/shown_arm.h"
#include "experiments/endpoint/connections.h"
#include "experiments/endpoint/decoding.h"

namespace draftlab {
namespace {

struct ServeFlags {
  ConnectionOptions connections;
  Chat format = Chat::plain;
  std::int64_t together = 8, waiting = 256;
  void declare(OptionSet& set) {
    set.add("port", &connections.port).in(0, 65535).help("Port to listen at; 0 takes a free one.");
    set.add("host", &connections.host)
        .help(
            "Address to listen at. At any that others can reach, clients must show a token: "
            "DRAFTLAB_TOKEN of the environment, or one that is made and shown.");
    set.add("origin", &connections.origin)
        .help("Pages of this origin may ask from a browser, too; * stands for any.");
    set.add("name", &connections.model).help("Name of the model; without it that of the config.");
    set.add("format", &format)
        .help(
            "How the turns of a chat are marked: plain joins them with empty lines, and model "
            "marks them as the tokenizer's own tokens do.");
    set.add("tokens", &connections.limits.tokens)
        .in(1, 1 << 20)
        .help("The most tokens that an answer may have.");
    set.add("answers", &connections.limits.answers)
        .in(1, 1 << 16)
        .help("The most answers that a request may ask for.");
    set.add("body", &connections.body).in(1, 1 << 30).help("The most bytes of a request's body.");
    set.add("together", &together).in(1, 1024).help("Answers that are decoded side by side.");
    set.add("waiting", &waiting)
        .in(1, 1 << 20)
        .help(
            "Number of further answers that may wait; a request that finds no room is refused with "
            "503.");
  }
};

std::string new_token() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    throw Fault("the system gave no random bytes for a token");
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

// How many signals to end came. A signal handler counts them.
std::atomic<int> signals_to_end = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void on_signal_to_end(int) {
  if (++signals_to_end < 2) return;
  request_stop();
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
}

// While an object lives, the first SIGINT or SIGTERM lets what runs be finished, the second drops
// it, and a third ends the process at once.
class EndOnSignals {
 public:
  explicit EndOnSignals(Decoding& decoding) {
    ::signal(SIGINT, on_signal_to_end);
    ::signal(SIGTERM, on_signal_to_end);
    thread_ = std::thread([this, &decoding] { wait(decoding); });
  }
  ~EndOnSignals() {
    over_ = true;
    thread_.join();
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
  }
  EndOnSignals(const EndOnSignals&) = delete;

 private:
  void wait(Decoding& decoding) const {
    while (!over_ && signals_to_end == 0) std::this_thread::sleep_for(kBetweenLooks);
    if (over_) return;
    std::cerr << "ending: requests that run are finished first; a second signal drops them\n";
    decoding.drain();
  }

  static constexpr std::chrono::milliseconds kBetweenLooks{50};
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

int serve(const ServeFlags& flags, const CommandLine& line, const Registries& registries) {
  Diagnostics diagnostics;
  const Config config = Config::read(line.paths[0], line.overrides, diagnostics);
  diagnostics.raise();
  std::vector<ComposedArm> composed = compose_arms(config, registries);
  ShapedArms arms(std::move(composed[shown_arm(composed)]), registries);
  if (arms.as_configured().models.target().facts().dimension > 0)
    throw ConfigError("{}: its model decodes images, and this protocol carries texts",
                      line.paths[0]);

  ConnectionOptions options = flags.connections;
  if (options.model.empty()) options.model = std::filesystem::path(line.paths[0]).stem().string();
  const char* const given = std::getenv("DRAFTLAB_TOKEN");
  if (given) options.token = given;
  const bool made = options.token.empty() && !is_loopback(options.host);
  if (made) options.token = new_token();

  Decoding decoding(arms, flags.format, static_cast<std::size_t>(flags.together),
                    static_cast<std::size_t>(flags.waiting));
  const EndOnSignals ending(decoding);
  Connections connections(options, decoding);
  std::cout << fmt::format("{} is served at http://{}:{}/v1\n", options.model, options.host,
                           connections.port());
  if (made) std::cout << "clients must show this token: " << options.token << "\n";
  std::cout << std::flush;
  decoding.run();
  connections.close();
  return 0;
}

}  // namespace

Command serve_command() {
  return {.name = "serve",
          .arguments = "CONFIG",
          .summary = "answer OpenAI's completions and chat protocols by a config's decoder",
          .takes_config = true,
          .flags = with_flags(serve)};
}

}  // namespace draftlab
