// A config, resolved: which plugins, with which options. What the loop is built from, and what a
// trace records.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/config/plugin.h"
#include "core/config/report_options.h"
#include "core/config/slurm_options.h"

namespace draftlab {

// Config section `run`: what is decoded how often, where.
struct RunOptions {
  std::int64_t seed = 1;
  std::int64_t limit = 0;    // prompts; 0: all of the task's
  std::int64_t first = 0;    // index of the first prompt
  std::int64_t samples = 1;  // repeats of a prompt
  std::int64_t batch = 1;
  Machine machine;
  void declare(OptionSet& set);
};

// Config section `trace`.
struct TraceOptions {
  std::string drafts = "all";  // none, span, all
  std::int64_t top_k = 0;      // tokens recorded of each drafted position
  std::int64_t unit_tokens = 50000;
  double unit_seconds = 30;
  void declare(OptionSet& set);
};

// Config section `certify`.
struct CertifyOptions {
  std::string expect = "lossless";
  double tolerance = 1e-12;              // total variation up to which "lossless" holds
  double visible = 1e-3;                 // total variation above which "lossy" holds
  std::int64_t most_outcomes = 2000000;  // about a minute
  bool merge = true;                     // merge equal states after each step
  std::int64_t worst_nfe = 0;            // claim on the worst case; 0: none
  double first_step = 0;  // claim on the expected number of tokens of the first step; 0: none
  // Of vector tokens, whose outcomes are sampled.
  std::int64_t samples = 200000;  // decodes
  double alpha = 0.01;  // probability that any of a lossless decoder's checks fails by chance
  std::string given = "tokens";  // what a token is drawn given: all tokens before it, or what was
                                 // committed before its step
  std::vector<double> mean;      // claim on the mean of the first committed coordinates
  double acceptance = 0;         // claim on the share of tested drafts that are accepted; 0: none
  void declare(OptionSet& set);
};

// Config section `distill`: how a teacher's answers are searched.
struct DistillOptions {
  std::int64_t beams = 4;
  double length_penalty = 0.6;
  void declare(OptionSet& set);
};

// The plugins of one arm, bound. Models are named: "" is the target, others ("draft", "judge") as
// `model.NAME = plugin`.
struct Composition {
  std::map<std::string, Bound<Model>> models;
  Bound<Frontier> frontier;
  Bound<Drafter> drafter;
  Bound<Verifier> verifier;
  Bound<Acceptance> acceptance;
  Bound<Router> router;
  std::optional<Bound<Estimator>> estimator;  // whose expectation routers read
  std::vector<std::pair<std::string, Bound<Estimator>>>
      attached;  // `estimator.NAME = plugin`: recorded, nothing more
  Bound<Unmasker> unmasker;
  Bound<Task> task;
  DecodeOptions decode;
  RunOptions run;
  TraceOptions trace;
  CertifyOptions certify;
  DistillOptions distill;
  ReportOptions report;
  SlurmOptions slurm;
  std::optional<Bound<Trainer>>
      trainer;  // of a config for `draftlab train`, which need name neither model nor task

  // Canonical text: every chosen plugin and every resolved option that can change a decoded token.
  // Two configs with equal text are one arm.
  std::string effective;
  std::string id;        // id_of(effective)
  std::string resolved;  // the same with every other option (threads, batch, limit, trace): can be
                         // run again as it stands
};

// Hash of an effective config, 12 hex digits.
std::string id_of(const std::string& effective);

// Binds a config without [sweep]; its [reference] is ignored. Everything wrong with it is added to
// `faults`: unknown sections, keys and plugins with file, line and suggestion; values out of range;
// a part whose questions the model cannot answer, in one sentence naming both sides. Sections of
// plugins that are not chosen are validated too; `warnings` says that they have no effect here
// (without_effect: in no cell of a sweep).
Composition compose(const Config& config, const Registries& registries, Faults& faults,
                    std::vector<std::string>* warnings = nullptr);

// The reference of a losslessness claim: the config with its [reference] overrides applied. Throws
// ConfigError without any.
Config reference_of(const Config& config);

// One cell of a sweep: a config without [sweep], and the axis values that distinguish it
// ("drafter=self decode.draft_length=5").
struct Cell {
  Config config;
  std::string id;  // of its composition
  std::string label;
  std::vector<std::pair<std::string, std::string>> axes;
};

// Expands [sweep]: a product of comma-separated axes; `zip = a, b` (and `zip.2 = c, d`) pairs axes
// of equal length; `baseline = key=value ...` names the cell others are compared with (returned
// first). Cells whose effective configs are equal collapse into one. An axis whose key was given on
// the command line is dropped. A config without [sweep] is one cell with an empty label. Every
// cell, and its reference where it has one, has been composed: what is wrong with any is in
// `faults`.
std::vector<Cell> expand(const Config& config, const Registries& registries, Faults& faults);

// The sections that have no effect in any cell nor in its reference, one sentence each.
std::vector<std::string> without_effect(const std::vector<Cell>& cells,
                                        const Registries& registries);

}  // namespace draftlab
