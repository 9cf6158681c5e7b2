#include "core/trace/prompts.h"

#include <algorithm>

namespace draftlab {
namespace {

// Says whether a setting is the task's name, or one of the task's options.
bool of_task(const SettingRow& setting) {
  return setting.key == "task" || setting.key.starts_with("task.");
}

bool same_task(const RunRow& one, const RunRow& other) {
  std::vector<std::pair<std::string, std::string>> options[2];
  for (const SettingRow& setting : one.settings)
    if (of_task(setting)) options[0].emplace_back(setting.key, setting.value);
  for (const SettingRow& setting : other.settings)
    if (of_task(setting)) options[1].emplace_back(setting.key, setting.value);
  return options[0] == options[1];
}

bool same_prompts(const RunRow& one, const RunRow& other) {
  return one.checkpoint == other.checkpoint && one.checkpoint_digest == other.checkpoint_digest &&
         one.data_digest == other.data_digest && same_task(one, other);
}

}  // namespace

std::int32_t first_with_prompts(const std::vector<RunRow>& runs, std::int32_t run) {
  const RunRow& wanted = runs[static_cast<std::size_t>(run)];
  const auto found = std::find_if(runs.begin(), runs.end(),
                                  [&](const RunRow& other) { return same_prompts(other, wanted); });
  return static_cast<std::int32_t>(found - runs.begin());
}

std::vector<GivenRow> given_rows(const PromptKey& key, const Prompt& prompt) {
  std::vector<GivenRow> rows;
  const auto add = [&](GivenKind kind, std::size_t list, std::int32_t position, Token token) {
    rows.push_back({.run = key.first,
                    .prompt = key.second,
                    .kind = static_cast<std::int32_t>(kind),
                    .list = static_cast<std::int32_t>(list),
                    .position = position,
                    .token = token});
  };
  for (const auto& [position, token] : prompt.given) add(GivenKind::given, 0, position, token);
  for (std::size_t i = 0; i < prompt.ends.size(); ++i)
    add(GivenKind::end, 0, static_cast<std::int32_t>(i), prompt.ends[i]);
  for (std::size_t list = 0; list < prompt.choices.size(); ++list)
    for (std::size_t i = 0; i < prompt.choices[list].size(); ++i)
      add(GivenKind::choice, list, static_cast<std::int32_t>(i), prompt.choices[list][i]);
  return rows;
}

void add_given(const std::vector<GivenRow>& rows, Prompt& prompt) {
  for (const GivenRow& row : rows) {
    switch (static_cast<GivenKind>(row.kind)) {
      case GivenKind::given: prompt.given.emplace_back(row.position, row.token); break;
      case GivenKind::end: prompt.ends.push_back(row.token); break;
      case GivenKind::choice:
        prompt.choices.resize(
            std::max(prompt.choices.size(), static_cast<std::size_t>(row.list) + 1));
        prompt.choices[static_cast<std::size_t>(row.list)].push_back(row.token);
        break;
    }
  }
}

}  // namespace draftlab
