#include "core/trace/hdf5_columns.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/isolation.h"
#include "core/base/missing_file.h"
#include "core/trace/checksum.h"
#include "core/trace/hdf5_handle.h"

namespace draftlab {
namespace {

constexpr hsize_t kMostChunkBytes = 64u << 20;
// A file of our own up to this many bytes is read at once.
constexpr hsize_t kReadWhole = 1u << 20;
// Deflate never shrinks data by more than this factor.
constexpr hsize_t kMostDeflated = 1040;
constexpr hsize_t kMostAttributeBytes = 16u << 20;
// A file of which few columns may be wanted is checked whole up to so many bytes.
constexpr hsize_t kMostChecked = 256u << 20;

// Returns how many rows a space of one dimension has; nothing where it is none.
std::optional<hsize_t> extent_of(const Handle& space) {
  hsize_t extent = 0;
  if (!space.good() || H5Sget_simple_extent_ndims(space) != 1 ||
      H5Sget_simple_extent_dims(space, &extent, nullptr) != 1)
    return {};
  return extent;
}

// Says whether values are stored as the schema would have them.
bool is_of_type(const Handle& stored, Type type) {
  if (!stored.good()) return false;
  const H5T_class_t kind = H5Tget_class(stored);
  if (type == Type::text) return kind == H5T_STRING && H5Tis_variable_str(stored) > 0;
  return kind == H5Tget_class(stored_type(type)) && H5Tget_size(stored) == stored_width(type) &&
         (kind != H5T_INTEGER || H5Tget_sign(stored) == H5T_SGN_2);
}

}  // namespace

struct ColumnReader::State {
  std::string path;
  Handle file;
  hsize_t bytes = 0;
  std::map<Table, std::int64_t> rows;
  bool own = false, lazy = false;
  // The columns that a child process has read to their end.
  std::set<std::string> probed;

