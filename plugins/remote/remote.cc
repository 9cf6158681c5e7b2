#include "plugins/remote/remote.h"

#include <iostream>
#include <map>
#include <set>
#include <tuple>

#include "core/base/log.h"

namespace draftlab::remote {
namespace {

int next_instance() {
  static int last = 0;
  return ++last;
}

// Instances whose sequences have ended are kept for the next sequences, because making one is a
// round trip and a certificate makes decoders by the ten thousand. Only instances of a class that
// keeps nothing are kept, since all of them are alike; `begin` is sent to them anew.
using Alike = std::tuple<const Peer*, int, std::string, std::string, std::string>;

Alike alike(const Peer& peer, int generation, const PartSpec& spec, const Json& options) {
  return {&peer, generation, spec.kind, spec.name, options.dump()};
}

std::map<Alike, std::vector<int>>& spare_instances() {
  static std::map<Alike, std::vector<int>> spare;
  return spare;
}

bool keeps_nothing(const PartSpec& spec) {
  return !spec.has("observe") && !spec.has("state") && spec.kind != "model" && spec.kind != "task";
}

}  // namespace

Remote::Remote(std::shared_ptr<Peer> peer, std::shared_ptr<const PartSpec> spec,
               const Json& options)
    : peer_(std::move(peer)), spec_(std::move(spec)), options_(options), id_(next_instance()) {
  peer_->ensure();
  generation_ = peer_->generation();
  if (keeps_nothing(*spec_)) {
    std::vector<int>& spare = spare_instances()[alike(*peer_, generation_, *spec_, options_)];
    if (!spare.empty()) {
      id_ = spare.back();
      spare.pop_back();
      return;
    }
  }
  Message message;
  message.header = {{"c", "new"},
                    {"id", id_},
                    {"kind", spec_->kind},
                    {"name", spec_->name},
                    {"options", options}};
  request(message, nullptr);
}

Remote::~Remote() {
  if (keeps_nothing(*spec_)) {
    spare_instances()[alike(*peer_, generation_, *spec_, options_)].push_back(id_);
    return;
  }
  Message message;
  message.header = {{"c", "del"}, {"id", id_}};
  peer_->tell(generation_, std::move(message));
}

std::string Remote::who() const { return spec_->kind + " '" + spec_->name + "'"; }

void Remote::fail(const std::string& sentence) const {
  throw PartFault("{} ({}) {}", who(), peer_->name(), sentence);
}

void Remote::warn(const std::string& sentence) const {
  static std::set<std::string> warned;
  if (!warned.insert(who() + peer_->name()).second) return;
  const std::string text = who() + " (" + peer_->name() + ") " + sentence;
  std::cerr << text << "\n";
  log(LogLevel::warning, text);
}

Message Remote::request(const Message& message, Scope* scope, double spent) const {
  if (!current()) refuse("was lost with its process");
  const Serve serve = [scope](const Message& query) {
    if (!scope) throw Fault("nothing can be asked here");
    return scope->serve(query);
  };
  return peer_->request(who(), message, serve, spent);
}

Message Remote::call(const char* method, Message arguments, Scope* scope, double spent) const {
  arguments.header["c"] = "call";
  arguments.header["id"] = id_;
  arguments.header["m"] = method;
  if (scope) arguments.header["scope"] = scope->id();
  return request(arguments, scope, spent);
}

void Remote::drop(std::uint64_t call) const noexcept {
  Message message;
  message.header = {{"c", "drop"}, {"call", call}};
  peer_->tell(generation_, std::move(message));
}

void Remote::forget(std::uint64_t sequence) const noexcept {
  Message message;
  message.header = {{"c", "forget"}, {"id", id_}, {"sequence", sequence}};
  peer_->tell(generation_, std::move(message));
}

void Remote::begin(const Blocks& blocks, const DecodeOptions& decode) const {
  Message message;
  message.header = {{"c", "begin"},
                    {"id", id_},
                    {"blocks", {blocks.size, blocks.origin, blocks.part}},
                    {"decode",
                     {{"temperature", decode.sampling.temperature},
                      {"top_k", decode.sampling.top_k},
                      {"top_p", decode.sampling.top_p},
                      {"draft_length", decode.draft_length},
                      {"block_size", decode.block_size},
                      {"threshold", decode.threshold},
                      {"steps", decode.steps},
                      {"edit_threshold", decode.edit_threshold},
                      {"shadow", words(Shadow{})[static_cast<std::size_t>(decode.shadow)]}}}};
  peer_->tell(generation_, std::move(message));
}

std::string Remote::state() const {
  if (!has("observe") && !has("state")) return {};
  return understood(*this, call("state"),
                    [](const Message& answer) { return answer.header.at("r").get<std::string>(); });
}

void Remote::observe(const Canvas& canvas, const Route& route, const Verdict& verdict) const {
  if (!has("observe")) return;
  Message message;
  message.header["route"] = {route.verify, route.score, route.propensity, route.flip,
                             route.context};
  if (!route.memo.empty()) message.add("memo", std::span<const double>(route.memo));
  describe(canvas, message);
  describe(verdict, message);
  call("observe", std::move(message));
}

}  // namespace draftlab::remote
