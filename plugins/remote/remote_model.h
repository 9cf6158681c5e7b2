// A model that another process computes: that of a plugin, or of a server (`model = remote`).
#pragma once

#include <functional>
#include <memory>

#include "core/model/model.h"
#include "plugins/remote/remote.h"

namespace draftlab::remote {

class RemoteModel final : public Model {
 public:
  // `renew` returns the instance, or a new one where its process was started again.
  RemoteModel(const PartSpec& spec, std::function<std::shared_ptr<Remote>()> renew)
      : independent_(spec.has("rows_are_independent")), renew_(std::move(renew)) {}
  void load(const Machine& machine) override;
  ModelFacts facts() const override { return facts_; }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks& blocks) override;
  bool rows_are_independent() const override { return independent_; }
  bool mixes() const override { return true; }

  // This is public for the model that wraps this one and counts its forwards itself.
  void evaluate(std::span<Pending> batch) override;

 private:
  void connect();
  Json described(const Pending& pending, Message& message) const;
  // Reads how much was computed; it is checked before it is counted.
  std::int64_t cost(const Json& said) const;
  void check_shape(const Json& shape, std::size_t asked) const;
  void weights(const Message& said, std::span<Pending> batch, std::size_t asked);

  bool independent_;
  std::function<std::shared_ptr<Remote>()> renew_;
  std::shared_ptr<Remote> remote_;
  ModelFacts facts_;
  Machine machine_;
};

}  // namespace draftlab::remote
