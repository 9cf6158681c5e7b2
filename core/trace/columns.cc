#include "core/trace/columns.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/text.h"

namespace draftlab {
namespace {

// So many rows stay in the nearest cache while their columns are taken out one by one.
constexpr std::size_t kNear = 32;

// Where in a row the value of a column lies. Knowing it, a row is taken apart without one call a
// column.
struct Place {
  std::size_t offset;
  enum Kind { narrow, wide, number, coarse_number, text } kind;
};

template <class Row>
const std::vector<Place>& places() {
  static const std::vector<Place> all = [] {
    Row row;
    std::vector<Place> made;
    for (const Column<Row>& column : fields<Row>()) {
      std::visit(
          [&](auto* field) {
            using T = std::remove_pointer_t<decltype(field)>;
            const auto offset = static_cast<std::size_t>(reinterpret_cast<const char*>(field) -
                                                         reinterpret_cast<const char*>(&row));
            made.push_back({offset, std::is_same_v<T, std::int32_t>   ? Place::narrow
                                    : std::is_same_v<T, std::int64_t> ? Place::wide
                                    : std::is_same_v<T, std::string>  ? Place::text
                                    : column.info.coarse              ? Place::coarse_number
                                                                      : Place::number});
          },
          column.field(row));
    }
    return made;
  }();
  return all;
}

template <class T>
const T& at(const void* row, const Place& place) {
  return *reinterpret_cast<const T*>(static_cast<const char*>(row) + place.offset);
}

// Appends the values that `count` rows have at one place.
template <class Row>
void push(Values& values, const Row* rows, std::size_t count, const Place& place) {
  const auto append_all = [&](auto& column, auto value_of) {
    const std::size_t before = column.size();
    column.resize(before + count);
    for (std::size_t i = 0; i < count; ++i) column[before + i] = value_of(rows + i);
  };
  switch (place.kind) {
    case Place::narrow:
      return append_all(*std::get_if<0>(&values),
                        [&](const Row* row) { return std::int64_t{at<std::int32_t>(row, place)}; });
    case Place::wide:
      return append_all(*std::get_if<0>(&values),
                        [&](const Row* row) { return at<std::int64_t>(row, place); });
    case Place::number:
      return append_all(*std::get_if<1>(&values),
                        [&](const Row* row) { return at<double>(row, place); });
    case Place::coarse_number:
      return append_all(*std::get_if<1>(&values),
                        [&](const Row* row) { return coarse(at<double>(row, place)); });
    case Place::text:
      return append_all(*std::get_if<2>(&values),
                        [&](const Row* row) { return valid_utf8(at<std::string>(row, place)); });
  }
}

template <class T>
void reserve_pages(std::vector<T>& values, std::size_t count) {
  if (count <= values.capacity()) return;
  values.reserve(count);
  constexpr std::uintptr_t kLarge = 2u << 20;
  const auto begin = (reinterpret_cast<std::uintptr_t>(values.data()) + kLarge - 1) & ~(kLarge - 1);
  const auto end =
      reinterpret_cast<std::uintptr_t>(values.data() + values.capacity()) & ~(kLarge - 1);
  // This is a wish: nothing changes where it is not granted.
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

void pull(const Values& values, std::int64_t row, const Field& field) {
  if (auto* integer = std::get_if<std::int32_t*>(&field))
    **integer = static_cast<std::int32_t>(std::get<0>(values)[row]);
  else if (auto* wide = std::get_if<std::int64_t*>(&field))
    **wide = std::get<0>(values)[row];
  else if (auto* number = std::get_if<double*>(&field))
    **number = std::get<1>(values)[row];
  else
    *std::get<std::string*>(field) = std::get<2>(values)[row];
}

}  // namespace

std::int64_t size(const Values& values) {
  return std::visit([](const auto& v) { return static_cast<std::int64_t>(v.size()); }, values);
}

Values empty_values(Type type) {
  if (type == Type::text) return std::vector<std::string>{};
  if (type == Type::float32 || type == Type::float64) return std::vector<double>{};
  return std::vector<std::int64_t>{};
}

void reserve(std::vector<std::int64_t>& values, std::size_t count) { reserve_pages(values, count); }

void reserve(std::vector<unsigned char>& values, std::size_t count) {
  reserve_pages(values, count);
}

void reserve(Values& values, std::size_t count) {
  std::visit([&](auto& all) { reserve_pages(all, count); }, values);
}

void append(Values& to, const Values& from, std::int64_t first, std::int64_t count) {
  std::visit(
      [&](auto& target) {
        const auto& source = std::get<std::decay_t<decltype(target)>>(from);
        target.insert(target.end(), source.begin() + first, source.begin() + first + count);
      },
      to);
}

Values selected(const Values& values, std::span<const std::int64_t> rows) {
  return std::visit(
      [&](const auto& source) -> Values {
        std::decay_t<decltype(source)> target;
        target.reserve(rows.size());
        for (const std::int64_t row : rows) target.push_back(source[static_cast<std::size_t>(row)]);
        return target;
      },
      values);
}

Columns::Columns(Table table) : table_(table), infos_(info(table).columns) { clear(); }

void Columns::clear() {
  infos_.resize(info(table_).columns.size());
  values_.resize(infos_.size());
  for (std::size_t i = 0; i < infos_.size(); ++i) {
    if (values_[i].index() != empty_values(infos_[i].type).index())
      values_[i] = empty_values(infos_[i].type);
    // clear() keeps the memory, because as much will be needed again.
    std::visit([](auto& column) { column.clear(); }, values_[i]);
  }
  rows_ = 0;
}

const std::vector<std::int64_t>& Columns::integers(const std::string& column) const {
  for (std::size_t i = 0; i < infos_.size(); ++i) {
    if (infos_[i].name == column) return std::get<0>(values_[i]);
  }
  throw Fault("there is no column '{}'", column);
}

template <class Row>
void Columns::add(Row& row, std::initializer_list<std::int64_t> links) {
  std::size_t at = 0;
  for (std::int64_t value : links) std::get<0>(values_[at++]).push_back(value);
  for (const Place& place : places<Row>()) push(values_[at++], &row, 1, place);
  for (; at < values_.size(); ++at) std::get<1>(values_[at]).push_back(kNotMeasured);
  ++rows_;
}

template <class Row>
void Columns::add_all(const std::vector<Row>& rows, const std::vector<std::int64_t>& links) {
  if (rows.empty()) return;
  const std::size_t count = rows.size(), many = links.size() / count;
  for (std::size_t l = 0; l < many; ++l) {
    auto& column = std::get<0>(values_[l]);
    for (std::size_t i = 0; i < count; ++i) column.push_back(links[i * many + l]);
  }
  for (std::size_t first = 0; first < count; first += kNear) {
    std::size_t at = many;
    for (const Place& place : places<Row>())
      push(values_[at++], &rows[first], std::min(kNear, count - first), place);
  }
  for (std::size_t at = many + places<Row>().size(); at < values_.size(); ++at) {
    auto& column = std::get<1>(values_[at]);
    column.insert(column.end(), count, kNotMeasured);
  }
  rows_ += static_cast<std::int64_t>(count);
}

template <class Row>
void Columns::get(std::int64_t row, Row& into) const {
  std::size_t at = info(table_).links;
  for (const Column<Row>& column : fields<Row>()) pull(values_[at++], row, column.field(into));
}

#define DRAFTLAB_ROW(Row)                                                                         \
  template void Columns::add<Row>(Row&, std::initializer_list<std::int64_t>);                     \
  template void Columns::add_all<Row>(const std::vector<Row>&, const std::vector<std::int64_t>&); \
  template void Columns::get<Row>(std::int64_t, Row&) const;
DRAFTLAB_ROW(RunRow)
DRAFTLAB_ROW(SampleRow)
DRAFTLAB_ROW(StepRow)
DRAFTLAB_ROW(TokenRow)
DRAFTLAB_ROW(DraftRow)
DRAFTLAB_ROW(CellRow)
DRAFTLAB_ROW(PieceRow)
DRAFTLAB_ROW(PluginRow)
DRAFTLAB_ROW(SettingRow)
DRAFTLAB_ROW(AxisRow)
DRAFTLAB_ROW(GivenRow)
DRAFTLAB_ROW(CurveRow)
DRAFTLAB_ROW(ValidationRow)
#undef DRAFTLAB_ROW

std::size_t Columns::named_at(const std::string& name) {
  const std::string_view prefix = named_prefix(table_);
  for (std::size_t i = info(table_).columns.size(); i < infos_.size(); ++i) {
    if (std::string_view(infos_[i].name).substr(prefix.size()) == name) return i;
  }
  infos_.push_back(named_column(table_, name));
  values_.push_back(std::vector<double>(rows_, kNotMeasured));
  return infos_.size() - 1;
}

void Columns::named(const std::string& name, std::int64_t row, double value) {
  std::get<1>(values_[named_at(name)])[static_cast<std::size_t>(row)] = value;
}

void Columns::set(const ColumnInfo& column, Values values) {
  rows_ = size(values);
  for (std::size_t i = 0; i < infos_.size(); ++i) {
    if (infos_[i].name == column.name) {
      values_[i] = std::move(values);
      return;
    }
  }
  infos_.push_back(column);
  values_.push_back(std::move(values));
}

std::vector<std::pair<std::string, double>> Columns::named(std::int64_t row) const {
  std::vector<std::pair<std::string, double>> result;
  for (std::size_t i = info(table_).columns.size(); i < infos_.size(); ++i) {
    const double value = std::get<1>(values_[i])[row];
    if (!std::isnan(value))
      result.emplace_back(infos_[i].name.substr(named_prefix(table_).size()), value);
  }
  return result;
}

double coarse(double value) {
  if (!std::isfinite(value)) return value;
  // The bits that are dropped of the 23 stored bits of a float's mantissa.
  constexpr std::uint32_t kDropped = 11;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const std::uint32_t rounded = (bits + (1u << (kDropped - 1))) & ~((1u << kDropped) - 1);
  return std::bit_cast<float>(rounded);
}

std::string valid_utf8(const std::string& text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = text[at] == '\0' ? 0 : read_point(text, at).bytes;
    if (length > 0)
      result.append(text, at, length);
    else
      result += "\xEF\xBF\xBD";
    at += length > 0 ? length : 1;
  }
  return result;
}

}  // namespace draftlab
