// Texts, numbers and marks in gnuplot's words.
#pragma once

#include <string>
#include <vector>

#include "analysis/frame/marks.h"
#include "analysis/report/statistics.h"

namespace draftlab {

// "lc rgb '#0072B2'", the ink of a mark.
std::string ink_style(std::size_t mark);
// "pt 7", or "pt 'A'" of a letter: the shape of a mark.
std::string shape_style(std::size_t mark);
// "lc rgb '#0072B2' pt 7": a colour with a shape of its own.
std::string point_style(std::size_t mark);
// The ink of such a style alone.
std::string ink_of(const std::string& style);
// The baseline is a black cross.
inline const std::string kReferenceStyle = "lc rgb 'black' pt 2";

// Text in gnuplot's single quotes.
std::string gnuplot_text(const std::string& text);
// The same in lines of at most `most` characters, which end behind a colon or at a space.
std::string gnuplot_lines(const std::string& text, std::size_t most);
// The lines themselves. A word that is longer than a line is cut into several.
std::vector<std::string> lines_of(const std::string& text, std::size_t most);
// Shortest text of a number; "NaN" where it is none.
std::string number_text(double value);
// "value low high" for a data file.
std::string estimate_text(const Estimate& estimate);
// Without an interval, the value stands for it: a point without a bar.
Estimate bounded(const Estimate& estimate);
// How many characters a text has.
std::size_t characters(const std::string& text);
// At most `most` characters, the rest an ellipsis.
std::string shortened(const std::string& text, std::size_t most);

}  // namespace draftlab
