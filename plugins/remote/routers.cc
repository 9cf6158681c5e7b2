// Routers and estimators that live in another process; they see numbers of the drafted span.
#include <limits>

#include "core/metrics/decode_metrics.h"
#include "plugins/remote/remote_parts.h"

namespace draftlab::remote {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Message numbers(const StepView& view) {
  Message message;
  describe(view, message);
  return message;
}

class RemoteRouter final : public RemotePart<Router> {
 public:
  using RemotePart::RemotePart;
  bool reads_expected() const override { return remote_->spec().reads_expected; }

  Route decide(const StepView& view) const override {
    return understood(*remote_, remote_->call("decide", numbers(view)), [&](const Message& said) {
      const Json& from = said.header.at("r");
      Route route;
      route.verify = from.at(0), route.score = from.at(1);
      route.flip = from.at(2), route.context = from.at(3);
      if (!from.at(4).is_null()) route.memo = said.numbers(from.at(4));
      if (!(route.flip >= 0 && route.flip <= 1))
        remote_->refuse("reverses its decision with probability {}", from.at(2).dump());
      return route;
    });
  }
};

class RemoteEstimator final : public RemotePart<Estimator> {
 public:
  using RemotePart::RemotePart;
  double expected(const StepView& view) const override {
    return number(remote_->call("expected", numbers(view)), 0, kInfinity,
                  "the expected accepted prefix");
  }
};

class RemoteTokenEstimator final : public RemotePart<TokenEstimator> {
 public:
  using RemotePart::RemotePart;
  Eigen::ArrayXd alpha(const StepView& view) const override {
    const Message answer = remote_->call("alpha", numbers(view));
    return understood(*remote_, answer, [&](const Message& said) -> Eigen::ArrayXd {
      const std::span<const double> given = said.array<double>("r");
      if (static_cast<Eigen::Index>(given.size()) != view.drafts())
        remote_->refuse("gives {} probabilities for {} drafts", given.size(), view.drafts());
      for (const double each : given)
        if (!(each >= 0 && each <= 1))
          remote_->refuse("expects a draft to pass with probability {}", each);
      return Eigen::Map<const Eigen::ArrayXd>(given.data(),
                                              static_cast<Eigen::Index>(given.size()));
    });
  }
};

}  // namespace

std::unique_ptr<Router> make_router(Instance remote) {
  return std::make_unique<RemoteRouter>(std::move(remote));
}

std::unique_ptr<Estimator> make_estimator(Instance remote) {
  if (remote->has("alpha")) return std::make_unique<RemoteTokenEstimator>(std::move(remote));
  return std::make_unique<RemoteEstimator>(std::move(remote));
}

}  // namespace draftlab::remote
