// Makes the random choices of one generated item, one after another. They are the same on any
// machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/prob/chance.h"

namespace draftlab {

class Choices {
 public:
  // `stream` distinguishes what is made of one seed (a split), and `attempt` distinguishes the
  // tries at one item.
  Choices(std::uint64_t seed, std::int64_t index, std::uint32_t stream, std::uint32_t attempt)
      : seed_(seed), site_{static_cast<std::uint64_t>(index), 0, Purpose::train, stream, attempt} {}
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(uniform() * static_cast<double>(count));
  }
  int between(int first, int last) {
    return first + static_cast<int>(below(static_cast<std::size_t>(last - first + 1)));
  }
  double real(double low, double high) { return low + (high - low) * uniform(); }
  template <class T>
  const T& of(const std::vector<T>& items) {
    return items[below(items.size())];
  }

 private:
  double uniform() {
    const double u = SampledChance::uniform(seed_, site_);
    ++site_.position;
    return u;
  }
  std::uint64_t seed_;
  Site site_;
};

}  // namespace draftlab