  // Opens a dataset of the root, but nothing that a link leads to in another file.
  Handle dataset(const std::string& name) const {
    H5L_info_t link;
    if (!own &&
        (H5Lget_info(file, name.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD))
      return {};
    return Handle(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  }
  std::optional<std::string> text(hid_t object, const std::string& name) const;
  static bool append_rows(Values& values, hid_t data, hsize_t count, hid_t from);
  template <class Take>
  bool take_own(hid_t data, Type type, hsize_t rows, const Take& take) const;
  // Returns a whole column of a file of our own; nothing where it is stored otherwise.
  std::optional<Values> read_own(hid_t data, Type type, hsize_t rows) const;
  bool is_stored_plainly(hid_t data, hsize_t wanted, hsize_t width) const;
};

// Appends the `count` rows of a column that `from` selects. Returns false where they cannot be
// read; what was appended then means nothing.
bool ColumnReader::State::append_rows(Values& values, hid_t data, hsize_t count, hid_t from) {
  const Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const auto before = static_cast<std::size_t>(size(values));
  if (before == 0) reserve(values, count);
  if (auto* integers = std::get_if<std::vector<std::int64_t>>(&values)) {
    integers->resize(before + count);
    return H5Dread(data, H5T_NATIVE_INT64, memory, from, transfer(), integers->data() + before) >=
           0;
  }
  if (auto* numbers = std::get_if<std::vector<double>>(&values)) {
    numbers->resize(before + count);
    return H5Dread(data, H5T_NATIVE_DOUBLE, memory, from, transfer(), numbers->data() + before) >=
           0;
  }
  std::vector<char*> pointers(count, nullptr);
  const Handle string = text_type();
  if (H5Dread(data, string, memory, from, transfer(), pointers.data()) < 0) return false;
  auto& texts = std::get<std::vector<std::string>>(values);
  for (char* pointer : pointers) texts.emplace_back(pointer ? pointer : "");
  H5Dvlen_reclaim(string, memory, H5P_DEFAULT, pointers.data());
  return true;
}

// Hands on, piece by piece, a column of numbers as this program writes it: plainly, or chunk by
// chunk, shuffled and deflated. Merging reads little else, and for a small cell most time would go
// into asking HDF5 for what is known. Returns false where a column is stored otherwise.
template <class Take>
bool ColumnReader::State::take_own(hid_t data, Type type, hsize_t rows, const Take& take) const {
  Stored piece;
  if (!is_chunked(type, rows)) {
    piece.resize(rows * width(type));
    const Handle memory(H5Screate_simple(1, &rows, nullptr), H5Sclose);
    if (H5Dread(data, stored_type(type), memory, H5S_ALL, transfer(), piece.data()) < 0)
      return false;
    take(piece);
    return true;
  }
  const hsize_t chunk = chunk_rows(rows);
  std::vector<unsigned char> packed;
  for (hsize_t at = 0; at < rows; at += chunk) {
    hsize_t size = 0;
    std::uint32_t skipped = 0;
    if (H5Dget_chunk_storage_size(data, &at, &size) < 0 || size == 0 || size > bytes) return false;
    packed.resize(size);
    if (H5Dread_chunk(data, H5P_DEFAULT, &at, &skipped, packed.data()) < 0 || skipped != 0)
      return false;
    piece.clear();
    if (!append_chunk(piece, packed, type, {chunk, std::min(chunk, rows - at)})) return false;
    take(piece);
  }
  return true;
}

std::optional<Values> ColumnReader::State::read_own(hid_t data, Type type, hsize_t rows) const {
  Values values = empty_values(type);
  reserve(values, rows);
  const auto take = [&](const Stored& piece) { widen(piece, type, values); };
  const bool whole = type == Type::text ? append_rows(values, data, rows, H5S_ALL)
                                        : take_own(data, type, rows, take);
  if (!whole) return {};
  return values;
}

// Says whether a column is stored in a way that this format allows. The bytes that are stored bound
// the bytes that are `wanted`.
bool ColumnReader::State::is_stored_plainly(hid_t data, hsize_t wanted, hsize_t width) const {
  const Handle layout(H5Dget_create_plist(data), H5Pclose);
  if (!layout.good() || H5Pget_external_count(layout) != 0) return false;
  const H5D_layout_t kind = H5Pget_layout(layout);
  if (kind != H5D_CONTIGUOUS && kind != H5D_COMPACT && kind != H5D_CHUNKED) return false;
  const int filters = H5Pget_nfilters(layout);
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    std::size_t parameters = 0;
    const H5Z_filter_t filter = H5Pget_filter2(layout, static_cast<unsigned>(i), &flags,
                                               &parameters, nullptr, 0, nullptr, nullptr);
    if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE &&
        filter != H5Z_FILTER_FLETCHER32)
      return false;
  }
  hsize_t chunk = 0;
  if (kind == H5D_CHUNKED &&
      (H5Pget_chunk(layout, 1, &chunk) != 1 || chunk * width > kMostChunkBytes))
    return false;
  const hsize_t held = H5Dget_storage_size(data);
  return held <= bytes && wanted <= held * (filters > 0 ? kMostDeflated : 1);
}

std::optional<std::string> ColumnReader::State::text(hid_t object, const std::string& name) const {
  if (H5Aexists(object, name.c_str()) <= 0) return {};
  Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
  if (!attribute.good()) return {};
  Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  if (!type.good() || H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1)
    return {};
  if (H5Tis_variable_str(type) > 0) {
    char* data = nullptr;
    if (H5Aread(attribute, text_type(), &data) < 0) return {};
    std::string value = data ? data : "";
    H5free_memory(data);
    return value;
  }
  const std::size_t length = H5Tget_size(type);
  if (length == 0 || length > std::min(bytes, kMostAttributeBytes)) return {};
  std::string value(length, '\0');
  if (H5Aread(attribute, type, value.data()) < 0) return {};
  return value.substr(0, value.find('\0'));
}

namespace {

constexpr const char* kBreaksDown = "is damaged: HDF5 breaks down when it reads it";
constexpr const char* kChanged =
    "is damaged or incomplete: its checksum is not that of its bytes; whoever changes a trace on "
    "purpose removes its attribute 'checksum', and then runs h5repack";

bool survives_in_child(hsize_t bytes, const std::function<void()>& act) {
  return survives(act, (1u << 28) + 64 * bytes, 2 + static_cast<unsigned>(bytes >> 20));
}

void read_root(const ColumnReader& file) {
  for (const Attribute& attribute : attributes())
    file.text(attribute.name), file.integer(attribute.name);
  for (const char* attribute : {"magic", "schema_version", "schema", "drafts"})
    file.text(attribute);
  file.names();
  for (const auto* tables : {&trace_tables(), &curve_tables()}) {
    for (Table table : *tables) {
      try {
        file.rows(table);
      } catch (const DataError&) {}
    }
  }
}

// Reads everything that could ever be read of a file.
void read_all(const std::string& path) {
  const ColumnReader file(path, ColumnReader::Trust::own);
  read_root(file);
  auto read = [&](Table table, const ColumnInfo& column) {
    try {
      file.read(table, column);
      file.text(column.name, "units");
    } catch (const DataError&) {
      // Whoever needs this column will find the error again.
    }
  };
  for (const auto* tables : {&trace_tables(), &sweep_tables(), &curve_tables()}) {
    for (Table table : *tables) {
      if (!file.has(std::string(name(table)))) continue;
      for (const ColumnInfo& column : info(table).columns) read(table, column);
    }
  }
  for (const std::string& column : file.names()) {
    for (Table table : kNamedTables) {
      if (column.starts_with(named_prefix(table)))
        read(table, {.name = column, .type = Type::float64, .unit = "1", .doc = ""});
    }
  }
}

}  // namespace

ColumnReader::ColumnReader(const std::string& path, Trust trust)
    : state_(std::make_unique<State>()) {
  be_quiet();
  state_->path = path;
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    throw DataError("there is no file '{}'{}", path, file_hint(path));
  if (!std::filesystem::is_regular_file(path, error)) throw DataError("'{}' is not a file", path);
  state_->bytes = std::filesystem::file_size(path, error);
  state_->own = trust == Trust::own;
  // A small file is tried whole, because processes take longer than reading it.
  const bool whole =
      trust == Trust::foreign || (trust == Trust::lazy && state_->bytes <= kReadWhole);
  state_->lazy = trust == Trust::lazy && !whole;
  const bool checked =
      trust == Trust::foreign || (trust == Trust::lazy && state_->bytes <= kMostChecked);
  if (checked && !is_intact(path)) fail(kChanged);
  if (whole && !survives_in_child(state_->bytes, [&] { read_all(path); })) fail(kBreaksDown);
  if (state_->lazy &&
      !survives_in_child(state_->bytes, [&] { read_root(ColumnReader(path, Trust::own)); }))
    fail(kBreaksDown);
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // No lock is needed, because files appear whole and never change.
  H5Pset_file_locking(access, false, true);
  // Otherwise HDF5 would make hundreds of small reads.
  if (state_->own && state_->bytes <= kReadWhole) H5Pset_fapl_core(access, kReadWhole, false);
  state_->file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
  if (!state_->file.good())
    fail("cannot be opened as HDF5; it is another kind of file, or incomplete");
}

ColumnReader::~ColumnReader() = default;
ColumnReader::ColumnReader(ColumnReader&&) noexcept = default;

const std::string& ColumnReader::path() const { return state_->path; }

// What a file says of itself may hold any byte, so it is made printable for the message.
void ColumnReader::fail(const std::string& what) const {
  std::string sentence = "'" + state_->path + "' " + what;
  std::replace_if(
      sentence.begin(), sentence.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  throw DataError(sentence);
}

std::optional<std::string> ColumnReader::text(const std::string& attribute) const {
  return state_->text(state_->file, attribute);
}

std::optional<std::string> ColumnReader::text(const std::string& column,
                                              const std::string& attribute) const {
  const Handle data = state_->dataset(column);
  return data.good() ? state_->text(data, attribute) : std::nullopt;
}

std::optional<std::int64_t> ColumnReader::integer(const std::string& attribute) const {
  if (H5Aexists(state_->file, attribute.c_str()) <= 0) return {};
  Handle found(H5Aopen(state_->file, attribute.c_str(), H5P_DEFAULT), H5Aclose);
  if (!found.good()) return {};
  Handle type(H5Aget_type(found), H5Tclose), space(H5Aget_space(found), H5Sclose);
  if (!type.good() || H5Tget_class(type) != H5T_INTEGER || H5Sget_simple_extent_npoints(space) != 1)
    return {};
  std::int64_t value = 0;
  if (H5Aread(found, H5T_NATIVE_INT64, &value) < 0) return {};
  return value;
}

Provenance ColumnReader::provenance() const {
  Provenance provenance;
  for (const Attribute& attribute : attributes()) {
    const Field field = attribute.field(provenance);
    if (auto* words = std::get_if<std::string*>(&field))
      **words = text(attribute.name).value_or("");
    else if (auto* number = std::get_if<std::int32_t*>(&field))
      **number = static_cast<std::int32_t>(integer(attribute.name).value_or(0));
    else
      *std::get<std::int64_t*>(field) = integer(attribute.name).value_or(0);
  }
  return provenance;
}

std::vector<std::string> ColumnReader::names() const {
  std::vector<std::string> names;
  auto visit = [](hid_t, const char* name, const H5L_info_t*, void* into) -> herr_t {
    static_cast<std::vector<std::string>*>(into)->push_back(name);
    return 0;
  };
  hsize_t from = 0;
  if (H5Literate(state_->file, H5_INDEX_NAME, H5_ITER_INC, &from, visit, &names) < 0)
    fail("has an unreadable list of columns");
  return names;
}

bool ColumnReader::has(const std::string& name) const {
  H5L_info_t link;
  return H5Lget_info(state_->file, name.c_str(), &link, H5P_DEFAULT) >= 0;
}

std::int64_t ColumnReader::rows(Table table) const {
  const auto known = state_->rows.find(table);
  if (known != state_->rows.end()) return known->second;
  const std::string word(name(table));
  if (info(table).optional && !has(word)) return state_->rows[table] = 0;
  const Handle scale = state_->dataset(word);
  Handle space(scale.good() ? H5Dget_space(scale) : -1, H5Sclose);
  const std::optional<hsize_t> extent = extent_of(space);
  if (!extent) fail("has no dimension '" + word + "'");
  if (*extent > state_->bytes * kMostDeflated)
    fail("claims " + std::to_string(*extent) + " rows of '" + word +
         "', more than a file of its size can hold");
  return state_->rows[table] = static_cast<std::int64_t>(*extent);
}

void ColumnReader::probe(Table table, const std::vector<ColumnInfo>& columns) const {
  if (!state_->lazy) return;
  std::vector<ColumnInfo> fresh;
  for (const ColumnInfo& column : columns)
    if (state_->probed.insert(column.name).second) fresh.push_back(column);
  if (fresh.empty()) return;
  // The number of rows that are read at a time and thrown away.
  constexpr std::int64_t kBlock = 1 << 20;
  const auto read_through = [&] {
    const ColumnReader file(path(), Trust::own);
    for (const ColumnInfo& column : fresh) {
      try {
        for (std::int64_t first = 0; first < file.rows(table); first += kBlock) {
          file.read(table, column, first, std::min(kBlock, file.rows(table) - first));
        }
      } catch (const DataError&) {
        // Whoever needs this column will find the error again.
      }
    }
  };
  if (!survives_in_child(state_->bytes, read_through)) fail(kBreaksDown);
}

void ColumnReader::append_to(Stored& stored, Table table, const ColumnInfo& info) const {
  const auto extent = static_cast<hsize_t>(rows(table));
  const std::size_t before = stored.size();
  const Handle data = state_->own && extent > 0 ? state_->dataset(info.name) : Handle();
  if (data.good() && state_->take_own(data, info.type, extent, [&](const Stored& piece) {
        stored.insert(stored.end(), piece.begin(), piece.end());
      }))
    return;
  stored.resize(before);
  store(read(table, info), info.type, stored);
}

Values ColumnReader::read(Table table, const ColumnInfo& info, std::int64_t first,
                          std::int64_t count) const {
  probe(table, {info});
  const std::int64_t extent = rows(table);
  const Handle data = state_->dataset(info.name);
  if (!data.good()) fail("has no column '" + info.name + "'");
  if (state_->own && first == 0 && count == extent && count > 0) {
    if (auto values = state_->read_own(data, info.type, static_cast<hsize_t>(extent)))
      return std::move(*values);
  }
  const Handle type(H5Dget_type(data), H5Tclose), space(H5Dget_space(data), H5Sclose);
  if (extent_of(space) != static_cast<hsize_t>(extent))
    fail("has a column '" + info.name + "' whose length is not that of '" +
         std::string(name(table)) + "', " + std::to_string(extent));
  if (!is_of_type(type, info.type))
    fail("has a column '" + info.name + "' that is not of type " + std::string(name(info.type)));
  if (first < 0 || count < 0 || first > extent - count)
    fail("has no rows " + std::to_string(first) + " to " + std::to_string(first + count) + " of '" +
         info.name + "'");
  Values values = empty_values(info.type);
  if (count == 0) return values;
  if (!state_->is_stored_plainly(data, static_cast<hsize_t>(extent) * stored_width(info.type),
                                 stored_width(info.type)))
    fail("has a column '" + info.name + "' that is stored in no way this format allows");
  const hsize_t start = static_cast<hsize_t>(first), many = static_cast<hsize_t>(count);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &many, nullptr);
  if (!State::append_rows(values, data, many, space))
    fail("has a column '" + info.name + "' that cannot be read; the file is damaged");
  return values;
}

}  // namespace draftlab
