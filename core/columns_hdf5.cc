#include "core/columns_hdf5.h"

#include <hdf5.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "core/chunks.h"
#include "core/error.h"
#include "core/files.h"
#include "core/isolation.h"

namespace draftlab {
namespace {

constexpr hsize_t kChunk = 16384;                  // rows
constexpr hsize_t kSmall = 16384;                  // bytes: a column up to this size is stored plainly, which costs a third less time
constexpr hsize_t kMostChunkBytes = 64u << 20;
constexpr hsize_t kReadWhole = 1u << 20;           // bytes: a file of our own up to this size is read at once
constexpr hsize_t kMostDeflated = 1040;            // deflate never shrinks by more
constexpr hsize_t kMostAttributeBytes = 16u << 20;

// An HDF5 handle, closed on every way out.
class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept { std::swap(id_, other.id_), std::swap(close_, other.close_); return *this; }
  ~Handle() { if (id_ >= 0) close_(id_); }
  operator hid_t() const { return id_; }
  bool good() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

// Failures come back as values; HDF5 shall not print them, nor load filters from somewhere.
void be_quiet() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLset_loading_state(0);
}

Handle text_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

hid_t stored(Type type) {
  switch (type) {
    case Type::int8: return H5T_STD_I8LE;
    case Type::int32: return H5T_STD_I32LE;
    case Type::int64: return H5T_STD_I64LE;
    case Type::float32: return H5T_IEEE_F32LE;
    case Type::float64: return H5T_IEEE_F64LE;
    case Type::text: break;
  }
  return -1;
}

// How values are read and written: HDF5's own buffer for conversions is a megabyte, cleared anew for every column.
hid_t transfer() {
  static std::array<std::byte, 1 << 16> converted, background;
  static const Handle how = [] {
    Handle list(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
    H5Pset_buffer(list, converted.size(), converted.data(), background.data());
    return list;
  }();
  return how;
}

// A column that is stored plainly. Equal contents, equal bytes: no times.
hid_t plain_layout() {
  static const Handle how = [] {
    Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(list, false);
    return list;
  }();
  return how;
}

hsize_t width(Type type) { return type == Type::text ? 16 : H5Tget_size(stored(type)); }

}  // namespace

struct ColumnWriter::State {
  Handle file;
  int level = 1;
  struct Scale {
    Handle data;
    hsize_t rows = 0;
    hobj_ref_t reference = 0;
    std::vector<hobj_ref_t> columns = {};  // that it is attached to
  };
  std::map<Table, Scale> scales;
  Handle string = text_type();

  // Memory is the only thing that can run out here.
  static void check(bool good) {
    if (!good) throw Fault("HDF5 could not build a file in memory");
  }
  static void attach(hid_t object, const std::string& name, hid_t type, hsize_t count, const void* data) {
    static const Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle row = count == 0 ? Handle() : Handle(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const hid_t space = count == 0 ? scalar : row;
    Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(attribute.good() && H5Awrite(attribute, type, data) >= 0);
  }
  static void attach(hid_t object, const std::string& name, const std::string& value) {
    const std::string clean = valid_utf8(value);
    const char* data = clean.c_str();
    static const Handle type = text_type();
    attach(object, name, type, 0, &data);
  }
  void attach_scale(hid_t column, const std::string& name, Scale& scale);
  void finish_scales();
};

// What H5DSattach_scale and a hundred calls of it write, at one go: it rewrites the scale's list with every column.
void ColumnWriter::State::attach_scale(hid_t column, const std::string& name, Scale& scale) {
  static const Handle list(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose);
  hvl_t one{1, &scale.reference};
  attach(column, "DIMENSION_LIST", list, 1, &one);
  hobj_ref_t reference = 0;
  check(H5Rcreate(&reference, file, name.c_str(), H5R_OBJECT, -1) >= 0);
  scale.columns.push_back(reference);
}

void ColumnWriter::State::finish_scales() {
  struct Entry {
    hobj_ref_t column;
    int dimension;
  };
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(Entry)), H5Tclose);
  H5Tinsert(type, "dataset", HOFFSET(Entry, column), H5T_STD_REF_OBJ);
  H5Tinsert(type, "dimension", HOFFSET(Entry, dimension), H5T_NATIVE_INT);
  for (auto& [table, scale] : scales) {
    std::vector<Entry> entries;
    for (const hobj_ref_t column : scale.columns) entries.push_back({column, 0});
    if (!entries.empty()) attach(scale.data, "REFERENCE_LIST", type, entries.size(), entries.data());
  }
  scales.clear();
}

