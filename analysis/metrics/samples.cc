#include "analysis/metrics/samples.h"

#include <algorithm>
#include <sstream>

#include "core/config/config_lines.h"
#include "core/metrics/image_metrics.h"
#include "core/metrics/text_metrics.h"
#include "core/trace/schema.h"

namespace draftlab {

const std::vector<double>& Samples::column(const std::string& name) const {
  const auto found = columns_.find(name);
  return found != columns_.end() ? found->second
                                 : columns_.emplace(name, frame_.numbers(name)).first->second;
}

std::vector<double> Samples::counted(const std::string& part, const std::vector<std::string>& kinds,
                                     const std::string& whose) const {
  std::vector<double> sums(size(), 0.0);
  for (const std::string& kind : kinds) {
    const std::vector<double>& values = column("sample_" + whose + part + "_" + kind);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
  }
  return sums;
}

const std::vector<double>& Samples::score(const std::string& name) const {
  return column(std::string(named_prefix(Table::sample)) + name);
}

std::vector<std::string> Samples::plain_scores() const {
  std::vector<std::string> scores = frame_.scores();
  if (has_bleu())
    std::erase_if(scores, [](const std::string& score) {
      return std::find(kBleuSums.begin(), kBleuSums.end(), score) != kBleuSums.end();
    });
  std::erase_if(scores, is_image_part);
  return scores;
}

std::set<std::string> Samples::declared_errors() const {
  std::set<std::string> errors;
  for (const Frame::File& file : frame_.files()) {
    const auto found = file.config.find("report.errors");
    if (found == file.config.end()) continue;
    std::istringstream names(found->second);
    for (std::string name; std::getline(names, name, ',');)
      if (name = trimmed(name); !name.empty()) errors.insert(name);
  }
  return errors;
}

bool Samples::has_bleu() const {
  const std::vector<std::string> scores = frame_.scores();
  return std::all_of(kBleuSums.begin(), kBleuSums.end(), [&](const char* name) {
    return std::count(scores.begin(), scores.end(), name) > 0;
  });
}

std::vector<std::string> Samples::numbered_scores(std::string_view prefix) const {
  const std::vector<std::string> scores = frame_.scores();
  std::vector<std::string> parts;
  for (std::string part = std::string(prefix) + "0";
       std::count(scores.begin(), scores.end(), part) > 0;
       part = std::string(prefix) + std::to_string(parts.size())) {
    parts.push_back(part);
  }
  return parts;
}

}  // namespace draftlab
