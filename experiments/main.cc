// The program: it takes the command line apart, loads plugins, runs one command, and turns errors
// into exit statuses.
#include <malloc.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <iostream>

#include "core/config/plugin.h"
#include "core/trace/provenance.h"
#include "experiments/audit.h"
#include "experiments/bench/bench.h"
#include "experiments/certify/certify.h"
#include "experiments/check.h"
#include "experiments/check_trace.h"
#include "experiments/describe.h"
#include "experiments/distill.h"
#include "experiments/doctor.h"
#include "experiments/export.h"
#include "experiments/golden.h"
#include "experiments/inspect.h"
#include "experiments/list.h"
#include "experiments/plot.h"
#include "experiments/replay.h"
#include "experiments/report.h"
#include "experiments/run.h"
#include "experiments/sections.h"
#include "experiments/sweep/sweep.h"
#include "experiments/train.h"
#include "plugins/builtin.h"
#include "plugins/remote/python_plugin.h"

namespace draftlab {
namespace {

namespace po = boost::program_options;

struct Flag {
  std::string name, help;
  bool is_switch = false;
};

struct Command {
  std::string name, arguments, summary;
  // The number of positional arguments.
  std::size_t fewest, most;
  std::vector<Flag> flags;
  // Whether the command takes a config, and so the overrides of one.
  bool takes_config;
  int (*function)(const CommandLine&, const Registries&);
};

constexpr std::size_t kAnyNumber = 1000000;

int bench_any(const CommandLine& line, const Registries& registries) {
  return line.paths == std::vector<std::string>{"trace"} ? bench_trace(line)
                                                         : bench(line, registries);
}

const std::vector<Command>& commands() {
  static const Flag kResume = {"resume", "continue: decode or train only what is not there yet",
                               true};
  static const std::vector<Command> all = {
      {"run",
       "CONFIG",
       "decode every cell of a config, write the trace, print the table",
       1,
       1,
       {{"out", "trace to write (default: out/CONFIG.h5)"}, kResume},
       true,
       run},
      {"sweep",
       "CONFIG|DIR",
       "decode every cell of a config, each on its own: in several processes, or on a cluster",
       1,
       1,
       {{"out", "folder of the sweep (default: out/CONFIG)"},
        {"jobs", "worker processes (default 1)"},
        {"dry-run", "print the table of cells and do nothing", true},
        {"estimate", "decode a few steps, print core-hours, walltime and memory", true},
        {"resume", "do what is missing, with the config as it is now (the default)", true},
        {"replace", "another config takes over the folder: remove what only the old one decoded",
         true},
        {"worker", "decode one cell of DIR after another until none is left", true},
        {"cells", "A:B: only these cells, counted from 0"},
        {"status", "print what became of the cells of DIR", true},
        {"cancel", "stop workers and jobs of DIR", true},
        {"retry", "forget failures of DIR, then go on", true},
        {"gather", "merge what is done into DIR/sweep.h5", true},
        {"requeue",
         "with --worker in a Slurm job: wait for cells that others hold, and requeue the job when "
         "it is stopped",
         true},
        {"report", "a worker's: descriptor to report to"},
        {"round", "a worker's: name of the run that started it"}},
       true,
       sweep},
      {"certify",
       "CONFIG...",
       "the exact output distribution against its reference, expected and worst-case cost",
       1,
       kAnyNumber,
       {},
       true,
       certify},
      {"audit",
       "FILE.py...",
       "is somebody else's sampler exact? its law, enumerated or sampled (docs/AUDIT.md)",
       0,
       kAnyNumber,
       {{"log", "decisions that an engine logged, FILE.jsonl, to check instead"},
        {"battery", "quick (default): under 10 s a sampler; full: under 5 minutes"},
        {"format", "text (default) or json"},
        {"sampler", "only the sampler of this name"},
        {"random-seed", "of what can only be sampled (default 0)"},
        {"hang", "seconds after which a call that has not returned is ended (default 5)"}},
       false,
       audit},
      {"train",
       "CONFIG",
       "make a checkpoint or a tokenizer",
       1,
       1,
       {{"out", "folder of the checkpoint"}, kResume},
       true,
       train},
      {"distill",
       "CONFIG",
       "a teacher's answers to a task's prompts, by beam search, as parallel text to train on",
       1,
       1,
       {{"out", "folder of source.txt and target.txt"}},
       true,
       distill},
      {"list", "[KIND]", "what there is", 0, 1, {}, false, list},
      {"describe",
       "KIND.NAME...",
       "options, defaults, ranges, source",
       1,
       kAnyNumber,
       {},
       false,
       describe},
      {"check",
       "CONFIG...",
       "validate a config and show its cells, without running it",
       1,
       kAnyNumber,
       {},
       true,
       check},
      {"report",
       "PATH...",
       "tables of traces, or of all traces of a folder: intervals, tests, several formats",
       1,
       kAnyNumber,
       {{"by", "config keys that group the arms, comma separated (default: every arm is a row)"},
        {"metric", "what to show, comma separated; `help` lists all"},
        {"pivot", "a key of --by whose values become columns"},
        {"speedup", "with --pivot: nfe, seconds, ...: its factor, in brackets behind each value"},
        {"format", "markdown (default), csv, latex or json"},
        {"baseline", "key=value of the group that others are compared with"},
        {"choose", "a metric: report of each group the arm that is best in it ..."},
        {"tune", "... on these traces, comma separated, or on the first N prompts"},
        {"tree", "the best tree of so many drafts, from how often each sibling was accepted"},
        {"levels", "the most levels of that tree; without it as many as drafts"},
        {"dialect", "acceptance in the words of vllm, spec-bench, sglang, or own"},
        {"cost",
         "forwards, rows, positions and times: when does a step pay, and what would it cost "
         "elsewhere",
         true},
        {"bandwidth", "with --cost: of a machine, GB/s"},
        {"flops", "with --cost: of that machine, TFLOP/s"},
        {"parameters", "with --cost: of the model, where the traces do not say; 25e6"},
        {"out", "file to write instead of standard output"},
        {"html", "one self-contained page to write: table, trade-offs and trajectories"}},
       false,
       report},
      {"replay",
       "FILE...",
       "other estimators and routers on stored traces; configs (*.ini) may name them",
       1,
       kAnyNumber,
       {{"limits",
         "instead: the step reduction that self-drafting could reach, from a stepwise trace (SSD, "
         "Table 2)",
         true},
        {"reliability", "what each estimator said of drafts, and what they were", true},
        {"verify-cost", "forwards of a verified step (default 2)"},
        {"skip-cost", "forwards of any other (default 1)"},
        {"vocabulary", "tokens that the model knows, where the trace does not say"}},
       true,
       replay},
      {"export",
       "FILE",
       "a trace as text files, or its images for other programs",
       1,
       1,
       {{"csv", "folder for run.csv, sample.csv, step.csv, token.csv, draft.csv"},
        {"decisions", "file for what was drafted and decided, a JSON line a step (docs/AUDIT.md)"},
        {"images",
         "folder for PNG files, tokens.npy and labels.npy of each arm, and of as many held-out "
         "images"}},
       false,
       export_trace},
      {"inspect",
       "FILE",
       "one decoded sequence, step by step",
       1,
       1,
       {{"sample", "row of the sample (default 0)"},
        {"run", "only samples of this arm"},
        {"steps", "A:B, or the first N"},
        {"ar",
         "all samples instead: AR-ness, and the course of confidence, entropy and tokens a step",
         true},
        {"png",
         "file to write instead: a sheet of decoded images, an arm a row, accepted and replaced "
         "tokens outlined; --sample is the first prompt"},
        {"images", "with --png: how many of each arm"},
        {"plain", "with --png: no outlines", true}},
       false,
       inspect},
      {"plot",
       "PATH...",
       "figures of traces, sweeps and trainings, drawn by gnuplot",
       1,
       kAnyNumber,
       {{"figure",
         "pareto, acceptance, progress, ar, calibration, router, cost, heat, axis, training, or "
         "all (default)"},
        {"out", "folder for pictures, data and scripts (default: PATH-figures)"},
        {"format", "svg, png, pdf, comma separated (default: all three)"},
        {"width", "single or double (default): a column of a page, or both"},
        {"series", "config keys whose values are colours, KEY,...; `arm` is an arm's label"},
        {"along", "config key whose values are markers, or the axis, of an arm's series"},
        {"score", "metric upwards in pareto and axis, in the cells of heat"},
        {"speed", "metric across in pareto (default nfe)"},
        {"axes", "KEY,KEY of heat; KEY of axis"},
        {"by", "config keys whose values make a series, KEY,..."},
        {"baseline", "the arm that others are compared with, \"key=value ...\""}},
       false,
       plot},
      {"check-trace",
       "FILE...",
       "validate traces against their schema",
       0,
       kAnyNumber,
       {{"schema", "print the tables of docs/TRACE_FORMAT.md", true}},
       false,
       check_trace},
      {"golden",
       "[FOLDER]",
       "decode the prompts of tests/golden and compare their trajectories with the stored texts",
       0,
       1,
       {{"write", "store what is decoded now", true}},
       false,
       golden},
      {"doctor",
       "",
       "what on this machine makes experiments slow or wrong",
       0,
       0,
       {},
       false,
       doctor},
      {"bench",
       "[as-arm | batch CONFIG | model FOLDER|SHAPE | checkpoint SHAPE FOLDER | trace]",
       "the benchmarks: cached rows; tokens per second against batch size; a model's passes "
       "against what the machine can do; random weights in a published shape; writing and merging "
       "a trace",
       0,
       kAnyNumber,
       {{"out", "file for the numbers"}},
       true,
       bench_any},
  };
  return all;
}

// A flag without a dot that sets a config key.
struct Alias {
  std::string flag, key;
  // The value of a switch; other flags take theirs from the command line.
  std::string value = "";
};
const std::vector<Alias> kAliases = {
    {"device", "run.device"},
    {"dtype", "run.dtype"},
    {"threads", "run.threads"},
    {"batch", "run.batch"},
    {"seed", "run.seed"},
    {"limit", "run.limit"},
    {"arm", "arm"},
    {"fixed-shape", "run.fixed_shape", "true"},
};

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  Registries().each([&](const auto& registry) { names.push_back(registry.kind()); });
  return names;
}

void print_help() {
  std::cout << "draftlab " << version()
            << ": a laboratory for parallel decoding\n\nusage: draftlab COMMAND ...\n\n";
  for (const Command& command : commands()) {
    const std::string usage =
        command.name + (command.arguments.empty() ? "" : " " + command.arguments);
    std::cout << "  " << usage << std::string(usage.size() < 24 ? 26 - usage.size() : 2, ' ')
              << command.summary << "\n";
  }
  std::cout << "\ndraftlab COMMAND --help says more. --plugin libmine.so loads plugins of your "
               "own, before any command.\n"
               "Begin with: draftlab run configs/quickstart.ini\n";
}

void print_help(const Command& command) {
  const auto row = [](const std::string& flag, const std::string& help) {
    std::cout << "  --" << flag << std::string(flag.size() < 20 ? 20 - flag.size() : 2, ' ') << help
              << "\n";
  };
  std::cout << "usage: draftlab " << command.name << " " << command.arguments << "\n\n"
            << command.summary << "\n\n";
  for (const Flag& flag : command.flags)
    row(flag.name + (flag.is_switch ? "" : " VALUE"), flag.help);
  if (command.takes_config) {
    for (const Alias& alias : kAliases)
      row(alias.flag + (alias.value.empty() ? " VALUE" : ""), "sets " + alias.key);
    row("SECTION.KEY VALUE",
        "sets any key of the config, and beats the file: --drafter ngram --decode.draft_length 3");
  }
  if (command.name == "sweep")
    row("slurm [SBATCH OPTION]...", "submit to Slurm; comes last, what follows goes to sbatch");
  row("plugin FILE", "load plugins from a shared library or a Python file; repeatable");
  row("python PATH", "interpreter for Python files (default: DRAFTLAB_PYTHON, or python3)");
  row("python-timeout SECONDS", "how long a call of one may take (default 60)");
  std::cout << "\ndraftlab list shows the parts, draftlab describe KIND.NAME their options.\n";
}

const Command& find_command(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == name) return command;
    names.push_back(command.name);
  }
  const std::string near = nearest(name, names);
  const std::string hint = near.empty() ? "see draftlab --help" : "did you mean '" + near + "'?";
  throw UsageError("there is no command '" + name + "'; " + hint);
}