ColumnWriter::ColumnWriter(int level) : state_(std::make_unique<State>()) {
  be_quiet();
  state_->level = level;
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  State::check(H5Pset_fapl_core(access, 1 << 20, false) >= 0);
  state_->file = Handle(H5Fcreate("columns.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
  State::check(state_->file.good());
}

ColumnWriter::~ColumnWriter() = default;

void ColumnWriter::attribute(const std::string& name, const std::string& value) { State::attach(state_->file, name, value); }

void ColumnWriter::attribute(const std::string& name, std::int64_t value) {
  State::attach(state_->file, name, H5T_NATIVE_INT64, 0, &value);
}

void ColumnWriter::root(std::string_view magic, const std::vector<Table>& tables, Provenance provenance) {
  attribute("magic", std::string(magic));
  attribute("schema_version", std::string(kSchemaVersion));
  attribute("schema", schema_text(tables));
  attribute("Conventions", std::string("CF-1.10"));
  attribute("index_base", std::int64_t{0});
  for (const Attribute& a : attributes()) {
    const Field field = a.field(provenance);
    if (auto* text = std::get_if<std::string*>(&field)) attribute(a.name, **text);
    else if (auto* number = std::get_if<std::int32_t*>(&field)) attribute(a.name, std::int64_t{**number});
    else attribute(a.name, *std::get<std::int64_t*>(field));
  }
  attribute("complete", std::int64_t{1});
}

void ColumnWriter::table(Table table, std::int64_t rows) {
  const hsize_t extent = static_cast<hsize_t>(rows);
  Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  const std::string word(name(table));
  Handle scale(H5Dcreate2(state_->file, word.c_str(), H5T_IEEE_F32BE, space, H5P_DEFAULT, plain_layout(), H5P_DEFAULT), H5Dclose);
  char label[96];  // by which netCDF knows a dimension that is no variable
  std::snprintf(label, sizeof label, "This is a netCDF dimension but not a netCDF variable.%10d", static_cast<int>(rows));
  State::check(scale.good() && H5DSset_scale(scale, label) >= 0);
  State::Scale& made = state_->scales[table];
  State::check(H5Rcreate(&made.reference, state_->file, word.c_str(), H5R_OBJECT, -1) >= 0);
  made.data = std::move(scale);
  made.rows = extent;
}

void ColumnWriter::column(Table table, const ColumnInfo& info, const Values& values) {
  State::Scale& scale = state_->scales.at(table);
  const hsize_t extent = scale.rows;
  if (static_cast<hsize_t>(size(values)) != extent) throw Fault("column '" + info.name + "' has not as many rows as its table");
  const hid_t type = info.type == Type::text ? static_cast<hid_t>(state_->string) : stored(info.type);
  const bool chunked = info.type != Type::text && extent * width(info.type) > kSmall;
  const hsize_t chunk = std::min(extent, kChunk);
  const Handle chunks = chunked ? Handle(H5Pcopy(plain_layout()), H5Pclose) : Handle();
  if (chunked) {
    State::check(H5Pset_chunk(chunks, 1, &chunk) >= 0 && H5Pset_shuffle(chunks) >= 0 && H5Pset_deflate(chunks, state_->level) >= 0);
  }
  Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  const hid_t layout = chunked ? static_cast<hid_t>(chunks) : plain_layout();
  Handle data(H5Dcreate2(state_->file, info.name.c_str(), type, space, H5P_DEFAULT, layout, H5P_DEFAULT), H5Dclose);
  State::check(data.good());
  if (chunked) {
    make_chunks(values, info.type, chunk, state_->level, [&](std::size_t at, const Chunk& bytes) {
      const hsize_t offset = at * chunk;
      State::check(H5Dwrite_chunk(data, H5P_DEFAULT, 0, &offset, bytes->size(), bytes->data()) >= 0);
    });
  } else if (extent > 0) {
    herr_t wrote = -1;
    if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&values)) {
      wrote = H5Dwrite(data, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, transfer(), integers->data());
    } else if (const auto* numbers = std::get_if<std::vector<double>>(&values)) {
      wrote = H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, transfer(), numbers->data());
    } else {
      std::vector<const char*> pointers;
      for (const std::string& text : std::get<std::vector<std::string>>(values)) pointers.push_back(text.c_str());
      wrote = H5Dwrite(data, type, H5S_ALL, H5S_ALL, transfer(), pointers.data());
    }
    State::check(wrote >= 0);
  }
  state_->attach_scale(data, info.name, scale);
  if (!info.unit.empty()) State::attach(data, "units", info.unit);
  State::attach(data, "long_name", info.doc);
  if (info.role == Role::count) State::attach(data, "sample_dimension", std::string(name(info.other)));
  if (info.role == Role::parent) State::attach(data, "instance_dimension", std::string(name(info.other)));
  if (!info.flags.empty()) {
    std::vector<std::int8_t> flags;
    std::string meanings;
    for (const auto& [value, meaning] : info.flags) {
      flags.push_back(static_cast<std::int8_t>(value));
      meanings += (meanings.empty() ? "" : " ") + meaning;
    }
    State::attach(data, "flag_values", H5T_NATIVE_INT8, flags.size(), flags.data());
    State::attach(data, "flag_meanings", meanings);
  }
}

