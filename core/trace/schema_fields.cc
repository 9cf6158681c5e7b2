// The columns of each table: the field of a row that they record, their unit, range and meaning.
#include <limits>

#include "core/trace/schema.h"

namespace draftlab {
namespace {

// The kinds whose counts are recorded; the judge is no part of decoding.
constexpr Kind kRecorded[] = {Kind::prefill, Kind::draft, Kind::verify, Kind::commit, Kind::aux};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
constexpr Type type_of();
template <>
constexpr Type type_of<std::int32_t>() {
  return Type::int32;
}
template <>
constexpr Type type_of<std::int64_t>() {
  return Type::int64;
}
template <>
constexpr Type type_of<double>() {
  return Type::float64;
}
template <>
constexpr Type type_of<std::string>() {
  return Type::text;
}

template <class Row, class T>
Column<Row> column(T Row::*member, const char* name, const char* unit, const char* doc) {
  return {{.name = name, .type = type_of<T>(), .unit = unit, .doc = doc},
          [member](Row& row) -> Field { return &(row.*member); }};
}

template <class Row>
void add_counts(std::vector<Column<Row>>& columns, Counts Row::*member, const std::string& prefix,
                const std::string& whose) {
  struct Part {
    std::int64_t Count::*member;
    const char *name, *unit, *doc;
  };
  const Part parts[] = {{&Count::calls, "nfe", "1", "function evaluations"},
                        {&Count::rows, "rows", "1", "batch rows"},
                        {&Count::positions, "positions", "1", "token positions computed"},
                        {&Count::ns, "ns", "ns", "wall time inside the model"}};
  for (const Part& part : parts) {
    for (Kind kind : kRecorded) {
      const std::string word(draftlab::name(kind));
      auto field = [member, of = part.member, kind](Row& row) -> Field {
        return &((row.*member)[kind].*of);
      };
      ColumnInfo info{.name = prefix + part.name + "_" + word,
                      .type = Type::int64,
                      .unit = part.unit,
                      .doc = whose + ": " + part.doc + " of kind `" + word + "`",
                      .low = 0};
      columns.push_back({std::move(info), std::move(field)});
    }
  }
  columns.push_back({{.name = prefix + "layers",
                      .type = Type::int64,
                      .unit = "1",
                      .doc = whose + ": layers that its forwards went through, in sum; 0: not said",
                      .low = 0,
                      .since = 7},
                     [member](Row& row) -> Field { return &(row.*member).layers; }});
  columns.push_back({{.name = prefix + "kept_bytes",
                      .type = Type::int64,
                      .unit = "byte",
                      .doc = whose + ": states kept so that drafts can be taken back, in sum",
                      .low = 0,
                      .since = 8},
                     [member](Row& row) -> Field { return &(row.*member).kept_bytes; }});
  columns.push_back({{.name = prefix + "rerun",
                      .type = Type::int64,
                      .unit = "1",
                      .doc = whose + ": token positions computed again to take drafts back",
                      .low = 0,
                      .since = 8},
                     [member](Row& row) -> Field { return &(row.*member).rerun; }});
}

template <class Enum>
std::vector<std::pair<int, std::string>> meanings(Enum last) {
  std::vector<std::pair<int, std::string>> flags;
  for (int i = 0; i <= static_cast<int>(last); ++i)
    flags.emplace_back(i, std::string(name(static_cast<Enum>(i))));
  return flags;
}

const std::vector<std::pair<int, std::string>> kYesNo = {{0, "no"}, {1, "yes"}};

template <class Row>
std::vector<Column<Row>> named(Table table, std::vector<Column<Row>> columns) {
  for (Column<Row>& c : columns) c.info.name = std::string(name(table)) + "_" + c.info.name;
  return columns;
}

}  // namespace

template <>
const std::vector<Column<RunRow>>& fields<RunRow>() {
  using R = RunRow;
  static const auto columns = named<R>(
      Table::run,
      {
          column(&R::id, "id", "", "hash of the resolved config, 12 hexadecimal digits"),
          column(&R::arm, "arm", "",
                 "what distinguishes this arm from the others; empty when there is one"),
          column(&R::config, "config", "", "the resolved config; can be run again as it stands"),
          column(&R::model_family, "model_family", "", "kind of target model"),
          column(&R::checkpoint, "checkpoint", "",
                 "folder of the target's weights; empty for models that are made, not loaded"),
          column(&R::checkpoint_digest, "checkpoint_digest", "", "digest of the weights"),
          column(&R::data_digest, "data_digest", "", "digest of the task's data"),
          column(&R::vocabulary, "vocabulary", "1", "token ids of the target")
              .in(0, kInfinity)
              .since(1),
          column(&R::parameters, "parameters", "1", "parameters of the target; 0 when unknown")
              .in(0, kInfinity)
              .since(1),
          column(&R::original_parameters, "original_parameters", "1",
                 "parameters of the checkpoint that the target was widened from; 0 when it was not")
              .in(0, kInfinity)
              .since(4),
          column(&R::original_digest, "original_digest", "",
                 "digest of the checkpoint that the target was widened from; empty when it was not")
              .since(4),
          column(&R::plugins, "plugins", "",
                 "digests (plugin_digest) of the files whose parts it has, blanks between them")
              .since(6),
          column(&R::label, "label", "",
                 "what the config calls the arm; empty where axes alone tell it from the others")
              .since(7),
          column(&R::sequential, "sequential", "1",
                 "it draws one token of the target a forward: others are compared with it")
              .flags(kYesNo)
              .since(7),
          column(&R::judges_paths, "judges_paths", "1",
                 "draft_accept is of a draft and all before it, not of a draft given those")
              .flags(kYesNo)
              .since(7),
          column(&R::ratio_test, "ratio_test", "1",
                 "each draft is judged by the exact ratio test, given those before it")
              .flags(kYesNo)
              .since(7),
          column(&R::tokenizer_digest, "tokenizer_digest", "",
                 "digest of the tokenizer's files; empty where there is none")
              .since(8),
          column(&R::rollback, "rollback", "",
                 "how the target's memory goes back over rejected drafts: cut, snapshot, replay or "
                 "none")
              .since(8),
      });
  return columns;
}

template <>
const std::vector<Column<SampleRow>>& fields<SampleRow>() {
  using R = SampleRow;
  static const auto columns = [] {
    std::vector<Column<R>> list = {
        column(&R::run, "run_index", "1", "row of the run table: the arm")
            .in(0, kInfinity)
            .leads_to(Table::run),
        column(&R::prompt_index, "prompt_index", "1", "index of the prompt in the task")
            .in(0, kInfinity),
        column(&R::sample_index, "sample_index", "1", "repeat of the prompt").in(0, kInfinity),
        column(&R::prompt_id, "prompt_id", "", "stable name of the prompt"),
        column(&R::text, "text", "", "the decoded text"),
        column(&R::reference, "reference", "", "the text that stood there; empty when unknown"),
        column(&R::status, "status", "", "`done`"),
        column(&R::length, "length", "1", "positions of the canvas").in(0, kInfinity),
        column(&R::prompt_tokens, "prompt_tokens", "1", "positions given").in(0, kInfinity),
        column(&R::generated, "generated", "1", "positions committed").in(0, kInfinity),
        column(&R::valid, "valid", "1", "generated tokens before the first end token")
            .in(0, kInfinity),
        column(&R::seconds, "seconds", "s",
               "wall time of decoding, the opening of caches included; NaN in a batch")
            .in(0, kInfinity),
        column(&R::own_seconds, "own_seconds", "s", "of which outside the models"),
        column(&R::trace_seconds, "trace_seconds", "s", "of which recording").in(0, kInfinity),
        column(&R::ar_local, "ar_local", "1", "mean of token_ar_local").in(0, 1),
        column(&R::ar_global, "ar_global", "1", "mean of token_ar_global").in(0, 1),
        column(&R::entropy_bits, "entropy_bits", "bit",
               "Shannon entropy of the token frequencies of the text")
            .in(0, kInfinity),
        column(&R::judge_nll, "judge_nll", "nat",
               "negative log-likelihood of the text under the judge, summed"),
        column(&R::judge_tokens, "judge_tokens", "1", "tokens that the judge scored")
            .in(0, kInfinity),
    };
    add_counts(list, &R::counts, "", "target");
    add_counts(list, &R::drafter_counts, "drafter_", "draft model");
    return named<R>(Table::sample, std::move(list));
  }();
  return columns;
}

template <>
const std::vector<Column<StepRow>>& fields<StepRow>() {
  using R = StepRow;
  static const auto columns = [] {
    std::vector<Column<R>> list = {
        column(&R::step, "step", "1", "number of the step in its sample").in(0, kInfinity),
        column(&R::block, "block", "1", "index of the block; 0 where there are none")
            .in(0, kInfinity),
        column(&R::masked, "masked", "1", "open positions before the step").in(0, kInfinity),
        column(&R::span, "span", "1", "leading positions that a chain may judge").in(0, kInfinity),
        column(&R::drafted, "drafted", "1", "tokens drafted").in(0, kInfinity),
        column(&R::exact, "exact", "1",
               "leading drafts that are the target's own draws and need no test")
            .in(0, kInfinity),
        column(&R::verified, "verified", "1", "the verifier judged, and its verdict was committed")
            .flags(kYesNo),
        column(&R::routed, "routed", "1",
               "what the router decided; it may differ from `verified` where a shadow verifies at "
               "every step")
            .flags({{-1, "nothing_to_decide"}, {0, "no"}, {1, "yes"}})
            .since(1),
        column(&R::accepted, "accepted", "1", "accepted prefix, without the replacement token")
            .in(0, kInfinity),
        column(&R::committed, "committed", "1", "tokens committed, with it").in(0, kInfinity),
        column(&R::stop, "stop", "1", "why the step committed no more")
            .flags(meanings(Stop::unverified)),
        column(
            &R::score, "score", "1",
            "the router's score, cut to this range: 1e9 and -1e9 stand for what was never tried, "
            "as an arm of a bandit; NaN where it computes none")
            .in(kLowestScore, kHighestScore),
        column(&R::expected, "expected", "1",
               "accepted prefix that the estimator expected; NaN without one"),
        column(&R::propensity, "propensity", "1", "probability with which this route was taken")
            .in(0, 1),
        column(&R::preview, "preview", "1",
               "N_hi: drafts that the unmasker would have committed unverified, as the router and "
               "estimators saw it")
            .in(0, kInfinity)
            .since(7),
        column(&R::ns, "ns", "ns", "wall time of the whole step").in(0, kInfinity),
    };
    add_counts(list, &R::counts, "", "target");
    add_counts(list, &R::drafter_counts, "drafter_", "draft model");
    return named<R>(Table::step, std::move(list));
  }();
  return columns;
}

template <>
const std::vector<Column<TokenRow>>& fields<TokenRow>() {
  using R = TokenRow;
  static const auto columns = named<R>(
      Table::token,
      {
          column(&R::position, "position", "1", "place on the canvas").in(0, kInfinity),
          column(&R::token, "id", "1", "token id").in(0, kInfinity),
          column(&R::rank, "rank", "1", "order of commitment within the step").in(0, kInfinity),
          column(&R::source, "source", "1", "where the token came from")
              .flags(meanings(Source::taken_back)),
          column(&R::p, "p", "1", "probability under the target, as drawn").in(0, 1).single(),
          column(&R::q, "q", "1", "probability under the drafter, as drawn").in(0, 1).single(),
          column(&R::confidence, "confidence", "1", "the drafter's raw probability of its token")
              .in(0, 1)
              .coarse(),
          column(&R::entropy, "entropy", "nat", "entropy of the drafter's raw distribution")
              .in(0, kInfinity)
              .coarse(),
          column(&R::margin, "margin", "1", "its largest minus second largest probability")
              .in(0, 1)
              .coarse(),
          column(&R::ar_local, "ar_local", "1",
                 "local AR-ness at k = 2 (DiffuCoder), over ranks of the generated positions")
              .flags(kYesNo),
          column(&R::ar_global, "ar_global", "1",
                 "global AR-ness at k = 2: among the two leftmost open positions")
              .flags(kYesNo),
      });
  return columns;
}

template <>
const std::vector<Column<DraftRow>>& fields<DraftRow>() {
  using R = DraftRow;
  static const auto columns = named<R>(
      Table::draft,
      {
          column(&R::position, "position", "1", "place on the canvas").in(0, kInfinity),
          column(&R::depth, "depth", "1", "0 for the first draft of the step").in(0, kInfinity),
          column(&R::token, "id", "1", "token id").in(0, kInfinity),
          column(&R::p, "p", "1", "probability under the target, as drawn; NaN: not judged")
              .in(0, 1)
              .single(),
          column(&R::q, "q", "1", "probability under the distribution it was drawn from")
              .in(0, 1)
              .single(),
          column(&R::accept, "accept", "1",
                 "acceptance probability, given the drafts before it (run_judges_paths: of it and "
                 "all before "
                 "it); NaN: not measured. A shadow measures it past the first rejection too")
              .in(0, 1)
              .single(),
          column(&R::accepted, "accepted", "1", "what became of it")
              .flags({{-1, "not_judged"}, {0, "no"}, {1, "yes"}}),
          column(&R::confidence, "confidence", "1", "the drafter's raw probability of the token")
              .in(0, 1)
              .coarse(),
          column(&R::margin, "margin", "1", "largest minus second largest raw probability")
              .in(0, 1)
              .coarse(),
          column(&R::entropy, "entropy", "nat", "entropy of the raw distribution")
              .in(0, kInfinity)
              .coarse(),
          column(&R::renyi2, "renyi2", "1", "sum of the squares of the raw distribution")
              .in(0, 1)
              .coarse(),
          column(&R::log_p, "log_p", "nat",
                 "of a vector token: log density, under the target, of what is judged; NaN: an id, "
                 "or not judged")
              .single()
              .since(3),
          column(&R::log_q, "log_q", "nat", "likewise, under what it was drawn from")
              .single()
              .since(3),
          column(&R::proposals, "proposals", "1",
                 "of a rejected vector token: draws of the target until one replaced it")
              .in(0, kInfinity)
              .since(3),
          column(&R::capped, "capped", "1",
                 "the last of them was taken because there were too many")
              .flags(kYesNo)
              .since(3),
          column(&R::limit, "limit", "1",
                 "at the first draft of each node: the most that any rule can accept of the node's "
                 "drafts, given their laws and the target's (trace.limits)")
              .in(0, 1)
              .single()
              .since(4),
          column(&R::shown, "shown", "1",
                 "what the masked position showed to a model that reads a random canvas; -1: other "
                 "models")
              .in(-1, kInfinity)
              .since(10),
      });
  return columns;
}

template <>
const std::vector<Column<PluginRow>>& fields<PluginRow>() {
  using R = PluginRow;
  static const auto columns = named<R>(
      Table::plugin,
      {
          column(&R::digest, "digest", "",
                 "SHA-256 of its bytes, 64 hexadecimal digits; of an address: of what the process "
                 "said of itself"),
          column(&R::name, "name", "", "its key in [plugins]"),
          column(&R::path, "path", "", "where it lay, or the address of a process"),
          column(&R::source, "source", "", "the text of a Python file; empty for a library"),
      });
  return columns;
}

template <>
const std::vector<Column<SettingRow>>& fields<SettingRow>() {
  using R = SettingRow;
  static const auto columns = named<R>(
      Table::setting,
      {
          column(&R::run, "run_index", "1", "row of the run table: the arm")
              .in(0, kInfinity)
              .leads_to(Table::run),
          column(&R::key, "key", "", "the option as configs name it, or the kind of the part"),
          column(&R::value, "value", "", "its value, or the name of the plugin"),
          column(&R::part, "part", "1", "it names a part").flags(kYesNo),
      });
  return columns;
}

template <>
const std::vector<Column<AxisRow>>& fields<AxisRow>() {
  using R = AxisRow;
  static const auto columns = named<R>(
      Table::axis, {
                       column(&R::run, "run_index", "1", "row of the run table: the arm")
                           .in(0, kInfinity)
                           .leads_to(Table::run),
                       column(&R::key, "key", "", "the option or the kind of part that varies"),
                       column(&R::value, "value", "", "the arm's value of it"),
                   });
  return columns;
}

template <>
const std::vector<Column<CellRow>>& fields<CellRow>() {
  using R = CellRow;
  static const auto columns = named<R>(
      Table::cell,
      {
          column(
              &R::id, "id", "",
              "hash of its resolved config, and one of its checkpoint and data where it has any"),
          column(&R::arm, "arm", "", "what distinguishes it from the others"),
          column(&R::status, "status", "",
                 "`done`, `failed`, `quarantined` (failed three times), `running` or `missing`"),
          column(&R::host, "host", "", "machine of the last attempt"),
          column(&R::started, "started", "", "of the last attempt; ISO 8601, UTC"),
          column(&R::seconds, "seconds", "s",
                 "wall time of all attempts that ended, loading included")
              .in(0, kInfinity),
          column(&R::attempts, "attempts", "1", "how often it was begun").in(0, kInfinity),
          column(&R::exit_status, "exit_status", "1", "of the last attempt; 0 when it is done"),
          column(&R::signal, "signal", "1", "that ended the last attempt; 0: none")
              .in(0, kInfinity),
          column(&R::reason, "reason", "", "why the last attempt failed; empty when it is done"),
          column(&R::run, "run_index", "1", "row of the run table; -1: no sample of it is here")
              .in(-1, kInfinity)
              .leads_to(Table::run),
          column(&R::samples, "samples", "1", "its samples that are here").in(0, kInfinity),
      });
  return columns;
}

template <>
const std::vector<Column<PieceRow>>& fields<PieceRow>() {
  using R = PieceRow;
  static const auto columns = named<R>(
      Table::piece,
      {
          column(&R::run, "run_index", "1", "row of the run table: the first arm of its checkpoint")
              .in(0, kInfinity)
              .leads_to(Table::run),
          column(&R::token, "id", "1", "token id").in(0, kInfinity),
          column(&R::text, "text", "", "how the tokenizer of that checkpoint spells it"),
      });
  return columns;
}

template <>
const std::vector<Column<GivenRow>>& fields<GivenRow>() {
  using R = GivenRow;
  static const auto columns = named<R>(
      Table::given,
      {
          column(&R::run, "run_index", "1",
                 "row of the run table: the first arm that has these prompts")
              .in(0, kInfinity)
              .leads_to(Table::run),
          column(&R::prompt, "prompt_index", "1", "index of the prompt in the task")
              .in(0, kInfinity),
          column(&R::kind, "kind", "1", "what the token is of its prompt")
              .flags({{0, "given"}, {1, "end"}, {2, "choice"}}),
          column(&R::list, "list", "1", "of a choice: which of the texts; else 0").in(0, kInfinity),
          column(&R::position, "position", "1",
                 "place on the canvas; of an end or a choice: place in its list")
              .in(0, kInfinity),
          column(&R::token, "id", "1", "token id").in(0, kInfinity),
      });
  return columns;
}

template <>
const std::vector<Column<CurveRow>>& fields<CurveRow>() {
  using R = CurveRow;
  static const auto columns = named<R>(
      Table::curve,
      {
          column(&R::step, "step", "1", "steps of the optimiser so far").in(0, kInfinity),
          column(&R::seconds, "seconds", "s", "wall time of training so far").in(0, kInfinity),
          column(&R::loss, "loss", "nat",
                 "training loss a target token, mean since the row before"),
          column(&R::learning_rate, "learning_rate", "1", "learning rate").in(0, kInfinity),
          column(&R::grad_norm, "grad_norm", "1", "norm of the gradient before clipping")
              .in(0, kInfinity),
          column(&R::mask_rate, "mask_rate", "1", "mean share of masked positions").in(0, 1),
          column(&R::tokens_per_second, "tokens_per_second", "s-1", "tokens of the batch, a second")
              .in(0, kInfinity),
      });
  return columns;
}

template <>
const std::vector<Column<ValidationRow>>& fields<ValidationRow>() {
  using R = ValidationRow;
  static const auto columns = named<R>(
      Table::validation,
      {
          column(&R::step, "step", "1", "steps of the optimiser so far").in(0, kInfinity),
          column(&R::seconds, "seconds", "s", "wall time of training so far").in(0, kInfinity),
          column(&R::loss, "loss", "nat", "validation loss a target token"),
          column(&R::perplexity, "perplexity", "1", "generative perplexity under the judge")
              .in(0, kInfinity),
          column(&R::entropy_bits, "entropy_bits", "bit",
                 "Shannon entropy of the token frequencies of the generated text")
              .in(0, kInfinity),
          column(&R::nfe, "nfe", "1", "function evaluations a sample, mean").in(0, kInfinity),
          column(&R::nfe_per_token, "nfe_per_token", "1", "function evaluations a generated token")
              .in(0, kInfinity),
          column(&R::loss_sequential, "loss_sequential", "nat",
                 "validation loss a target token, one token at a time")
              .since(1),
          column(&R::accuracy, "accuracy", "1",
                 "share of problems solved, one token at a time, greedily")
              .in(0, 1)
              .since(1),
      });
  return columns;
}

}  // namespace draftlab
