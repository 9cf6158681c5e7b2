#include "analysis/figures/encoding.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "analysis/figures/figures.h"
#include "analysis/report/words.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

constexpr std::size_t kMostPanels = 12;

using Keys = std::vector<std::string>;
using Tuple = std::vector<std::string>;

Tuple values_at(const FigureItem& item, const Keys& keys) {
  Tuple values;
  for (const std::string& key : keys) values.push_back(item.value(key));
  return values;
}

// Numbers by size, then words as they come.
bool before(const std::string& a, const std::string& b) {
  const auto x = number_of(a), y = number_of(b);
  return x && y ? *x < *y : x.has_value() && !y;
}

// The different tuples, in the order of the items, numbers by size.
std::vector<Tuple> tuples(const std::vector<const FigureItem*>& items, const Keys& keys) {
  std::vector<Tuple> all;
  for (const FigureItem* item : items) {
    const Tuple tuple = values_at(*item, keys);
    if (std::find(all.begin(), all.end(), tuple) == all.end()) all.push_back(tuple);
  }
  std::stable_sort(all.begin(), all.end(), [](const Tuple& a, const Tuple& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), before);
  });
  return all;
}

std::size_t place(const std::vector<Tuple>& all, const Tuple& tuple) {
  return static_cast<std::size_t>(std::find(all.begin(), all.end(), tuple) - all.begin());
}

Keys varying_keys(const std::vector<const FigureItem*>& items) {
  Keys keys;
  for (const FigureItem* item : items) {
    for (const auto& [key, value] : item->values) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end() && tuples(items, {key}).size() > 1)
        keys.push_back(key);
    }
  }
  return keys;
}

std::string words(const Keys& keys, const Tuple& tuple, const Keys& all) {
  std::string text;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (tuple[k].empty()) continue;
    text += (text.empty() ? "" : ", ") + value_words(keys[k], tuple[k], all);
  }
  return text;
}

// Keys whose values stand in one panel: as many as `most` series allow, those with most values
// first.
Keys panel_mates(const std::vector<const FigureItem*>& items, Keys keys, std::size_t most) {
  std::stable_sort(keys.begin(), keys.end(), [&](const std::string& a, const std::string& b) {
    return tuples(items, {a}).size() > tuples(items, {b}).size();
  });
  Keys chosen;
  for (const std::string& key : keys) {
    Keys more = chosen;
    more.push_back(key);
    if (tuples(items, more).size() <= most) chosen = more;
  }
  return chosen;
}

// Whether the reference has a value that no other item has: then it belongs to no series.
bool stands_alone(const std::vector<FigureItem>& items, const FigureItem& reference) {
  return std::any_of(reference.values.begin(), reference.values.end(), [&](const auto& entry) {
    return std::none_of(items.begin(), items.end(), [&](const FigureItem& other) {
      return &other != &reference && other.value(entry.first) == entry.second;
    });
  });
}

// An arm without a label is called by its values, those along the axis left out.
void name_arm(FigureItem& item, const std::string& along) {
  if (!item.value("arm").empty()) return;
  std::string name;
  for (const auto& [key, value] : item.values)
    if (key != along) name += (name.empty() ? "" : ", ") + value_words(key, value);
  item.values.emplace_back("arm", name.empty() ? item.name : name);
}

}  // namespace

std::string FigureItem::value(const std::string& key) const {
  for (const auto& [name, text] : values)
    if (name == key) return text;
  return "";
}

std::vector<FigureItem> figure_items(const Grouping& grouping) {
  std::vector<FigureItem> list;
  for (std::size_t g = 0; g < grouping.groups.size(); ++g) {
    const Grouping::Group& group = grouping.groups[g];
    FigureItem item{static_cast<int>(g), group.called.short_text()};
    for (std::size_t k = 0; k < grouping.by.size(); ++k)
      item.values.emplace_back(grouping.by[k], group.keys[k]);
    if (grouping.by.empty()) {
      if (!group.called.label.empty()) item.values.emplace_back("arm", group.called.label);
      for (const auto& value : group.called.values) item.values.push_back(value);
    }
    list.push_back(std::move(item));
  }
  return list;
}

