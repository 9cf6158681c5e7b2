#include "experiments/sweep/slurm.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>

#include "core/base/files.h"
#include "experiments/command/parse.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

// The array size of a cluster that does not say its own.
constexpr std::size_t kUsualArraySize = 1001;
constexpr int kNoticeSeconds = 180;  // The seconds from Slurm's signal to the end of the walltime.

std::string shell_word(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

struct Said {
  int status = 127;
  std::string text;  // What the command wrote to either stream, without the last line's end.
};

Said run(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += shell_word(word) + " ";
  Said said;
  std::FILE* const pipe = ::popen((line + "2>&1 </dev/null").c_str(), "r");
  if (!pipe) return said;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    said.text.append(buffer, got);
  const int status = ::pclose(pipe);
  said.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  said.text.erase(said.text.find_last_not_of(" \r\n") + 1);
  return said;
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

// All jobs of a folder have this name, and no jobs of another.
std::string job_name(const SweepFolder& folder) {
  return "draftlab-" + fs::path(folder.path()).filename().string() + "-" +
         id_of(folder.path()).substr(0, 6);
}

std::size_t largest_array() {
  const Said said = run({"scontrol", "show", "config"});
  const std::size_t at = said.text.find("MaxArraySize");
  const std::size_t equals = at == std::string::npos ? at : said.text.find('=', at);
  const long size = equals == std::string::npos ? 0 : std::atol(said.text.c_str() + equals + 1);
  return size > 1 ? static_cast<std::size_t>(size) : kUsualArraySize;
}

// "0,3-5,9"
std::string ranges(const std::vector<std::size_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]) +
            (last > i ? "-" + std::to_string(numbers[last]) : "");
    i = last + 1;
  }
  return text;
}

// The script of a kind of job, and the name of its log.
struct SlurmScript {
  bool decodes = false;
  const char* log = "";
};
constexpr SlurmScript kDecodes{true, "%A_%a.out"}, kGathers{false, "gather-%j.out"};

// The head of a job's script.
std::string directives(const SweepFolder& folder, const SlurmOptions& options,
                       const SlurmScript& script) {
  std::string text = "#!/bin/bash\n";
  const auto add = [&](const std::string& option, const std::string& value) {
    if (!value.empty()) text += "#SBATCH --" + option + "=" + value + "\n";
  };
  add("job-name", job_name(folder));
  add("output", folder.path() + "/logs/" + script.log);
  add("open-mode", "append");
  add("account", options.account), add("partition", options.partition), add("qos", options.qos),
      add("mem", options.mem);
  if (script.decodes) {
    add("constraint", options.constraint), add("gpus", options.gpus), add("time", options.time);
    add("cpus-per-task", std::to_string(options.cpus_per_task));
    add("signal",
        // The signal goes to the batch script itself, which exec makes the program.
        "B:TERM@" + std::to_string(kNoticeSeconds));
    text += "#SBATCH --requeue\n";
    if (!options.mail.empty()) add("mail-type", "FAIL");
  } else if (!options.mail.empty()) {
    add("mail-type", "END,FAIL");
  }
  add("mail-user", options.mail);
  if (!options.setup.empty()) text += options.setup + "\n";
  return text;
}

// The id that sbatch --parsable prints.
std::string sbatch(const std::string& script, std::vector<std::string> words,
                   const std::vector<std::string>& passed) {
  words.insert(words.begin(), {"sbatch", "--parsable"});
  words.insert(words.end(), passed.begin(), passed.end());
  words.push_back(script);
  const Said said = run(words);
  if (said.status == 127) {
    throw ConfigError(
        "sbatch is not here, so this machine submits to no Slurm cluster; on other clusters let "
        "each job run: draftlab sweep {} --worker",
        fs::path(script).parent_path().parent_path().string());
  }
  const std::string last =
      said.text.substr(said.text.rfind('\n') == std::string::npos ? 0 : said.text.rfind('\n') + 1);
  if (said.status != 0) {
    std::string why = said.text;
    std::replace(why.begin(), why.end(), '\n', ' ');
    throw ConfigError("Slurm refused '{}': {}", script, why);
  }
  return last.substr(0, last.find(';'));
}

// How a job is or ended, in Slurm's words: "RUNNING", "OUT_OF_MEMORY"; "" where it does not know
// any more.
struct JobState {
  std::string word;
  int exit_status = 0, signal = 0;
};

JobState state_of(const std::string& job) {
  JobState state;
  const auto read_code = [&](const std::string& code) {  // Codes look like "3:0" or "0:9".
    const std::size_t colon = code.find(':');
    state.exit_status = std::atoi(code.c_str());
    state.signal = colon == std::string::npos ? 0 : std::atoi(code.c_str() + colon + 1);
  };
  Said said = run({"sacct", "-n", "-X", "-P", "-j", job, "-o", "State,ExitCode"});
  if (said.status == 0 && !said.text.empty()) {
    const std::size_t bar = said.text.find('|');
    // The text may be "CANCELLED by 0".
    state.word = said.text.substr(0, std::min(bar, said.text.find(' ')));
    if (bar != std::string::npos) read_code(said.text.substr(bar + 1));
    return state;
  }
  said = run({"scontrol", "show", "job", job});
  const auto after = [&](const std::string& key) {
    const std::size_t at = said.text.find(key);
    return at == std::string::npos
               ? ""
               : said.text.substr(at + key.size(),
                                  said.text.find_first_of(" \n", at) - at - key.size());
  };
  if (said.status != 0) return state;
  state.word = after("JobState=");
  read_code(after("ExitCode="));
  return state;
}

