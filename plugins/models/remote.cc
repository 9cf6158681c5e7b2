// `model = remote`: a model that a server holds (`python -m draftlab.serve`), for many workers.
#include "core/config/plugin.h"
#include "plugins/remote/remote_model.h"

namespace draftlab::remote {
namespace {

struct ServerOptions {
  std::string address, name, secret;
  double timeout = 600;
  void declare(OptionSet& set) {
    set.add("address", &address).help("Where the server listens: unix:PATH or tcp:HOST:PORT.");
    set.add("name", &name).help("Which of its models; empty: the only one.");
    set.add("secret", &secret)
        .help("File whose first line the server wants to hear, as over TCP; empty: none.");
    set.add("timeout", &timeout)
        .in(0.01, 1e6)
        .help("Seconds that a forward may take, or loading the model.");
  }
};

// Connects when it is loaded: checking a config needs no server.
class ServerModel final : public Model {
 public:
  explicit ServerModel(const ServerOptions& options) : options_(options) {
    if (options.address.empty())
      throw ConfigError("model.remote.address must name a server: unix:PATH or tcp:HOST:PORT");
  }

  void load(const Machine& machine) override {
    PeerOptions its;
    its.timeout = its.step_timeout = its.starting = options_.timeout;
    its.secret = secret_in(options_.secret, "model.remote.secret");
    const auto peer = std::make_shared<Peer>(
        options_.address, [address = options_.address] { return connect_to(address); }, its);
    const auto spec = std::make_shared<const PartSpec>(chosen(*peer));
    const Json options = RemoteOptions(*spec).values();
    model_.emplace(*spec,
                   [peer, spec, options] { return std::make_shared<Remote>(peer, spec, options); });
    model_->load(machine);
  }

  ModelFacts facts() const override { return model_->facts(); }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks& blocks) override {
    return model_->open(canvas, blocks);
  }
  bool rows_are_independent() const override { return model_->rows_are_independent(); }
  bool mixes() const override { return true; }

 private:
  void evaluate(std::span<Pending> batch) override { model_->evaluate(batch); }

  PartSpec chosen(const Peer& peer) const {
    std::vector<PartSpec> models;
    std::string names;
    for (const PartSpec& part : peer.parts()) {
      if (part.kind != "model") continue;
      names += (names.empty() ? "" : ", ") + part.name;
      if (options_.name.empty() || part.name == options_.name) models.push_back(part);
    }
    if (models.size() == 1) return models.front();
    throw ConfigError(
        "{}{}{}", options_.address, names.empty() ? " holds no model" : " holds " + names,
        options_.name.empty() ? "; model.remote.name chooses one"
                              : ", and model.remote.name = " + options_.name + " is none of them");
  }

  ServerOptions options_;
  std::optional<RemoteModel> model_;
};

}  // namespace
}  // namespace draftlab::remote

DRAFTLAB_PLUGIN(model, remote) {
  using namespace draftlab;
  registries.models.add_with<remote::ServerOptions>(
      "remote", "a model that a server holds (python -m draftlab.serve)",
      {Form::committed, Form::chain, Form::branches, Form::shallow},
      [](const remote::ServerOptions& options) -> std::unique_ptr<Model> {
        return std::make_unique<remote::ServerModel>(options);
      });
}