void ColumnWriter::columns(const Columns& columns) {
  table(columns.table(), columns.rows());
  for (std::size_t i = 0; i < columns.infos().size(); ++i) column(columns.table(), columns.infos()[i], columns.values(i));
}

std::vector<std::byte> ColumnWriter::image() {
  state_->finish_scales();
  State::check(H5Fflush(state_->file, H5F_SCOPE_GLOBAL) >= 0);
  const ssize_t bytes = H5Fget_file_image(state_->file, nullptr, 0);
  State::check(bytes > 0);
  std::vector<std::byte> image(static_cast<std::size_t>(bytes));
  State::check(H5Fget_file_image(state_->file, image.data(), image.size()) == bytes);
  state_->file = Handle();
  return image;
}

void ColumnWriter::save(const std::string& path) { write_whole(path, image()); }

struct ColumnReader::State {
  std::string path;
  Handle file;
  hsize_t bytes = 0;
  std::map<Table, std::int64_t> rows;
  bool own = false, lazy = false;
  std::set<std::string> probed;  // columns that a child has read to their end

  // A dataset of the root, not something that a link leads to in another file.
  Handle dataset(const std::string& name) const {
    H5L_info_t link;
    if (!own && (H5Lget_info(file, name.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)) return {};
    return Handle(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  }
  std::optional<std::string> text(hid_t object, const std::string& name) const;
  static std::optional<Values> rows_of(hid_t data, Type type, hsize_t count, hid_t from);
  std::optional<Values> own_column(hid_t data, Type type, hsize_t rows) const;
};

// `count` rows of a column, those that `from` selects.
std::optional<Values> ColumnReader::State::rows_of(hid_t data, Type type, hsize_t count, hid_t from) {
  Values values = empty_values(type);
  const Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose);
  herr_t done = -1;
  if (auto* integers = std::get_if<std::vector<std::int64_t>>(&values)) {
    integers->resize(count);
    done = H5Dread(data, H5T_NATIVE_INT64, memory, from, transfer(), integers->data());
  } else if (auto* numbers = std::get_if<std::vector<double>>(&values)) {
    numbers->resize(count);
    done = H5Dread(data, H5T_NATIVE_DOUBLE, memory, from, transfer(), numbers->data());
  } else {
    std::vector<char*> pointers(count, nullptr);
    const Handle string = text_type();
    done = H5Dread(data, string, memory, from, transfer(), pointers.data());
    auto& texts = std::get<std::vector<std::string>>(values);
    for (char* pointer : pointers) texts.emplace_back(done >= 0 && pointer ? pointer : "");
    if (done >= 0) H5Dvlen_reclaim(string, memory, H5P_DEFAULT, pointers.data());
  }
  return done >= 0 ? std::optional(std::move(values)) : std::nullopt;
}

// A column as this program writes it: plainly, or chunk by chunk, shuffled and deflated. Merging reads little else, and of a
// small cell most time would go into asking what is known. Nothing where it is not stored so; then it is asked.
std::optional<Values> ColumnReader::State::own_column(hid_t data, Type type, hsize_t rows) const {
  if (type == Type::text || rows * width(type) <= kSmall) return rows_of(data, type, rows, H5S_ALL);
  Values values = empty_values(type);
  const hsize_t chunk = std::min(rows, kChunk);
  std::visit([&](auto& all) { all.reserve(rows); }, values);
  std::vector<unsigned char> stored_bytes;
  for (hsize_t at = 0; at < rows; at += chunk) {
    hsize_t size = 0;
    std::uint32_t skipped = 0;
    if (H5Dget_chunk_storage_size(data, &at, &size) < 0 || size == 0 || size > bytes) return {};
    stored_bytes.resize(size);
    if (H5Dread_chunk(data, H5P_DEFAULT, &at, &skipped, stored_bytes.data()) < 0 || skipped != 0) return {};
    if (!append_chunk(values, stored_bytes, type, chunk, std::min(chunk, rows - at))) return {};
  }
  return values;
}

std::optional<std::string> ColumnReader::State::text(hid_t object, const std::string& name) const {
  if (H5Aexists(object, name.c_str()) <= 0) return {};
  Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
  if (!attribute.good()) return {};
  Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  if (!type.good() || H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) return {};
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

constexpr const char* kDamaged = "is damaged: HDF5 breaks down when it reads it";

bool survives_in_child(hsize_t bytes, const std::function<void()>& act) {
  return survives(act, (1u << 28) + 64 * bytes, 2 + static_cast<unsigned>(bytes >> 20));
}

void read_root(const ColumnReader& file) {
  for (const Attribute& attribute : attributes()) file.text(attribute.name), file.integer(attribute.name);
  for (const char* attribute : {"magic", "schema_version", "schema", "drafts"}) file.text(attribute);
  file.names();
  for (const auto* tables : {&trace_tables(), &curve_tables()}) {
    for (Table table : *tables) {
      try {
        file.rows(table);
      } catch (const DataError&) {
      }
    }
  }
}

// Reads all that could ever be read of a file.
void read_all(const std::string& path) {
  const ColumnReader file(path, ColumnReader::Trust::own);
  read_root(file);
  auto read = [&](Table table, const ColumnInfo& column) {
    try {
      file.text(column.name, "units");
      file.read(table, column);
    } catch (const DataError&) {  // will be found again by whoever needs this column
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
      if (column.starts_with(named_prefix(table))) read(table, {.name = column, .type = Type::float64, .unit = "1", .doc = ""});
    }
  }
}

}  // namespace

ColumnReader::ColumnReader(const std::string& path, Trust trust) : state_(std::make_unique<State>()) {
  be_quiet();
  state_->path = path;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) throw DataError("there is no file '" + path + "'");
  if (!std::filesystem::is_regular_file(path, error)) throw DataError("'" + path + "' is not a file");
  state_->bytes = std::filesystem::file_size(path, error);
  state_->own = trust == Trust::own;
  state_->lazy = trust == Trust::lazy;
  if (trust == Trust::foreign && !survives_in_child(state_->bytes, [&] { read_all(path); })) fail(kDamaged);
  if (trust == Trust::lazy && !survives_in_child(state_->bytes, [&] { read_root(ColumnReader(path, Trust::own)); })) fail(kDamaged);
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_file_locking(access, false, true);  // files appear whole and never change
  if (state_->own && state_->bytes <= kReadWhole) H5Pset_fapl_core(access, kReadWhole, false);  // hundreds of small reads else
  state_->file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
  if (!state_->file.good()) fail("cannot be opened as HDF5; it is another kind of file, or incomplete");
}