// "1-02:03:04", "02:03", as squeue prints what is left.
double seconds_of(const std::string& text) {
  double seconds = 0, part = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9')
      part = 10 * part + (c - '0');
    else if (c == '-')
      seconds = 24 * part, part = 0;
    else if (c == ':')
      seconds = 60 * (seconds + part), part = 0;
    else
      return 0;
  }
  return seconds + part;
}

}  // namespace

int submit(const SweepFolder& folder, const SlurmOptions& options,
           const std::vector<std::string>& passed) {
  for (const std::string& word : passed) {
    if (word.rfind("--array", 0) == 0 || word == "-a")
      throw UsageError(
          "--slurm chooses the array itself; [slurm] cells_per_task and max_running shape it");
  }
  const std::vector<SweepCell>& cells = folder.cells();
  const std::size_t most = largest_array() - 1;
  std::size_t each = std::max<std::size_t>(1, static_cast<std::size_t>(options.cells_per_task));
  if ((cells.size() + each - 1) / each > most) {
    each = (cells.size() + most - 1) / most;
    std::cout << "this cluster's arrays have at most " << most << " tasks, so each decodes " << each
              << " cells\n";
  }
  const Claims claims(folder.attempts(), folder.lease());
  const std::map<std::string, Attempts> attempts = claims.all();
  std::set<std::size_t> tasks;
  std::size_t missing = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto found = attempts.find(cells[i].id);
    const Standing where =
        folder.standing(cells[i], found == attempts.end() ? Attempts{} : found->second, claims);
    if (where == Standing::done || where == Standing::quarantined) continue;
    tasks.insert(i / each);
    ++missing;
  }
  const std::string program = fs::read_symlink("/proc/self/exe").string(), name = job_name(folder);
  make_folder(folder.path() + "/slurm");
  const std::string array = folder.path() + "/slurm/array.sh",
                    gather = folder.path() + "/slurm/gather.sh";
  write_whole(array, directives(folder, options, kDecodes) + "# Task N decodes cells N * " +
                         std::to_string(each) + " and following.\nfirst=$((SLURM_ARRAY_TASK_ID * " +
                         std::to_string(each) + "))\nlast=$((first + " + std::to_string(each) +
                         "))\n[ $last -le " + std::to_string(cells.size()) +
                         " ] || last=" + std::to_string(cells.size()) + "\nexec " +
                         shell_word(program) + " sweep " + shell_word(folder.path()) +
                         " --worker --cells $first:$last --requeue\n");
  write_whole(gather, directives(folder, options, kGathers) + "exec " + shell_word(program) +
                          " sweep " + shell_word(folder.path()) + " --gather\n");
  if (tasks.empty()) {
    std::cout << "nothing is missing: " << program_name() << " sweep " << folder.path()
              << " --gather merges what is there\n";
    return 0;
  }
  const std::string limit =
      options.max_running > 0 ? "%" + std::to_string(options.max_running) : "";
  const std::string id =
      sbatch(array, {"--array=" + ranges({tasks.begin(), tasks.end()}) + limit}, passed);
  // afterany: a dependency on success would wait for ever after one failure.
  const std::string last = sbatch(gather, {"--dependency=afterany:" + id}, passed);
  std::cout << "submitted " << missing << (missing == 1 ? " cell as " : " cells as ")
            << tasks.size() << (tasks.size() == 1 ? " task" : " tasks") << " of array " << id
            << ", and job " << last << " that gathers them\nnext:  " << program_name() << " sweep "
            << folder.path() << " --status\n";
  return 0;
}

std::string cancel_jobs(const SweepFolder& folder) {
  const Said said = run({"scancel", "--name=" + job_name(folder)});
  return said.status == 0 || said.status == 127 ? "" : said.text;
}

void settle_with_slurm(const SweepFolder& folder) {
  const Claims claims(folder.attempts(), folder.lease());
  const std::set<std::string> alive = {
      "", "RUNNING", "PENDING", "SUSPENDED", "CONFIGURING", "REQUEUED", "RESIZING", "REQUEUE_HOLD"};
  for (const auto& [cell, attempts] : claims.all()) {
    Attempt last = attempts.back();
    if (last.state != AttemptState::running || last.job.empty()) continue;
    const JobState state = state_of(last.job);
    if (alive.count(state.word)) continue;
    const bool its_fault = state.word == "OUT_OF_MEMORY" || state.word == "FAILED";
    last.state = its_fault ? AttemptState::failed : AttemptState::interrupted;
    last.exit_status = state.exit_status, last.signal = state.signal;
    last.reason =
        "its process ended with its job, " + last.job + ", of which Slurm says " + state.word;
    last.last_line = last_line(folder.path() + "/logs/" + cell + ".log");
    claims.record(cell, last);
  }
}

SlurmJob slurm_job() {
  SlurmJob job;
  const std::string id = environment("SLURM_JOB_ID"), array = environment("SLURM_ARRAY_JOB_ID");
  if (id.empty()) return job;
  job.id = array.empty() ? id : array + "_" + environment("SLURM_ARRAY_TASK_ID");
  job.requeued = std::atoi(environment("SLURM_RESTART_COUNT").c_str()) > 0;
  const Said left = run({"squeue", "-h", "-j", id, "-o", "%L"});
  if (left.status == 0) job.seconds_left = seconds_of(left.text);
  return job;
}

std::string requeue(const SlurmJob& job) {
  const std::string state = state_of(job.id).word;
  if (state != "RUNNING")
    return "job " + job.id + " is " + (state.empty() ? "unknown to Slurm" : state) +
           ", so it does not requeue itself";
  const Said said = run({"scontrol", "requeue", job.id});
  return said.status == 0 ? "requeued job " + job.id
                          : "Slurm did not requeue job " + job.id + " (" + said.text +
                                "); submit what is missing with --slurm again";
}

}  // namespace draftlab