std::string words_of(const FigureItem& item) {
  Keys keys;
  Tuple values;
  for (const auto& [key, value] : item.values) keys.push_back(key), values.push_back(value);
  const std::string text = words(keys, values, keys);
  return text.empty() ? item.name : text;
}

std::string numeric_key(const std::vector<FigureItem>& items, std::size_t most) {
  std::map<std::string, std::set<std::string>> values;
  Keys order;
  for (const FigureItem& item : items) {
    for (const auto& [key, value] : item.values) {
      if (value.empty() || is_seed(key)) continue;
      if (!values.contains(key)) order.push_back(key);
      values[key].insert(value);
    }
  }
  std::string best;
  for (const std::string& key : order) {
    const auto& all = values[key];
    if (all.size() < 2 || all.size() > most ||
        !std::all_of(all.begin(), all.end(),
                     [](const std::string& value) { return number_of(value).has_value(); }))
      continue;
    if (best.empty() || all.size() > values[best].size()) best = key;
  }
  return best;
}

std::string Encoding::mark(const Role& role) const {
  if (role.reference) return kReferenceStyle;
  return ink_style(role.colour) + " " + shape_style(markers.empty() ? role.colour : role.marker);
}

std::vector<LegendEntry> Encoding::legend() const {
  std::vector<LegendEntry> entries;
  for (std::size_t c = 0; c < colours.size(); ++c)
    entries.push_back(
        {colours[c], ink_style(c) + " " + (markers.empty() ? shape_style(c) : "pt 5")});
  if (!reference.empty()) entries.push_back({reference, kReferenceStyle});
  if (markers.empty()) return entries;
  entries.push_back({marker_title + ":", "", true});
  for (std::size_t m = 0; m < markers.size(); ++m)
    entries.push_back({markers[m], "lc rgb '#555555' " + shape_style(m)});
  return entries;
}

