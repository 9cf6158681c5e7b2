#include "core/trace/schema.h"

#include <map>

#include "core/base/error.h"

namespace draftlab {
namespace {

ColumnInfo link(const char* name, Role role, Table other, const char* doc) {
  return {.name = name,
          .type = role == Role::parent ? Type::int32 : Type::int64,
          .unit = "1",
          .doc = doc,
          .role = role,
          .other = other,
          .low = 0};
}

template <class Row>
TableInfo describe(Table table, const char* doc, std::vector<ColumnInfo> links,
                   bool optional = false) {
  TableInfo result{table, doc, {}, static_cast<int>(links.size()), optional};
  for (ColumnInfo& l : links) {
    l.name = std::string(name(table)) + "_" + l.name;
    result.columns.push_back(std::move(l));
  }
  for (const Column<Row>& c : fields<Row>()) result.columns.push_back(c.info);
  return result;
}

}  // namespace

std::string_view name(Table table) {
  constexpr std::string_view names[] = {"run",   "sample",     "step",    "token", "draft",
                                        "piece", "plugin",     "setting", "axis",  "cell",
                                        "curve", "validation", "given"};
  return names[static_cast<int>(table)];
}

std::string_view name(Type type) {
  constexpr std::string_view names[] = {"int8", "int32", "int64", "float32", "float64", "text"};
  return names[static_cast<int>(type)];
}

const TableInfo& info(Table table) {
  static const std::map<Table, TableInfo> tables = {
      {Table::run, describe<RunRow>(Table::run, "One arm: a resolved config.", {})},
      {Table::sample,
       describe<SampleRow>(Table::sample, "One decoded prompt, sorted by prompt, repeat and arm.",
                           {link("first_step", Role::first, Table::step, "first row of its steps"),
                            link("n_steps", Role::count, Table::step, "number of its steps")})},
      {Table::step,
       describe<StepRow>(
           Table::step, "One turn of the loop: draft, route, verdict, commit.",
           {link("sample_index", Role::parent, Table::sample, "row of the sample table"),
            link("first_token", Role::first, Table::token, "first row of its tokens"),
            link("n_tokens", Role::count, Table::token, "number of its tokens"),
            link("first_draft", Role::first, Table::draft, "first row of its drafts"),
            link("n_drafts", Role::count, Table::draft,
                 "number of its drafts that were recorded")})},
      {Table::token, describe<TokenRow>(
                         Table::token, "One committed token, in the order of commitment.",
                         {link("step_index", Role::parent, Table::step, "row of the step table")})},
      {Table::draft, describe<DraftRow>(
                         Table::draft, "One drafted position, in the order of drafting.",
                         {link("step_index", Role::parent, Table::step, "row of the step table")})},
      {Table::piece,
       describe<PieceRow>(Table::piece,
                          "One token that occurs, as text. A file may lack this table.", {}, true)},
      {Table::plugin,
       describe<PluginRow>(Table::plugin,
                           "One file of plugins that took part. A file may lack this table.", {},
                           true)},
      {Table::setting,
       describe<SettingRow>(Table::setting,
                            "One resolved option or part of an arm. A file may lack this table.",
                            {}, true)},
      {Table::axis,
       describe<AxisRow>(Table::axis,
                         "One value by which a sweep tells an arm from its others, in the order of "
                         "the sweep's axes. A file may lack this table.",
                         {}, true)},
      {Table::given,
       describe<GivenRow>(Table::given,
                          "One token of a prompt. A file may lack this table; it has no rows where "
                          "the attribute `prompts` says \"none\".",
                          {}, true)},
      {Table::cell, describe<CellRow>(Table::cell,
                                      "One cell of a sweep: the manifest. Only traces that "
                                      "`draftlab sweep` gathered have this table.",
                                      {}, true)},
      {Table::curve,
       describe<CurveRow>(Table::curve, "Training: one logged step of the optimiser.", {})},
      {Table::validation,
       describe<ValidationRow>(Table::validation, "Training: one validation.", {})},
  };
  return tables.at(table);
}

const std::vector<Table>& trace_tables() {
  static const std::vector<Table> tables = {
      Table::run,   Table::sample, Table::step,    Table::token, Table::draft,
      Table::piece, Table::plugin, Table::setting, Table::axis,  Table::given};
  return tables;
}

const std::vector<Table>& sweep_tables() {
  static const std::vector<Table> tables = {Table::cell};
  return tables;
}

const std::vector<Table>& curve_tables() {
  static const std::vector<Table> tables = {Table::curve, Table::validation};
  return tables;
}

std::string_view named_prefix(Table table) {
  return table == Table::sample  ? "sample_score_"
         : table == Table::step  ? "step_expected_"
         : table == Table::token ? "token_value_"
         : table == Table::draft ? "draft_top_"
                                 : "";
}

ColumnInfo named_column(Table table, const std::string& name) {
  const bool fits =
      !name.empty() && name.size() <= 64 &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
  if (!fits)
    throw Fault(
        "'{}' cannot name a column of the trace: names are lower_case letters, digits and "
        "underscores",
        name);
  const std::string doc =
      table == Table::sample ? "the task's score `" + name + "`"
      : table == Table::step ? "accepted prefix that the attached estimator `" + name + "` expected"
      : table == Table::token
          ? "of a vector token: coordinate " + name + ", from 0; NaN: an id"
          : "of the most probable tokens, by rank: id, or p, its raw probability; here " + name;
  return {.name = std::string(named_prefix(table)) + name,
          .type = table == Table::token ? Type::float32 : Type::float64,
          .unit = "1",
          .doc = doc};
}

const std::vector<Attribute>& attributes() {
  using P = Provenance;
  auto of = [](auto P::*member) { return [member](P& p) -> Field { return &(p.*member); }; };
  static const std::vector<Attribute> list = {
      {"title", "the comment that opens the config: question, expectation, cost", of(&P::title)},
      {"software", "name and version of the writer", of(&P::software)},
      {"git_commit", "commit it was built from; it ends in -dirty where files were changed since",
       of(&P::git_commit)},
      {"config", "the config as it was given, overrides applied", of(&P::config)},
      {"host", "name of the machine", of(&P::host)},
      {"cpu", "its processor, and the instructions by which kernels are chosen", of(&P::cpu)},
      {"gpu", "its GPUs and their driver; empty without", of(&P::gpu)},
      {"device", "where the model ran", of(&P::device)},
      {"dtype", "its arithmetic", of(&P::dtype)},
      {"libraries",
       "names and versions; of torch models also by which instructions rows are multiplied, BLAS, "
       "its kernel, OpenMP, and for how many numbers of rows all threads were faster than one",
       of(&P::libraries)},
      {"threads", "threads of the model", of(&P::threads)},
      {"workers",
       "processes that decoded side by side, which the seconds of a sample feel; since 1.9",
       of(&P::workers)},
      {"seed", "seed of every random number", of(&P::seed)},
      {"started", "ISO 8601, UTC", of(&P::started)},
      {"ended", "ISO 8601, UTC", of(&P::ended)},
  };
  return list;
}

}  // namespace draftlab