// Takes `--router.hysteresis.on 2`, `--drafter=ngram` and the aliases out of `words`. Every key
// takes exactly one value, which may begin with a dash. The words that are left are the command's
// own.
std::vector<std::pair<std::string, std::string>> take_overrides(std::vector<std::string>& words) {
  const std::vector<std::string> parts = kinds();
  std::vector<std::pair<std::string, std::string>> overrides;
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    std::string key = word.compare(0, 2, "--") == 0
                          ? word.substr(2, equals == std::string::npos ? equals : equals - 2)
                          : "";
    const auto alias = std::find_if(kAliases.begin(), kAliases.end(),
                                    [&](const Alias& a) { return a.flag == key; });
    if (alias != kAliases.end()) key = alias->key;
    if (alias == kAliases.end() && key.find('.') == std::string::npos &&
        std::count(parts.begin(), parts.end(), key) == 0) {
      rest.push_back(word);
      continue;
    }
    if (alias != kAliases.end() && !alias->value.empty() && equals == std::string::npos) {
      overrides.emplace_back(key, alias->value);
      continue;
    }
    if (equals == std::string::npos && i + 1 == words.size())
      throw UsageError("--" + key + " needs a value");
    overrides.emplace_back(key, equals == std::string::npos ? words[++i] : word.substr(equals + 1));
  }
  words = rest;
  return overrides;
}

