// A text that grows while it is decoded, and what of it may be handed over already.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace draftlab {

class TextStream {
 public:
  // The text ends before the first of `stops` that occurs in it.
  explicit TextStream(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  // Takes the text so far, and returns what follows what was handed over. What may turn out to
  // begin a stop, and a character that is not whole, are kept back until it is `whole`.
  std::string grow(const std::string& text, bool whole);
  // Whether a stop was found: nothing follows any more.
  bool stopped() const { return stopped_; }
  // Everything that was handed over.
  const std::string& handed() const { return handed_; }

 private:
  std::vector<std::string> stops_;
  std::string handed_;
  bool stopped_ = false;
};

}  // namespace draftlab
