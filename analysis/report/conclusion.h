// What a run shows, in one sentence.
#pragma once

#include <string>

#include "analysis/report/report.h"

namespace draftlab {

// Of the arms that are compared with a baseline, says how much less the one with the fewest
// function evaluations needed, and whether that saved time; "" where nothing is compared. Where the
// report has a column `states`, states are what is counted. The report must have the columns `nfe`
// and `seconds`.
std::string conclusion(const Report& report);

}  // namespace draftlab