CommandLine parse(const Command& command, std::vector<std::string> words,
                  std::vector<std::string>& plugins, PythonOptions& python) {
  CommandLine line;
  line.command = command.name;
  const auto slurm = std::find(words.begin(), words.end(), "--slurm");
  if (command.name == "sweep" && slurm != words.end()) {
    line.flags["slurm"] = "true";
    line.passed.assign(slurm + 1, words.end());
    words.erase(slurm, words.end());
  }
  line.overrides = take_overrides(words);
  if (!command.takes_config && !line.overrides.empty()) {
    throw UsageError("draftlab " + command.name + " reads no config, so --" +
                     line.overrides[0].first + " means nothing to it");
  }
  po::options_description flags;
  flags.add_options()("help,h", "")("plugin",
                                    po::value<std::vector<std::string>>(&plugins)->composing())(
      "python", po::value<std::string>(&python.interpreter))("python-timeout",
                                                             po::value<double>(&python.timeout))(
      "paths", po::value<std::vector<std::string>>(&line.paths));
  for (const Flag& flag : command.flags) {
    if (flag.is_switch)
      flags.add_options()(flag.name.c_str(), "");
    else
      flags.add_options()(flag.name.c_str(), po::value<std::string>());
  }
  po::positional_options_description positional;
  positional.add("paths", -1);
  po::variables_map values;
  try {
    const int style =
        po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::store(
        po::command_line_parser(words).options(flags).positional(positional).style(style).run(),
        values);
  } catch (const po::unknown_option& unknown) {
    std::vector<std::string> known = {"help", "plugin", "python", "python-timeout"};
    for (const Flag& flag : command.flags) known.push_back(flag.name);
    for (const Alias& alias : kAliases)
      if (command.takes_config) known.push_back(alias.flag);
    for (const std::string& kind : kinds())
      if (command.takes_config) known.push_back(kind);
    std::string word = unknown.get_option_name();
    word.erase(0, word.find_first_not_of('-'));
    const std::string near = nearest(word, known);
    throw UsageError("draftlab " + command.name + " has no flag --" + word + "; " +
                     (near.empty() ? "see draftlab " + command.name + " --help"
                                   : "did you mean --" + near + "?"));
  } catch (const po::error& error) {
    throw UsageError("draftlab " + command.name + ": " + error.what());
  }
  po::notify(values);
  if (values.count("help")) line.flags["help"] = "true";
  for (const Flag& flag : command.flags) {
    if (values.count(flag.name))
      line.flags[flag.name] = flag.is_switch ? "true" : values[flag.name].as<std::string>();
  }
  if (!line.has("help") &&
      (line.paths.size() < command.fewest || line.paths.size() > command.most)) {
    throw UsageError("usage: draftlab " + command.name +
                     (command.arguments.empty() ? "" : " " + command.arguments));
  }
  return line;
}

