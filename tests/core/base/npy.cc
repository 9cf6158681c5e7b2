#include "core/base/npy.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/error.h"

namespace draftlab {
namespace {

const std::string kPath = (std::filesystem::temp_directory_path() /
                           ("draftlab_npy_" + std::to_string(::getpid()) + ".npy"))
                              .string();

void write(const std::string& bytes) { std::ofstream(kPath, std::ios::binary) << bytes; }

std::string refusal() {
  try {
    read_npy(kPath);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

std::string file(const std::string& header, const std::string& data) {
  std::string text = "\x93NUMPY";
  text += {'\1', '\0', static_cast<char>(header.size()), '\0'};
  return text + header + data;
}

TEST_CASE("arrays go to numpy's format and back; its header is what numpy writes") {
  const std::vector<float> values = {1, 2, 3, 4, 5, -0.5f};
  write_npy(kPath, {3, 2}, values);
  const NpyArray array = read_npy(kPath);
  CHECK(array.shape == std::vector<std::int64_t>{3, 2});
  CHECK(array.values == values);
  CHECK(read_npy(kPath, 2).values == std::vector<float>{1, 2, 3, 4});
  std::ostringstream bytes;
  bytes << std::ifstream(kPath, std::ios::binary).rdbuf();
  CHECK(bytes.str().size() == 128 + 24);
  CHECK(bytes.str().substr(10, 54) == "{'descr': '<f4', 'fortran_order': False, 'shape': (3,2");
  CHECK_THROWS_AS(write_npy(kPath, {4, 2}, values), Fault);
}

TEST_CASE("integers and doubles are read, too; anything else is refused in a sentence") {
  write(file("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "\1\2\xff"));
  CHECK(read_npy(kPath).values == std::vector<float>{1, 2, 255});
  write(file("{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1), }",
             std::string("\7\0\0\0\0\0\0\0", 8)));
  CHECK(read_npy(kPath).values == std::vector<float>{7});
  write(file("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "1234"));
  CHECK(refusal() ==
        "'" + kPath + "' holds elements of type '>f4', which must be <f4, <f8, <i4, <i8 or |u1");
  write(file("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "1234"));
  CHECK(refusal() ==
        "'" + kPath + "' is stored in Fortran's order; save numpy.ascontiguousarray of it");
  write(file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", "1234"));
  CHECK(refusal() == "'" + kPath + "' is shorter than its shape (2, 3) says");
  write(file("{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999, 999999999999), }",
             "1234"));
  CHECK(refusal() == "'" + kPath + "' claims more values than can be");
  write("PK\3\4 an archive");
  CHECK(refusal() == "'" + kPath + "' is no .npy file");
  std::filesystem::remove(kPath);
}

}  // namespace
}  // namespace draftlab
