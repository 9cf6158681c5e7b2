#include "analysis/trace/export_csv.h"

#include <charconv>
#include <cmath>
#include <fstream>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/trace/hdf5_columns.h"
#include "core/trace/trace_file.h"

namespace draftlab {
namespace {

constexpr std::int64_t kBlock = 1 << 16;  // rows in memory at a time

void append_text(std::string& line, const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) {
    line += text;
    return;
  }
  line += '"';
  for (char c : text) line += c == '"' ? std::string("\"\"") : std::string(1, c);
  line += '"';
}

// The shortest text that reads back as the same number; float columns as floats.
void append_number(std::string& line, double value, Type type) {
  if (std::isnan(value)) return;
  char text[40];
  const auto end = type == Type::float32
                       ? std::to_chars(text, text + sizeof text, static_cast<float>(value))
                       : std::to_chars(text, text + sizeof text, value);
  line.append(text, end.ptr);
}

void append_cell(std::string& line, const Values& values, std::size_t row, Type type) {
  if (const auto* integers = std::get_if<0>(&values))
    line += std::to_string((*integers)[row]);
  else if (const auto* numbers = std::get_if<1>(&values))
    append_number(line, (*numbers)[row], type);
  else
    append_text(line, std::get<2>(values)[row]);
}

}  // namespace

std::vector<std::string> export_csv(const std::string& path, const std::string& folder) {
  const Trace trace(path);
  make_folder(folder);
  std::vector<std::string> written;
  for (Table table : trace_tables()) {
    const std::string prefix = std::string(name(table)) + "_",
                      file = folder + "/" + std::string(name(table)) + ".csv",
                      partial = file + std::string(kPartial);
    std::ofstream out(partial, std::ios::binary);
    const auto check = [&] {
      if (!out) throw OutputError("cannot write '" + partial + "'");
    };
    for (std::int64_t first = 0; first == 0 || first < trace.rows(table); first += kBlock) {
      const std::int64_t count = std::min(kBlock, trace.rows(table) - first);
      const Columns columns = trace.columns(table, first, count);
      std::string text;
      if (first == 0) {
        for (std::size_t c = 0; c < columns.infos().size(); ++c)
          text += (c ? "," : "") + columns.infos()[c].name.substr(prefix.size());
        text += "\n";
      }
      for (std::int64_t row = 0; row < count; ++row) {
        for (std::size_t c = 0; c < columns.infos().size(); ++c) {
          if (c) text += ',';
          append_cell(text, columns.values(c), static_cast<std::size_t>(row),
                      columns.infos()[c].type);
        }
        text += '\n';
      }
      out << text;
      check();
    }
    out.close();
    check();
    if (std::rename(partial.c_str(), file.c_str()) != 0)
      throw OutputError("cannot rename '" + partial + "' to '" + file + "'");
    written.push_back(file);
  }
  return written;
}

}  // namespace draftlab
