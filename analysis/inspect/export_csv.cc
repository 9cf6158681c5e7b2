#include "analysis/inspect/export_csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "core/base/files.h"
#include "core/trace/hdf5_columns.h"
#include "core/trace/trace_file.h"

namespace draftlab {
namespace {

// So many rows are in memory at a time.
constexpr std::int64_t kRowsAtATime = 1 << 16;

void append_text(std::string& line, const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) {
    line += text;
    return;
  }
  line += '"';
  for (char c : text) line += c == '"' ? std::string("\"\"") : std::string(1, c);
  line += '"';
}

// Appends the shortest text that reads back as the same number; float columns are read back as
// floats.
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

// The names of the columns, without the table's.
std::string header(const Columns& columns, const std::string& prefix) {
  std::string line;
  for (const ColumnInfo& column : columns.infos())
    line += (line.empty() ? "" : ",") + column.name.substr(prefix.size());
  return line + "\n";
}

void append_rows(std::string& text, const Columns& columns) {
  for (std::int64_t row = 0; row < columns.rows(); ++row) {
    for (std::size_t c = 0; c < columns.infos().size(); ++c) {
      if (c) text += ',';
      append_cell(text, columns.values(c), static_cast<std::size_t>(row), columns.infos()[c].type);
    }
    text += '\n';
  }
}

}  // namespace

std::vector<std::string> export_csv(const std::string& path, const std::string& folder) {
  const Trace trace(path);
  make_folder(folder);
  std::vector<std::string> written;
  for (Table table : trace_tables()) {
    const std::string word(name(table));
    written.push_back(folder + "/" + word + ".csv");
    std::string text;
    std::int64_t next = 0;
    write_whole(written.back(), [&]() -> std::span<const std::byte> {
      text.clear();
      if (next < trace.rows(table) || next == 0) {
        const std::int64_t count = std::min(kRowsAtATime, trace.rows(table) - next);
        const Columns columns = trace.columns(table, next, count);
        if (next == 0) text = header(columns, word + "_");
        append_rows(text, columns);
        next = std::max<std::int64_t>(1, next + count);
      }
      return std::as_bytes(std::span(text));
    });
  }
  return written;
}

}  // namespace draftlab
