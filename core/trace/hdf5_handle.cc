#include "core/trace/hdf5_handle.h"

#include <array>
#include <cstddef>

#include "core/trace/chunks.h"

namespace draftlab {

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

hid_t stored_type(Type type) {
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

hsize_t stored_width(Type type) { return type == Type::text ? 16 : width(type); }

hid_t transfer() {
  static std::array<std::byte, 1 << 16> converted, background;
  static const Handle how = [] {
    Handle list(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
    H5Pset_buffer(list, converted.size(), converted.data(), background.data());
    return list;
  }();
  return how;
}

}  // namespace draftlab
