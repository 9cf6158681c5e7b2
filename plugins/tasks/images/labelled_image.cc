#include "plugins/tasks/images/labelled_image.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

// Calls visit(token, value within it, row, column) for every pixel.
template <class Visit>
void each_pixel(Eigen::Index rows, Eigen::Index columns, int patch, Visit visit) {
  if (patch < 1 || rows % patch != 0 || columns % patch != 0)
    throw Fault("an image of " + std::to_string(rows) + " x " + std::to_string(columns) +
                " has no patches of side " + std::to_string(patch));
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
    throw Fault("tokens [" + std::to_string(tokens.rows()) + ", " + std::to_string(tokens.cols()) +
                "] are no image of " + std::to_string(rows) + " x " + std::to_string(columns) +
                " in patches of side " + std::to_string(patch));
  Eigen::MatrixXd pixels(rows, columns);
  each_pixel(rows, columns, patch,
             [&](auto token, auto value, auto r, auto c) { pixels(r, c) = tokens(token, value); });
  return pixels;
}

}  // namespace draftlab
