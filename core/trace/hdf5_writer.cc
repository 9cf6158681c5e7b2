#include "core/trace/hdf5_columns.h"

#include <hdf5.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/trace/checksum.h"
#include "core/trace/hdf5_handle.h"

namespace draftlab {
namespace {

// The layout of a column that is stored plainly. It holds no times, so that equal contents give
// equal bytes.
hid_t plain_layout() {
  static const Handle how = [] {
    Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(list, false);
    return list;
  }();
  return how;
}

}  // namespace

struct ColumnWriter::State {
  Handle file;
  int level = 1;
  Portion portion = Portion::whole;
  struct Scale {
    Handle data;
    hsize_t rows = 0;
    hobj_ref_t reference = 0;
    // The columns that the scale is attached to.
    std::vector<hobj_ref_t> columns = {};
  };
  std::map<Table, Scale> scales;
  Handle string = text_type();

  // Turns a failure into a Fault. Memory is the only thing that can run out here.
  static void check(bool good) {
    if (!good) throw Fault("HDF5 could not build a file in memory");
  }
  // What an attribute holds; a count of 0 stands for a scalar.
  struct Held {
    hid_t type;
    hsize_t count;
    const void* data;
  };
  static void attach(hid_t object, const std::string& name, const Held& held) {
    static const Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle row =
        held.count == 0 ? Handle() : Handle(H5Screate_simple(1, &held.count, nullptr), H5Sclose);
    const hid_t space = held.count == 0 ? scalar : row;
    Handle attribute(H5Acreate2(object, name.c_str(), held.type, space, H5P_DEFAULT, H5P_DEFAULT),
                     H5Aclose);
    check(attribute.good() && H5Awrite(attribute, held.type, held.data) >= 0);
  }
  // The text is valid UTF-8.
  static void attach(hid_t object, const std::string& name, const std::string& text) {
    const char* data = text.c_str();
    static const Handle type = text_type();
    attach(object, name, {type, 0, &data});
  }
  Handle made(const ColumnInfo& info, hid_t type, hsize_t extent, hid_t layout) const;
  void describe(hid_t data, const ColumnInfo& info, Scale& scale);
  void attach_scale(hid_t column, Scale& scale);
  void finish_scales();
  std::span<const std::byte> sealed();
};

// Writes at one go what a hundred calls of H5DSattach_scale would write, which rewrites the scale's
// list with every column.
void ColumnWriter::State::attach_scale(hid_t column, Scale& scale) {
  static const Handle list(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose);
  hvl_t one{1, &scale.reference};
  attach(column, "DIMENSION_LIST", {list, 1, &one});
  hobj_ref_t reference = 0;
  // The object is named by itself; by its name it would be searched for.
  check(H5Rcreate(&reference, column, ".", H5R_OBJECT, -1) >= 0);
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
    if (!entries.empty())
      attach(scale.data, "REFERENCE_LIST", {type, entries.size(), entries.data()});
  }
  scales.clear();
}

