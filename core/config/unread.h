// Options of [decode] that a config sets and no part of an arm reads: they have no effect, and
// cells of a sweep that differ in them alone decode alike.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/config.h"
#include "core/parts/decode_options.h"

namespace draftlab {

struct Composition;

inline constexpr const char* kDraftLength = "decode.draft_length";
// The options that a drafter which does not read the draft length has no use for. They are no part
// of the identity of its arm.
inline constexpr std::array<std::string_view, 4> kDraftLengthKeys = {
    kDraftLength, "decode.draft_rule", "decode.draft_stop", "decode.draft_adapts"};

// An option of [decode] that no part of an arm reads.
struct UnreadOption {
  // Its key, such as "decode.threshold", and its resolved value.
  std::string key, value;
  // The place where the config sets it; "" where it does not.
  std::string where;
};

// Returns the options that do nothing in an arm whose parts read `read`: those that no part reads,
// and those that only say more about another option which is off.
std::vector<UnreadOption> unread_options(const DecodeOptions& decode,
                                         const std::set<DecodeKey>& read, const Config& config);

// Collects what the arms of a config do not read, for its user.
class UnreadInArms {
 public:
  // `label` is what the user knows the arm by; it is empty where there is only one.
  void add(const std::string& label, const Composition& arm);
  // One sentence for each option or axis that the config sets and no arm reads, and for each axis
  // that makes arms which decode alike. The latter are named.
  std::vector<std::string> sentences() const;

 private:
  struct Named {
    std::string label;
    std::vector<UnreadOption> unread;
  };
  // Returns ": these decode alike: 'A' and 'B'" for the arms that differ in the key, or nothing.
  std::string alike(const std::string& key) const;

  std::size_t arms_ = 0;
  // Where each unread option is set, and in how many arms no part reads it.
  std::map<std::string, std::pair<std::string, std::size_t>> options_;
  // The arms by what is read of them.
  std::map<std::string, std::vector<Named>> by_what_is_read_;
};

}  // namespace draftlab
