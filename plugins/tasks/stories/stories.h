// Makes the project's own corpus: five-sentence stories from a stochastic grammar and a seed
// (data/README.md describes it).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftlab {

// A story belongs to one split by a hash of its own text, so no story of one split can occur in
// another.
enum class Split { train, validation, test };
constexpr std::array<std::string_view, 3> words(Split) { return {"train", "validation", "test"}; }

struct Story {
  std::array<std::string, 5> sentences;
  // The part of the grammar that made the story: "lost", "broken", ...
  std::string plot;
  // Joins the sentences by one space.
  std::string text() const;
};

// Makes story `index` of a split. It depends on nothing but its arguments.
Story make_story(std::uint64_t seed, std::int64_t index, Split split = Split::train);
std::vector<Story> make_stories(std::uint64_t seed, std::int64_t count, Split split = Split::train);

Split split_of(const std::string& text);

}  // namespace draftlab