ColumnWriter::ColumnWriter(int level, Portion portion) : state_(std::make_unique<State>()) {
  be_quiet();
  state_->level = level;
  state_->portion = portion;
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // Memory is taken in few large steps: a small trace is 150 datasets, whose headers would
  // otherwise be laid out two kilobytes at a time.
  State::check(H5Pset_fapl_core(access, 1 << 18, false) >= 0 &&
               H5Pset_meta_block_size(access, 1 << 16) >= 0 &&
               H5Pset_small_data_block_size(access, 1 << 14) >= 0);
  state_->file = Handle(H5Fcreate("columns.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
  State::check(state_->file.good());
}

ColumnWriter::~ColumnWriter() = default;

int ColumnWriter::level() const { return state_->level; }

void ColumnWriter::attribute(const std::string& name, const std::string& value) {
  State::attach(state_->file, name, valid_utf8(value));
}

void ColumnWriter::attribute(const std::string& name, std::int64_t value) {
  State::attach(state_->file, name, {H5T_NATIVE_INT64, 0, &value});
}

void ColumnWriter::root(std::string_view magic, const std::vector<Table>& tables,
                        Provenance provenance) {
  attribute("magic", std::string(magic));
  attribute("schema_version", std::string(kSchemaVersion));
  attribute("schema", schema_text(tables));
  if (state_->portion == Portion::whole)
    attribute("Conventions", std::string("CF-1.10"));
  else
    attribute("part", std::int64_t{1});
  attribute("index_base", std::int64_t{0});
  for (const Attribute& a : attributes()) {
    const Field field = a.field(provenance);
    if (auto* text = std::get_if<std::string*>(&field))
      attribute(a.name, **text);
    else if (auto* number = std::get_if<std::int32_t*>(&field))
      attribute(a.name, std::int64_t{**number});
    else
      attribute(a.name, *std::get<std::int64_t*>(field));
  }
  attribute("complete", std::int64_t{1});
  attribute("checksum", std::string(kUnsealed));
}

void ColumnWriter::table(Table table, std::int64_t rows) {
  const hsize_t extent = static_cast<hsize_t>(rows);
  Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  const std::string word(name(table));
  Handle scale(H5Dcreate2(state_->file, word.c_str(), H5T_IEEE_F32BE, space, H5P_DEFAULT,
                          plain_layout(), H5P_DEFAULT),
               H5Dclose);
  // The label by which netCDF knows a dimension that is no variable.
  char label[96];
  std::snprintf(label, sizeof label, "This is a netCDF dimension but not a netCDF variable.%10d",
                static_cast<int>(rows));
  State::check(scale.good());
  State::Scale& made = state_->scales[table];
  if (state_->portion == Portion::whole)
    State::check(H5DSset_scale(scale, label) >= 0 &&
                 H5Rcreate(&made.reference, scale, ".", H5R_OBJECT, -1) >= 0);
  made.data = std::move(scale);
  made.rows = extent;
}

Handle ColumnWriter::State::made(const ColumnInfo& info, hid_t type, hsize_t extent,
                                 hid_t layout) const {
  const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  Handle data(H5Dcreate2(file, info.name.c_str(), type, space, H5P_DEFAULT, layout, H5P_DEFAULT),
              H5Dclose);
  check(data.good());
  return data;
}

void ColumnWriter::State::describe(hid_t data, const ColumnInfo& info, Scale& scale) {
  if (portion == Portion::part) return;
  attach_scale(data, scale);
  if (!info.unit.empty()) attach(data, "units", info.unit);
  attach(data, "long_name", info.doc);
  if (info.role == Role::count) attach(data, "sample_dimension", std::string(name(info.other)));
  if (info.role == Role::parent) attach(data, "instance_dimension", std::string(name(info.other)));
  if (info.flags.empty()) return;
  std::vector<std::int8_t> flags;
  std::string meanings;
  for (const auto& [value, meaning] : info.flags) {
    flags.push_back(static_cast<std::int8_t>(value));
    meanings += (meanings.empty() ? "" : " ") + meaning;
  }
  attach(data, "flag_values", {H5T_NATIVE_INT8, flags.size(), flags.data()});
  attach(data, "flag_meanings", meanings);
}

void ColumnWriter::column(Table table, const ColumnInfo& info, const Values& values) {
  State::Scale& scale = state_->scales.at(table);
  const hsize_t extent = scale.rows;
  if (static_cast<hsize_t>(size(values)) != extent)
    throw Fault("column '{}' has not as many rows as its table", info.name);
  if (is_chunked(info.type, extent))
    return column(table, info, make_chunks({{values, info.type}}, state_->level).front());
  const hid_t type =
      info.type == Type::text ? static_cast<hid_t>(state_->string) : stored_type(info.type);
  const Handle data = state_->made(info, type, extent, plain_layout());
  if (extent > 0) {
    herr_t wrote = -1;
    if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&values)) {
      wrote = H5Dwrite(data, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, transfer(), integers->data());
    } else if (const auto* numbers = std::get_if<std::vector<double>>(&values)) {
      wrote = H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, transfer(), numbers->data());
    } else {
      std::vector<const char*> pointers;
      for (const std::string& text : std::get<std::vector<std::string>>(values))
        pointers.push_back(text.c_str());
      wrote = H5Dwrite(data, type, H5S_ALL, H5S_ALL, transfer(), pointers.data());
    }
    State::check(wrote >= 0);
  }
  state_->describe(data, info, scale);
}

void ColumnWriter::column(Table table, const ColumnInfo& info, const Chunks& chunks) {
  State::Scale& scale = state_->scales.at(table);
  const hsize_t extent = scale.rows, chunk = chunk_rows(extent);
  if (chunks.size() != (extent + kChunk - 1) / kChunk)
    throw Fault("column '{}' has not as many rows as its table", info.name);
  const Handle layout(H5Pcopy(plain_layout()), H5Pclose);
  State::check(H5Pset_chunk(layout, 1, &chunk) >= 0 && H5Pset_shuffle(layout) >= 0 &&
               H5Pset_deflate(layout, state_->level) >= 0);
  const Handle data = state_->made(info, stored_type(info.type), extent, layout);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const hsize_t offset = i * chunk;
    State::check(
        H5Dwrite_chunk(data, H5P_DEFAULT, 0, &offset, chunks[i]->size(), chunks[i]->data()) >= 0);
  }
  state_->describe(data, info, scale);
}

void ColumnWriter::columns(const Columns& columns) {
  table(columns.table(), columns.rows());
  const std::vector<ColumnInfo>& infos = columns.infos();
  std::vector<Unchunked> all;
  for (std::size_t i = 0; i < infos.size(); ++i) all.push_back({columns.values(i), infos[i].type});
  const std::vector<Chunks> chunks = make_chunks(all, state_->level);
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (chunks[i].empty())
      column(columns.table(), infos[i], columns.values(i));
    else
      column(columns.table(), infos[i], chunks[i]);
  }
}

// Returns what has been built so far, in the library's own memory.
std::span<const std::byte> ColumnWriter::State::sealed() {
  finish_scales();
  check(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  void** memory = nullptr;
  check(size > 0 && H5Fget_vfd_handle(file, H5P_DEFAULT, reinterpret_cast<void**>(&memory)) >= 0);
  const std::span bytes(static_cast<std::byte*>(*memory), static_cast<std::size_t>(size));
  seal(bytes);
  return bytes;
}

std::vector<std::byte> ColumnWriter::image() {
  const auto bytes = state_->sealed();
  std::vector<std::byte> image(bytes.begin(), bytes.end());
  state_->file = Handle();
  return image;
}

void ColumnWriter::save(const std::string& path) {
  write_whole(path, state_->sealed());
  state_->file = Handle();
}

}  // namespace draftlab
