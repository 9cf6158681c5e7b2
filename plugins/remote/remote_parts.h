// The parts of every kind whose decisions are made in another process.
#pragma once

#include <memory>

#include "core/parts/acceptance.h"
#include "core/parts/drafter.h"
#include "core/parts/estimator.h"
#include "core/parts/frontier.h"
#include "core/parts/router.h"
#include "core/parts/task.h"
#include "core/parts/unmasker.h"
#include "core/parts/verifier.h"
#include "plugins/remote/remote.h"

namespace draftlab::remote {

using Instance = std::unique_ptr<Remote>;

std::unique_ptr<Router> make_router(Instance remote);
std::unique_ptr<Estimator> make_estimator(Instance remote);
std::unique_ptr<Acceptance> make_acceptance(Instance remote);
std::unique_ptr<Unmasker> make_unmasker(Instance remote);
std::unique_ptr<Drafter> make_drafter(Instance remote);
std::unique_ptr<Verifier> make_verifier(Instance remote);
std::unique_ptr<Frontier> make_frontier(Instance remote);
std::unique_ptr<Task> make_task(Instance remote);
std::unique_ptr<Model> make_model(Instance remote);

// The base of all these parts does what they have in common.
template <class Interface>
class RemotePart : public Interface {
 public:
  explicit RemotePart(Instance remote) : remote_(std::move(remote)) {}
  std::vector<Form> asks() const override { return remote_->spec().asks; }
  // The other process is told all options of [decode], and does not say which it reads.
  std::vector<DecodeKey> reads() const override {
    return {DecodeKey::threshold, DecodeKey::steps, DecodeKey::edit_threshold,
            DecodeKey::post_steps};
  }
  void begin(const Blocks& blocks, const DecodeOptions& decode) override {
    decode_ = decode;
    remote_->begin(blocks, decode_);
  }
  std::string state() const override { return remote_->state(); }
  void observe(const Canvas& canvas, const Route& route, const Verdict& verdict) override {
    remote_->observe(canvas, route, verdict);
  }

 protected:
  // Returns the number that was answered. Throws a PartFault where it is none, or lies outside of
  // [low, high].
  double number(const Message& answer, double low, double high, const char* what) const {
    return understood(*remote_, answer, [&](const Message& said) {
      const Json& value = said.header.at("r");
      if (!value.is_number()) remote_->refuse("gives {} that is no number", what);
      const double given = value;
      if (given >= low && given <= high) return given;
      remote_->refuse("gives {} as {}", value.dump(), what);
    });
  }

  Instance remote_;
  DecodeOptions decode_;
};

}  // namespace draftlab::remote