namespace {

// What tells panels and colours apart.
struct Division {
  Keys keys, colours, panels;
  std::vector<Tuple> colour_of, panel_of;  // The values of each colour, and of each panel.
  // Series that nothing but their names tells apart stand so many to a panel, in their order.
  std::size_t chunk = 0;
};

// Keys that tell arms of one colour and one marker apart.
Keys further_keys(const std::vector<const FigureItem*>& shown, const Keys& others, Keys seen) {
  Keys panels;
  for (const std::string& key : others) {
    Keys more = seen;
    more.push_back(key);
    if (tuples(shown, more).size() == tuples(shown, seen).size()) continue;
    panels.push_back(key);
    seen = more;
  }
  return panels;
}

Keys with_along(Keys keys, const std::string& along) {
  if (!along.empty()) keys.push_back(along);
  return keys;
}

Division divide(const std::vector<const FigureItem*>& shown, const EncodingRequest& request) {
  Division by;
  by.keys = varying_keys(shown);
  Keys others = by.keys;
  std::erase(others, request.along);
  by.colours = request.series.empty() ? others : request.series;
  by.colour_of = tuples(shown, by.colours);
  if (!request.series.empty()) {
    if (by.colour_of.size() > kMarks)
      throw UsageError(
          "--series has {} values, and {} marks can be told apart; name fewer keys, and the others "
          "become panels",
          by.colour_of.size(), kMarks);
    by.panels = further_keys(shown, others, with_along(by.colours, request.along));
  } else if (by.colour_of.size() > request.a_panel) {
    const Keys mates = panel_mates(shown, others, request.a_panel);
    by.panels = further_keys(shown, others, with_along(mates, request.along));
    if (mates.empty() || tuples(shown, by.panels).size() > kMostPanels)
      by.panels.clear(), by.chunk = request.a_panel;
  }
  by.panel_of = tuples(shown, by.panels);
  return by;
}

std::string left_out_words(const Division& by, bool panels) {
  const std::size_t series = std::min(by.colour_of.size(), kMarks);
  return (panels
              ? std::to_string(kMostPanels) + " of " + std::to_string(by.panel_of.size()) +
                    " panels"
              : std::to_string(series) + " of " + std::to_string(by.colour_of.size()) + " arms") +
         ": --by KEY,... takes arms together";
}

// The words for colours, panels and markers.
void name_parts(Encoding& result, const Division& by, const std::vector<const FigureItem*>& shown,
                const std::string& along) {
  for (const Tuple& tuple : by.colour_of) {
    if (result.colours.size() == kMarks) break;
    const std::string text = words(by.colours, tuple, by.keys);
    const bool several = shown.size() > 1 && by.colour_of.size() > 1;
    result.colours.push_back(!text.empty() ? text
                             : several     ? "none of these"
                                           : words_of(*shown.front()));
  }
  if (by.chunk > 0) {
    for (std::size_t first = 0; first < result.colours.size(); first += by.chunk)
      result.panels.push_back("arms " + std::to_string(first + 1) + " to " +
                              std::to_string(std::min(first + by.chunk, result.colours.size())));
  } else {
    for (const Tuple& tuple : by.panel_of)
      if (result.panels.size() < kMostPanels)
        result.panels.push_back(words(by.panels, tuple, by.keys));
    // Arms that have none of the keys that tell the other panels apart.
    for (std::string& panel : result.panels)
      if (panel.empty() && result.panels.size() > 1) panel = "other arms";
  }
  if (along.empty()) return;
  result.marker_title = key_words(along, by.keys);
  const std::vector<Tuple> marker_of = tuples(shown, {along});
  if (marker_of.size() > kMarks) return;
  for (const Tuple& tuple : marker_of)
    result.markers.push_back(tuple[0].empty() ? "none" : tuple[0]);
}

std::vector<Encoding::Role> roles_of(const Encoding& result, const Division& by,
                                     const std::vector<const FigureItem*>& shown,
                                     const std::string& along) {
  std::vector<Encoding::Role> roles;
  const std::vector<Tuple> marker_of = tuples(shown, {along});
  for (const FigureItem* item : shown) {
    Encoding::Role role;
    role.group = item->group;
    role.colour = place(by.colour_of, values_at(*item, by.colours));
    role.panel =
        by.chunk > 0 ? role.colour / by.chunk : place(by.panel_of, values_at(*item, by.panels));
    if (role.panel >= result.panels.size() || role.colour >= result.colours.size()) continue;
    role.name = result.colours[role.colour];
    if (!along.empty()) {
      const std::string value = item->value(along);
      role.marker = place(marker_of, {value});
      role.along = number_of(value).value_or(static_cast<double>(role.marker));
    }
    roles.push_back(role);
  }
  std::stable_sort(
      roles.begin(), roles.end(), [](const Encoding::Role& a, const Encoding::Role& b) {
        return std::tuple(a.panel, a.colour, a.along) < std::tuple(b.panel, b.colour, b.along);
      });
  return roles;
}

}  // namespace

Encoding encode(const std::vector<FigureItem>& given, const EncodingRequest& request) {
  std::vector<FigureItem> all = given;
  if (std::find(request.series.begin(), request.series.end(), "arm") != request.series.end())
    for (FigureItem& item : all) name_arm(item, request.along);
  std::vector<const FigureItem*> shown;
  const FigureItem* reference = nullptr;
  for (const FigureItem& item : all) {
    const bool apart = item.group == request.reference && all.size() > 2 && stands_alone(all, item);
    if (apart)
      reference = &item;
    else
      shown.push_back(&item);
  }
  Encoding result;
  const Division by = divide(shown, request);
  name_parts(result, by, shown, request.along);
  if (by.panel_of.size() > kMostPanels || by.colour_of.size() > kMarks)
    result.left_out = left_out_words(by, by.panel_of.size() > kMostPanels);
  result.roles = roles_of(result, by, shown, request.along);
  if (!reference) return result;
  result.reference = words_of(*reference);
  Encoding::Role role;
  role.group = reference->group, role.name = result.reference, role.reference = true;
  role.along = number_of(reference->value(request.along)).value_or(0);
  result.roles.push_back(role);
  return result;
}

}  // namespace draftlab
