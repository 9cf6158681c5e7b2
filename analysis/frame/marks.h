// The mark of an arm: a colour and a shape that no other arm of a picture has. Figures and the page
// draw the same marks.
#pragma once

#include <cstddef>
#include <string>

namespace draftlab {

// How many marks there are. Of more arms, the first `kMarks` are shown.
inline constexpr std::size_t kMarks = 64;

// The colour of a mark, "#0072B2". The first eight are Okabe and Ito's, which the colour-blind tell
// apart, with grey in the place of black, which is the baseline's, and brown in that of yellow,
// which is faint on white. Later ones are darker and lighter shades of these.
std::string mark_colour(std::size_t mark);

// The shape of a mark: "disc", "square", ... for the first fourteen, and a letter for the others.
std::string mark_shape(std::size_t mark);

}  // namespace draftlab
