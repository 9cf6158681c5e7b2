#include "experiments/endpoint/connections.h"

#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/log.h"
#include "experiments/endpoint/reply.h"

namespace draftlab {
namespace {

// A client that sends nothing, or takes nothing, for so many seconds is given up.
constexpr int kSilence = 10;
// So many clients may wait until their connection is taken; the library has 5, and the kernel
// lets the others try again after seconds, or resets them.
constexpr int kWaiting = 1024;
constexpr const char* kJson = "application/json";

std::int64_t now() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

// Compares in a time that does not say where two secrets differ.
bool same(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

// The name of a host without its port.
std::string without_port(const std::string& host) {
  if (host.starts_with("[")) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

void refuse(httplib::Response& response, const Refusal& why) {
  response.status = why.status;
  response.set_content(refusal_text(why), kJson);
  if (why.status == 503) response.set_header("Retry-After", "1");
  if (why.status == 401) response.set_header("WWW-Authenticate", "Bearer");
}

// One request that is streamed: it holds what was heard before the first event was sent.
struct Stream {
  ReplyHead head;
  std::shared_ptr<AnswerChannel> channel;
  std::size_t answers = 0;
  bool usage = false;
  std::optional<Heard> first;
  std::vector<Completion> ended = {};

  // Returns the next events; `over` says that they are the last.
  std::string next(bool& over) {
    Heard heard = first ? std::move(*first) : channel->hear();
    first.reset();
    if (const auto* piece = std::get_if<Piece>(&heard)) return piece_event(head, *piece);
    if (const auto* refusal = std::get_if<Refusal>(&heard)) {
      over = true;
      return "data: " + refusal_text(*refusal) + "\n\n";
    }
    ended.push_back(std::move(std::get<Completion>(heard)));
    std::string text = end_event(head, ended.back());
    over = ended.size() == answers;
    if (over && usage) text += usage_event(head, ended);
    if (over) text += "data: [DONE]\n\n";
    return text;
  }
};

}  // namespace

class Connections::Server {
 public:
  Server(ConnectionOptions options, Decoding& decoding)
      : options_(std::move(options)), decoding_(decoding), created_(now()) {
    const auto together = static_cast<std::size_t>(options_.together);
    http_.new_task_queue = [together] { return new httplib::ThreadPool(together); };
    http_.set_socket_options([this](int socket) {
      httplib::default_socket_options(socket);
      socket_ = socket;
    });
    http_.set_read_timeout(kSilence);
    http_.set_write_timeout(kSilence);
    http_.set_payload_max_length(static_cast<std::size_t>(options_.body));
    if (!options_.origin.empty())
      http_.set_default_headers({{"Access-Control-Allow-Origin", options_.origin},
                                 {"Access-Control-Allow-Headers", "Authorization, Content-Type"}});
    http_.set_error_handler([this](const auto& request, auto& response) {
      if (response.body.empty()) refuse(response, failure(request, response.status));
    });
    for (const auto& [path, protocol] : {std::pair("/v1/completions", Protocol::completions),
                                         std::pair("/v1/chat/completions", Protocol::chat)})
      http_.Post(path, guarded([this, protocol = protocol](const auto& request, auto& response) {
                   answer(protocol, request, response);
                 }));
    http_.Get("/v1/models", guarded([this](const auto&, auto& response) {
                response.set_content(models_text(options_.model, created_), kJson);
              }));
    http_.Get("/health", [](const auto&, auto& response) {
      response.set_content("{\"status\":\"ok\"}", kJson);
    });
    // A browser asks first whether a page may ask.
    http_.Options("/v1/.*", [this](const auto&, auto& response) {
      response.status = options_.origin.empty() ? 403 : 204;
    });
  }

  // Returns the port.
  int listen() {
    const int port = options_.port == 0
                         ? http_.bind_to_any_port(options_.host)
                         : (http_.bind_to_port(options_.host, static_cast<int>(options_.port))
                                ? static_cast<int>(options_.port)
                                : -1);
    if (port < 0)
      throw OutputError("cannot listen at {}:{}: {}; --port 0 takes a free port", options_.host,
                        options_.port, std::strerror(errno));
    // A socket that listens takes the greater length of its queue at once.
    if (::listen(socket_, kWaiting) != 0)
      throw OutputError("cannot listen at {}:{}: {}", options_.host, port, std::strerror(errno));
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    return port;
  }

  void close() {
    http_.stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  // A handler that refuses who may not ask, and replies with why a request is refused.
  httplib::Server::Handler guarded(const httplib::Server::Handler& handler) const {
    return [this, handler](const httplib::Request& request, httplib::Response& response) {
      try {
        check(request);
        handler(request, response);
      } catch (const Refusal& why) {
        refuse(response, why);
      }
    };
  }

  void check(const httplib::Request& request) const {
    // A page that lets its own name lead here is no client of this machine.
    if (options_.token.empty() && request.has_header("Host") &&
        !is_loopback(without_port(request.get_header_value("Host"))))
      throw Refusal(403, "the endpoint serves this machine alone, and the request names another");
    if (!options_.token.empty() &&
        !same(request.get_header_value("Authorization"), "Bearer " + options_.token))
      throw Refusal(401,
                    "the request has no 'Authorization: Bearer TOKEN' with the token that the "
                    "endpoint was started with");
    // Pages of a browser can send other types to any server without its leave.
    if (request.method == "POST" &&
        !request.get_header_value("Content-Type").starts_with("application/json"))
      throw Refusal(415, "the body is to be JSON: 'Content-Type: application/json'");
  }

  Refusal failure(const httplib::Request& request, int status) const {
    if (status == 413)
      return {413, "the body is longer than " + std::to_string(options_.body) + " bytes"};
    if (status == 404)
      return {404, "nothing is at " + request.method + " " + request.path +
                       "; there are POST "
                       "/v1/completions and /v1/chat/completions, GET /v1/models and /health"};
    return {status, "the request could not be read"};
  }

  void answer(Protocol protocol, const httplib::Request& request, httplib::Response& response) {
    const Wanted wanted = read_wanted(protocol, request.body, options_.limits);
    const auto answers = static_cast<std::size_t>(wanted.answers) * wanted.openings.size();
    const char* const name = protocol == Protocol::chat ? "chatcmpl-" : "cmpl-";
    Stream stream{.head = {protocol, name + std::to_string(++requests_), options_.model, now()},
                  .channel = decoding_.ask(wanted),
                  .answers = answers,
                  .usage = wanted.usage,
                  .first = {}};
    if (wanted.stream)
      send_stream(std::move(stream), response);
    else
      send_whole(stream, response);
  }

  static void send_whole(Stream& stream, httplib::Response& response) {
    std::vector<Completion> answers(stream.answers);
    for (std::size_t left = stream.answers; left > 0;) {
      Heard heard = stream.channel->hear();
      if (auto* refusal = std::get_if<Refusal>(&heard)) throw Refusal(*refusal);
      if (auto* answer = std::get_if<Completion>(&heard)) {
        answers[static_cast<std::size_t>(answer->index)] = std::move(*answer);
        --left;
      }
    }
    response.set_content(reply_text(stream.head, answers), kJson);
  }

  static void send_stream(Stream stream, httplib::Response& response) {
    // A request that is refused has a status that says so, so the first word is waited for.
    stream.first = stream.channel->hear();
    if (const auto* refusal = std::get_if<Refusal>(&*stream.first)) throw Refusal(*refusal);
    const auto shared = std::make_shared<Stream>(std::move(stream));
    response.set_header("Cache-Control", "no-cache");
    response.set_chunked_content_provider(
        "text/event-stream",
        [shared, begun = false](std::size_t, httplib::DataSink& sink) mutable {
          std::string text;
          for (std::size_t i = 0; !begun && i < shared->answers; ++i)
            text += begin_event(shared->head, static_cast<std::int64_t>(i));
          begun = true;
          bool over = false;
          text += shared->next(over);
          if (!sink.write(text.data(), text.size())) return false;
          if (over) sink.done();
          return true;
        },
        [shared](bool) { shared->channel->leave(); });
  }

  const ConnectionOptions options_;
  Decoding& decoding_;
  const std::int64_t created_;
  std::atomic<std::uint64_t> requests_ = 0;
  httplib::Server http_;
  int socket_ = -1;
  std::thread thread_;
};

Connections::Connections(ConnectionOptions options, Decoding& decoding)
    : server_(std::make_unique<Server>(std::move(options), decoding)) {
  port_ = server_->listen();
}

Connections::~Connections() { close(); }

void Connections::close() { server_->close(); }

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host == "[::1]" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

}  // namespace draftlab
