// Which arms a figure shows, in which panel, and what their colours and markers mean. A colour and
// a marker stand for values of config keys; no two arms of a panel look alike, and none is dropped.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/figures/sheet.h"
#include "analysis/grouping.h"

namespace draftlab {

// An arm, or a group of arms, and the values that tell it apart.
struct Actor {
  int group = 0;
  std::string name;
  std::vector<std::pair<std::string, std::string>> values = {};  // of config keys
  std::string value(const std::string& key) const;               // "" where it has none
};

// "self, draft length 5": what tells an actor apart, in words.
std::string words_of(const Actor& actor);

// The groups as actors. The label that a config gave an arm is the value of the key "arm".
std::vector<Actor> actors(const Frame& frame, const Grouping& grouping);

struct CastRequest {
  std::vector<std::string> series = {};  // keys whose values are colours; empty: chosen
  std::string along = {};                // the key whose values are markers; empty: none
  int reference = -1;                    // group that all are compared with
};

struct Cast {
  struct Role {
    int group = 0;
    std::size_t panel = 0, colour = 0, marker = 0;
    std::string name;        // what its colour stands for
    double along = 0;        // the number along the key, or the place of its value
    bool reference = false;  // drawn in black, in every panel
  };
  std::vector<Role> roles;
  std::vector<std::string> panels;            // their titles; one that is empty: a single panel
  std::vector<std::string> colours, markers;  // what they stand for
  std::string marker_title, reference;        // words; empty where there is none
  std::string left_out;                       // what is not shown, for the title

  const Role* role_of(int group) const;      // null where the group is not shown
  std::string mark(const Role& role) const;  // "lc rgb '#0072B2' pt 7"
  std::vector<LegendEntry> legend() const;
};

// UsageError when the values of --series are more than there are colours.
Cast cast(const std::vector<Actor>& actors, const CastRequest& request);

// The key with numbers that has most values among the actors, though not more than `most`; "" when
// there is none.
std::string numeric_key(const std::vector<Actor>& actors, std::size_t most = 1000);

}  // namespace draftlab
