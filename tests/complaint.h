// How code under test refuses, and a way to give it something to refuse.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "tests/scratch.h"

namespace draftlab::testing {

// The sentence of the Error that `work` throws; "nothing" where it throws none.
template <class Error = DataError, class Work>
std::string complaint(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

inline bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

// Whether a message is one line that has these words. One that is not stands in the test's output.
inline bool says(const std::string& message, const std::string& words) {
  const bool does = has(message, words) && !has(message, "\n");
  if (!does) DOCTEST_MESSAGE("it says: " << message);
  return does;
}

// Puts `to` where a file has `from` for the first time.
inline void rewrite(const std::filesystem::path& file, const std::string& from,
                    const std::string& to) {
  std::string text = contents(file);
  const std::size_t at = text.find(from);
  DOCTEST_REQUIRE(at != std::string::npos);
  std::ofstream(file) << text.replace(at, from.size(), to);
}

}  // namespace draftlab::testing
