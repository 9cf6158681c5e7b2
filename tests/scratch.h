// Folders for the files that tests write. Each process has one of its own, because programs of
// tests run side by side, and it goes when the process ends.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace draftlab::testing {

// A new, empty folder, which goes with the object.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string made = std::filesystem::temp_directory_path() / "draftlab-test-XXXXXX";
    if (!mkdtemp(made.data())) std::abort();
    path = made;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
};

// A file of given bytes, which goes with the object.
struct File {
  Folder folder;
  std::string path;
  explicit File(const std::string& bytes, const std::string& name = "file")
      : path(folder.path / name) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
};

// The path of a file in the process's folder.
inline std::string scratch(const std::string& name) {
  static const Folder folder;
  return folder.path / name;
}

inline std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace draftlab::testing