// Libraries and Python files, in the order in which they were named.
void load_plugins(const std::vector<std::string>& plugins, PythonOptions options,
                  Registries& registries) {
  complete(options);
  for (const std::string& plugin : plugins) {
    if (is_remote_plugin(plugin))
      load_remote_plugin(plugin, options, registries);
    else
      load_plugin(plugin, registries);
  }
}

int main_of(std::vector<std::string> words) {
  // --plugin may stand before the command.
  std::vector<std::string> plugins;
  while (words.size() >= 2 && words[0] == "--plugin") {
    plugins.push_back(words[1]);
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    if (words.size() > 1 && words[0] == "help")
      print_help(find_command(words[1]));
    else
      print_help();
    return words.empty() ? 64 : 0;
  }
  if (words[0] == "--version") {
    std::cout << "draftlab " << version() << "\n";
    return 0;
  }
  const Command& command = find_command(words[0]);
  words.erase(words.begin());
  std::vector<std::string> more;
  PythonOptions python;
  CommandLine line = parse(command, std::move(words), more, python);
  if (line.has("help")) return print_help(command), 0;
  Registries registries;
  register_builtin_plugins(registries);
  register_server_model(registries);
  register_sections(registries);
  plugins.insert(plugins.end(), more.begin(), more.end());
  line.plugins = plugins;
  if (command.name == "sweep" && plugins.empty()) plugins = frozen_plugins(line.paths[0]);
  python.twice = command.name == "certify";
  python.from_files = command.name == "sweep";
  load_plugins(plugins, python, registries);
  return command.function(line, registries);
}

}  // namespace
}  // namespace draftlab

int main(int argc, char** argv) {
  // A cell takes and frees the same megabytes again and again. If they were given back to the
  // system at once, their pages would cost a quarter of the time in which its trace is made.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  try {
    const int status = draftlab::main_of({argv + 1, argv + argc});
    std::cout.flush();
    if (!std::cout) throw draftlab::Error(74, "standard output cannot be written");
    return status;
  } catch (const draftlab::Error& error) {
    std::cout.flush();
    std::cerr << error.what() << "\n";
    return error.status();
  } catch (const std::exception& error) {
    std::cout.flush();
    std::cerr << "draftlab has a fault: " << error.what() << "\n";
    return 70;
  }
}
