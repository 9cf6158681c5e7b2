#include "plugins/tasks/images/labelled_image.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

// Calls visit(token, value within it, row, column) for every pixel.
template <class Visit>
void each_pixel(Eigen::Index rows, Eigen::Index columns, int patch, Visit visit) {
  if (patch < 1 || rows % patch != 0 || columns % patch != 0)
    throw Fault("an image of {} x {} has no patches of side {}", rows, columns, patch);
  const Eigen::Index across = columns / patch;
  for (Eigen::Index r = 0; r < rows; ++r)
    for (Eigen::Index c = 0; c < columns; ++c)
      visit(r / patch * across + c / patch, r % patch * patch + c % patch, r, c);
}

}  // namespace

Eigen::MatrixXd tokens_of(const Eigen::MatrixXd& pixels, int patch) {
  Eigen::MatrixXd tokens(pixels.size() / (patch * patch), patch * patch);
  each_pixel(pixels.rows(), pixels.cols(), patch,
             [&](auto token, auto value, auto r, auto c) { tokens(token, value) = pixels(r, c); });
  return tokens;
}

Eigen::MatrixXd pixels_of(const Eigen::MatrixXd& tokens, int rows, int columns, int patch) {
  if (tokens.size() != Eigen::Index{rows} * columns || tokens.cols() != patch * patch)
    throw Fault("tokens [{}, {}] are no image of {} x {} in patches of side {}", tokens.rows(),
                tokens.cols(), rows, columns, patch);
  Eigen::MatrixXd pixels(rows, columns);
  each_pixel(rows, columns, patch,
             [&](auto token, auto value, auto r, auto c) { pixels(r, c) = tokens(token, value); });
  return pixels;
}

}  // namespace draftlab
