// What speculation costs and when it pays: forwards and their measured times, against tokens.
//
// A step that drafts and verifies costs c times what the baseline pays for a token; it pays when it
// commits more than c tokens. With every draft accepted with probability a, L drafts commit 1 + a +
// ... + a^(L-1) tokens (no bonus token), so the break-even acceptance is the a at which that sum is
// c.
#pragma once

#include <string>
#include <vector>

#include "analysis/frame/frame.h"
#include "analysis/report/machine_speed.h"
#include "analysis/report/statistics.h"

namespace draftlab {

struct CostRequest {
  std::vector<std::string> by = {};
  std::string baseline = {};
  MachineSpeed machine = {};  // The machine that is asked about, if any.
  double parameters = 0;      // The parameters of the target; 0 takes what the traces say.
};

struct Cost {
  std::string name;
  double forwards_per_step = 0, rows_per_step = 0, positions_per_step = 0, tokens_per_step = 0,
         drafts_per_step = 0;
  // They are NaN where seconds were not measured.
  double tokens_per_forward = 0, seconds_per_token = 0;
  // The acceptance in [0, 1] at which a step pays; it is above 1 where none does.
  double break_even_forwards = 0, break_even_seconds = kNotMeasured;
  double acceptance = 0;  // The acceptance that explains what its steps really committed.
  // The speedup over the baseline: if all forwards cost alike, inside the target, and as measured.
  double ideal_speedup = 0, model_speedup = kNotMeasured, speedup = kNotMeasured;
  // The seconds that a fit to the other arms' forwards, rows and positions predicts, over its own.
  double predicted = kNotMeasured;
  // The seconds as a + b x positions, fitted to the forwards of its steps.
  Line seconds_of_forward;
  std::int64_t fitted = 0;
  // The seconds a token on the machine that was asked about.
  double machine_seconds = kNotMeasured, machine_speedup = kNotMeasured;
};

// The acceptance probability at which `drafts` drafts commit `tokens` a step; 0 where one token is
// enough, infinity where none is.
double acceptance_for(double tokens, double drafts);

// The first is the baseline. UsageError: a machine is asked about, and nobody says how large the
// model is.
std::vector<Cost> costs(const Frame& frame, const CostRequest& request);
std::string cost_tables(const Frame& frame, const CostRequest& request);

}  // namespace draftlab
