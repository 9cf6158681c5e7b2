#include "core/config/unread.h"

#include <algorithm>

#include "core/config/composition.h"
#include "core/config/options.h"

namespace draftlab {
namespace {

// No sentence names more groups of arms than this.
constexpr std::size_t kMostGroups = 3;

bool has_threshold(DraftRule rule) {
  return rule == DraftRule::likely || rule == DraftRule::likely_dropped || rule == DraftRule::sure;
}

const UnreadOption* find(const std::vector<UnreadOption>& options, const std::string& key) {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const UnreadOption& option) { return option.key == key; });
  return found == options.end() ? nullptr : &*found;
}

}  // namespace

std::vector<UnreadOption> unread_options(const DecodeOptions& decode,
                                         const std::set<DecodeKey>& read, const Config& config) {
  const bool drafts = read.count(DecodeKey::draft_length) > 0,
             stops = drafts && has_threshold(decode.draft_rule),
             costs = drafts && decode.draft_rule == DraftRule::goodput;
  const std::map<std::string, bool> matters = {
      {"draft_length", drafts},
      {"draft_rule", drafts},
      {"draft_stop", stops},
      {"draft_adapts", stops},
      {"draft_cost", costs},
      {"row_cost", costs},
      {"align", decode.block_size > 0},
      {"threshold", read.count(DecodeKey::threshold) > 0},
      {"steps", read.count(DecodeKey::steps) > 0},
      {"edit_threshold", read.count(DecodeKey::edit_threshold) > 0},
      {"post_steps", read.count(DecodeKey::post_steps) > 0 && decode.edit_threshold < 1}};
  DecodeOptions copy = decode;
  OptionSet set;
  copy.declare(set);
  std::vector<UnreadOption> unread;
  for (const Option& option : set.options()) {
    const auto found = matters.find(option.name());
    if (found == matters.end() || found->second) continue;
    const std::string key = "decode." + option.name();
    const Config::Entry* const entry = config.find(key);
    unread.push_back({key, option.value(), entry ? entry->where : ""});
  }
  return unread;
}

void UnreadInArms::add(const std::string& label, const Composition& arm) {
  ++arms_;
  for (const UnreadOption& option : arm.unread) {
    auto& [where, count] = options_[option.key];
    if (where.empty()) where = option.where;
    ++count;
  }
  by_what_is_read_[arm.read_id].push_back({label, arm.unread});
}

std::string UnreadInArms::alike(const std::string& key) const {
  std::string text;
  std::size_t groups = 0;
  for (const auto& [read, arms] : by_what_is_read_) {
    const UnreadOption* const first = find(arms.front().unread, key);
    const bool differ = first && std::any_of(arms.begin(), arms.end(), [&](const Named& arm) {
                          const UnreadOption* const own = find(arm.unread, key);
                          return own && own->value != first->value;
                        });
    if (!differ || ++groups > kMostGroups) continue;
    text += groups == 1 ? "; these decode alike: " : "; and these: ";
    for (std::size_t i = 0; i < arms.size(); ++i)
      text.append(i == 0                 ? "'"
                  : i + 1 == arms.size() ? " and '"
                                         : ", '")
          .append(arms[i].label)
          .append("'");
  }
  if (groups > kMostGroups)
    text += "; and " + std::to_string(groups - kMostGroups) + " more groups of cells";
  return text;
}

std::vector<std::string> UnreadInArms::sentences() const {
  std::vector<std::string> sentences;
  for (const auto& [key, found] : options_) {
    const auto& [where, count] = found;
    if (where.empty()) continue;
    const std::string cells = alike(key);
    if (count < arms_ && cells.empty()) continue;
    sentences.push_back(where + ": " + key + " has no effect" +
                        (count < arms_
                             ? " in " + std::to_string(count) + " of " + std::to_string(arms_) +
                                   " cells: no part of theirs reads it"
                         : arms_ > 1 ? ": no part of any cell reads it"
                                     : ": no part of the arm reads it") +
                        cells);
  }
  return sentences;
}

}  // namespace draftlab
