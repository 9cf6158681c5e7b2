// Which arms a figure shows, in which panel, and what their colours and markers mean. Every series
// of arms has a colour and a marker that no other one of the picture has; where arms are joined
// along a key, its values are the markers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/figures/sheet.h"
#include "analysis/report/grouping.h"

namespace draftlab {

// An arm, or a group of arms, and the values that tell it apart.
struct FigureItem {
  int group = 0;
  std::string name;
  // The config keys of the item and their values.
  std::vector<std::pair<std::string, std::string>> values = {};
  std::string value(const std::string& key) const;  // Returns "" where it has no such key.
};

// "self, draft length 5": what tells an item apart, in words.
std::string words_of(const FigureItem& item);

// The groups as items. The label that a config gave an arm is the value of the key "arm".
std::vector<FigureItem> figure_items(const Grouping& grouping);

struct EncodingRequest {
  // The keys whose values are colours, alike in all panels; where there are none, every series has
  // a colour of its own.
  std::vector<std::string> series = {};
  std::string along = {};   // The key whose values are markers; "" for none.
  int reference = -1;       // The group that all others are compared with.
  std::size_t a_panel = 8;  // How many series a panel bears, where `series` does not say.
};

struct Encoding {
  struct Role {
    int group = 0;
    std::size_t panel = 0, colour = 0, marker = 0;
    std::string name;        // The name says what its colour stands for.
    double along = 0;        // The number along the key, or the place of its value.
    bool reference = false;  // The reference is drawn in black, in every panel.
  };
  std::vector<Role> roles;
  std::vector<std::string> panels;  // The titles of the panels; a single panel has an empty one.
  std::vector<std::string> colours, markers;  // What colours and markers stand for.
  // The words for the markers and the reference, empty where there is none.
  std::string marker_title, reference;
  std::string left_out;  // What is not shown, for the title.

  // Returns a mark in gnuplot's words, such as "lc rgb '#0072B2' pt 7".
  std::string mark(const Role& role) const;
  std::vector<LegendEntry> legend() const;
};

// UsageError when the values of --series are more than there are marks.
Encoding encode(const std::vector<FigureItem>& items, const EncodingRequest& request);

// The key with numbers that has most values among the items, though not more than `most`; "" when
// there is none.
std::string numeric_key(const std::vector<FigureItem>& items, std::size_t most = 1000);

}  // namespace draftlab
