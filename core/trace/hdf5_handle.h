// What the writer and the reader of columns share of HDF5: handles, types, and how a column lies in
// a file. Nothing else includes it, so the rest of the program knows no HDF5.
#pragma once

#include <hdf5.h>

#include <utility>

#include "core/trace/columns.h"

namespace draftlab {

// An HDF5 handle that is closed on every way out.
class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_), std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }
  bool good() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

// Makes HDF5 print nothing and load no filters from elsewhere. Failures come back as values.
void be_quiet();

// The type of texts: any length, UTF-8.
Handle text_type();
// The type of stored numbers.
hid_t stored_type(Type type);
// The bytes that a value takes in a file.
hsize_t stored_width(Type type);
// The property list with which values are read and written: HDF5's own buffer for conversions is a
// megabyte, which it clears anew for every column.
hid_t transfer();

}  // namespace draftlab
