// A frontier that lives in another process.
#include <algorithm>

#include "plugins/remote/remote_parts.h"

namespace draftlab::remote {
namespace {

class RemoteFrontier final : public RemotePart<Frontier> {
 public:
  using RemotePart::RemotePart;

  void check(const Canvas& canvas) const override {
    if (remote_->has("check")) remote_->call("check", described(canvas));
  }

  // A class that does not say when it is done is done with the last mask.
  bool done(const Canvas& canvas) const override {
    if (!remote_->has("done")) return canvas.prompt_size() + canvas.committed() == canvas.length();
    return understood(*remote_, remote_->call("done", described(canvas)),
                      [](const Message& said) { return said.header.at("r").get<bool>(); });
  }

  Window next(const Canvas& canvas) const override {
    return understood(*remote_, remote_->call("next", described(canvas)), [&](const Message& said) {
      const Json& from = said.header.at("r");
      Window window;
      window.positions = from.at("positions").get<std::vector<std::int32_t>>();
      window.span = from.at("span"), window.block = from.at("block");
      const std::string boundary = from.at("boundary");
      for (const Stop stop : {Stop::complete, Stop::window_end, Stop::block_end, Stop::budget})
        if (name(stop) == boundary) window.boundary = stop;
      if (name(window.boundary) != boundary)
        remote_->refuse("ends a span for the unknown reason '{}'", boundary);
      check_window(window, canvas);
      return window;
    });
  }

  std::vector<std::int32_t> settled(const Canvas& canvas) const override {
    if (!remote_->has("settled")) return {};
    return understood(
        *remote_, remote_->call("settled", described(canvas)), [&](const Message& said) {
          const auto positions = said.header.at("r").get<std::vector<std::int32_t>>();
          for (const std::int32_t position : positions)
            if (position < 0 || position >= canvas.length())
              remote_->refuse("settles position {} of a canvas of {}", position, canvas.length());
          return positions;
        });
  }

 private:
  static Message described(const Canvas& canvas) {
    Message message;
    describe(canvas, message);
    return message;
  }

  void check_window(const Window& window, const Canvas& canvas) const {
    std::vector<std::int32_t> sorted = window.positions;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      remote_->refuse("opens a position twice");
    for (const std::int32_t position : sorted)
      if (position < 0 || position >= canvas.length() || !canvas.masked(position))
        remote_->refuse("opens position {}, which is not masked", position);
    if (window.span < 0 || window.span > static_cast<int>(sorted.size()))
      remote_->refuse("has a span of {} of {} positions", window.span, sorted.size());
  }
};

}  // namespace

std::unique_ptr<Frontier> make_frontier(Instance remote) {
  return std::make_unique<RemoteFrontier>(std::move(remote));
}

}  // namespace draftlab::remote
