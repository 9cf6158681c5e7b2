// What all benchmarks print and write.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "experiments/bench/bench.h"

namespace draftlab {

void BenchFlags::print(const std::string& title, const TextTable& table) const {
  std::printf("\n%s\n%s", title.c_str(), table.in(format).c_str());
  std::fflush(stdout);
}

void BenchFlags::write(const nlohmann::json& numbers) const {
  if (!out.empty()) write_whole(out, numbers.dump(2) + "\n");
}

Quartiles::Quartiles(std::vector<double> values) : sorted_(std::move(values)) {
  std::sort(sorted_.begin(), sorted_.end());
}

double Quartiles::at(std::size_t quarter) const {
  return sorted_[quarter * (sorted_.size() - 1) / 4];
}

std::string Quartiles::text(int digits) const {
  return fixed(at(2), digits) + " [" + fixed(at(1), digits) + ", " + fixed(at(3), digits) + "]";
}

nlohmann::json Quartiles::json() const { return {at(1), at(2), at(3)}; }

}  // namespace draftlab
