#include "experiments/commands.h"

#include "experiments/bench/bench.h"
#include "experiments/certify/certify.h"
#include "experiments/check/check.h"
#include "experiments/distill/distill.h"
#include "experiments/doctor/doctor.h"
#include "experiments/endpoint/endpoint.h"
#include "experiments/invariance/invariance.h"
#include "experiments/sweep/sweep.h"

namespace draftlab {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      run_command(),        chat_command(),       serve_command(),       sweep_command(),
      certify_command(),    audit_command(),      census_command(),      train_command(),
      distill_command(),    widen_command(),      list_command(),        describe_command(),
      check_command(),      report_command(),     replay_command(),      export_command(),
      inspect_command(),    plot_command(),       check_trace_command(), recheck_command(),
      rerun_command(),      invariance_command(), results_command(),     import_command(),
      simulate_command(),   golden_command(),     doctor_command(),      bench_command(),
      completion_command(), help_command(),
  };
  return all;
}

}  // namespace draftlab
