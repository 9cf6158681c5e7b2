// A folder for the files that tests write. Each process has one of its own, because programs of
// tests run side by side, and it goes when the process ends.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace draftlab::testing {

inline std::string scratch(const std::string& name) {
  struct Folder {
    std::filesystem::path path;
    Folder() {
      std::string made = std::filesystem::temp_directory_path() / "draftlab-test-XXXXXX";
      if (!mkdtemp(made.data())) std::abort();
      path = made;
    }
    ~Folder() { std::filesystem::remove_all(path); }
  };
  static const Folder folder;
  return folder.path / name;
}

}  // namespace draftlab::testing