ColumnReader::~ColumnReader() = default;
ColumnReader::ColumnReader(ColumnReader&&) noexcept = default;

const std::string& ColumnReader::path() const { return state_->path; }

// What a file says may hold anything; a message is printable.
void ColumnReader::fail(const std::string& what) const {
  std::string sentence = "'" + state_->path + "' " + what;
  std::replace_if(sentence.begin(), sentence.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  throw DataError(sentence);
}

std::optional<std::string> ColumnReader::text(const std::string& attribute) const { return state_->text(state_->file, attribute); }

std::optional<std::string> ColumnReader::text(const std::string& column, const std::string& attribute) const {
  const Handle data = state_->dataset(column);
  return data.good() ? state_->text(data, attribute) : std::nullopt;
}

std::optional<std::int64_t> ColumnReader::integer(const std::string& attribute) const {
  if (H5Aexists(state_->file, attribute.c_str()) <= 0) return {};
  Handle found(H5Aopen(state_->file, attribute.c_str(), H5P_DEFAULT), H5Aclose);
  if (!found.good()) return {};
  Handle type(H5Aget_type(found), H5Tclose), space(H5Aget_space(found), H5Sclose);
  if (!type.good() || H5Tget_class(type) != H5T_INTEGER || H5Sget_simple_extent_npoints(space) != 1) return {};
  std::int64_t value = 0;
  if (H5Aread(found, H5T_NATIVE_INT64, &value) < 0) return {};
  return value;
}

Provenance ColumnReader::provenance() const {
  Provenance provenance;
  for (const Attribute& attribute : attributes()) {
    const Field field = attribute.field(provenance);
    if (auto* words = std::get_if<std::string*>(&field)) **words = text(attribute.name).value_or("");
    else if (auto* number = std::get_if<std::int32_t*>(&field)) **number = static_cast<std::int32_t>(integer(attribute.name).value_or(0));
    else *std::get<std::int64_t*>(field) = integer(attribute.name).value_or(0);
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
  if (H5Literate(state_->file, H5_INDEX_NAME, H5_ITER_INC, &from, visit, &names) < 0) fail("has an unreadable list of columns");
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
  hsize_t extent = 0;
  if (!space.good() || H5Sget_simple_extent_ndims(space) != 1 || H5Sget_simple_extent_dims(space, &extent, nullptr) != 1) {
    fail("has no dimension '" + word + "'");
  }
  if (extent > state_->bytes * kMostDeflated) fail("claims " + std::to_string(extent) + " rows of '" + word + "', more than a file of its size can hold");
  return state_->rows[table] = static_cast<std::int64_t>(extent);
}

void ColumnReader::probe(Table table, const std::vector<ColumnInfo>& columns) const {
  if (!state_->lazy) return;
  std::vector<ColumnInfo> fresh;
  for (const ColumnInfo& column : columns) if (state_->probed.insert(column.name).second) fresh.push_back(column);
  if (fresh.empty()) return;
  constexpr std::int64_t kBlock = 1 << 20;  // rows: what is read is thrown away
  const auto read_through = [&] {
    const ColumnReader file(path(), Trust::own);
    for (const ColumnInfo& column : fresh) {
      try {
        for (std::int64_t first = 0; first < file.rows(table); first += kBlock) {
          file.read(table, column, first, std::min(kBlock, file.rows(table) - first));
        }
      } catch (const DataError&) {  // will be found again by whoever needs this column
      }
    }
  };
  if (!survives_in_child(state_->bytes, read_through)) fail(kDamaged);
}

Values ColumnReader::read(Table table, const ColumnInfo& info, std::int64_t first, std::int64_t count) const {
  probe(table, {info});
  const auto extent = static_cast<hsize_t>(rows(table));
  const Handle data = state_->dataset(info.name);
  if (!data.good()) fail("has no column '" + info.name + "'");
  if (state_->own && first == 0 && count == rows(table) && count > 0) {
    if (std::optional<Values> values = state_->own_column(data, info.type, extent)) return std::move(*values);
  }
  Handle type(H5Dget_type(data), H5Tclose), space(H5Dget_space(data), H5Sclose), layout(H5Dget_create_plist(data), H5Pclose);
  hsize_t length = 0;
  if (!space.good() || H5Sget_simple_extent_ndims(space) != 1 || H5Sget_simple_extent_dims(space, &length, nullptr) != 1 || length != extent) {
    fail("has a column '" + info.name + "' whose length is not that of '" + std::string(name(table)) + "', " + std::to_string(extent));
  }
  bool right = type.good();
  if (right && info.type == Type::text) right = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0;
  else if (right) right = H5Tget_class(type) == H5Tget_class(stored(info.type)) && H5Tget_size(type) == width(info.type) &&
                          (H5Tget_class(type) != H5T_INTEGER || H5Tget_sign(type) == H5T_SGN_2);
  if (!right) fail("has a column '" + info.name + "' that is not of type " + std::string(name(info.type)));
  if (first < 0 || count < 0 || first > rows(table) - count) fail("has no rows " + std::to_string(first) + " to " + std::to_string(first + count) + " of '" + info.name + "'");
  if (count == 0) return empty_values(info.type);

  // What is stored bounds what can be read.
  const H5D_layout_t kind = layout.good() ? H5Pget_layout(layout) : H5D_LAYOUT_ERROR;
  bool plain = (kind == H5D_CONTIGUOUS || kind == H5D_COMPACT || kind == H5D_CHUNKED) && H5Pget_external_count(layout) == 0;
  const int filters = plain ? H5Pget_nfilters(layout) : 0;
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(layout, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, nullptr);
    plain = plain && (filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE || filter == H5Z_FILTER_FLETCHER32);
  }
  hsize_t chunk = 0;
  if (plain && kind == H5D_CHUNKED) plain = H5Pget_chunk(layout, 1, &chunk) == 1 && chunk * width(info.type) <= kMostChunkBytes;
  const hsize_t held = plain ? H5Dget_storage_size(data) : 0;
  plain = plain && held <= state_->bytes && length * width(info.type) <= held * (filters > 0 ? kMostDeflated : 1);
  if (!plain) fail("has a column '" + info.name + "' that is stored in no way this format allows");

  const hsize_t start = static_cast<hsize_t>(first), many = static_cast<hsize_t>(count);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &many, nullptr);
  std::optional<Values> values = state_->rows_of(data, info.type, many, space);
  if (!values) fail("has a column '" + info.name + "' that cannot be read; the file is damaged");
  return std::move(*values);
}

}  // namespace draftlab
