// What masked positions show to a model that reads a random canvas.
#include "core/base/error.h"
#include "core/loop/decoder.h"

namespace draftlab {

void Decoder::check_canvas() const {
  if (!unmasker_->shows() || random_canvas_) return;
  throw ConfigError(
      "unmasker '{}' says what masked positions show, and model '{}' reads nothing but a mask "
      "there; it takes a model that reads a random canvas",
      authors_.unmasker.name, models_.authors[0].name);
}

void Decoder::renoise(const Verdict& verdict, std::uint32_t clock) {
  if (!random_canvas_) return;
  const Distribution uniform(Eigen::ArrayXd::Ones(facts_.front().vocabulary));
  std::vector<char> shown(static_cast<std::size_t>(canvas_.length()), 0);
  for (const Commit& token : verdict.shown) {
    if (!canvas_.masked(token.position)) continue;  // The text ended before it.
    canvas_.show(token.position, token.token);
    shown[token.position] = 1;
  }
  for (std::int32_t i = 0; i < canvas_.length(); ++i)
    if (canvas_.masked(i) && !shown[i])
      canvas_.show(i,
                   random_.chance.draw(uniform, {random_.sequence, i, Purpose::canvas, clock, 0}));
}

}  // namespace draftlab
