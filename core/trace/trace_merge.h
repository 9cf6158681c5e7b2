// Merges several traces into one: units of a run, or cells of a sweep.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/trace/hdf5_columns.h"
#include "core/trace/prompts.h"
#include "core/trace/rows.h"
#include "core/trace/trace_tables.h"

namespace draftlab {

// Where every row of a merged table comes from, as an index into the sources' rows laid end to end,
// and its new links.
struct Merge {
  // A file, and the samples that are wanted of it: all of them, or those of one run that gets a new
  // index.
  struct Source {
    std::string path;
    // The new index of the run; -1 leaves it as it stands in the file.
    std::int64_t run = -1;
    // The new index of the first run of its checkpoint; -1 leaves it as it stands.
    std::int32_t speller = -1;
    // The new index of the first run that has its prompts; -1 leaves it as it stands.
    std::int32_t prompter = -1;
    std::int64_t first = 0, prompts = 0, samples = 0;
    bool wants(std::int64_t prompt, std::int64_t repeat) const {
      return run < 0 || (prompt >= first && prompt < first + prompts && repeat < samples);
    }
  };
  std::vector<Source> sources;
  Named named;
  // The source rows, in the new order.
  std::vector<std::int64_t> samples, steps, tokens, drafts;
  // The run of each sample.
  std::vector<std::int64_t> runs;
  std::map<std::string, std::vector<std::int64_t>> links;
  // The pieces by run and token.
  std::map<std::pair<std::int32_t, std::int32_t>, PieceRow> pieces;

  // The tokens of the prompts of the samples.
  GivenRows prompts;

  explicit Merge(std::vector<Source> all) : sources(std::move(all)) {}
  // Fills what stands above. It calls opened(file, source) for each file, which may still say what
  // of it is wanted. Throws DataError where rows do not lie as they must.
  void plan(const std::function<void(const ColumnReader&, Source&)>& opened = {});
  struct Wanted {
    Table table;
    ColumnInfo column;
  };
  // A column as it will be stored.
  using Packed = std::variant<Values, Chunks>;
  std::vector<Packed> read(const std::vector<Wanted>& columns, int level) const;
  std::vector<Packed> gather(const std::vector<Wanted>& columns, int level) const;
  const std::vector<std::int64_t>& rows_of(Table table) const {
    return table == Table::sample  ? samples
           : table == Table::step  ? steps
           : table == Table::token ? tokens
                                   : drafts;
  }
  // Writes all tables but those of runs and cells; the links are written with them.
  void write(ColumnWriter& file);
};

}  // namespace draftlab
