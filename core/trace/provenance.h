// Where and with what a result was made. Every trace carries this as attributes.
#pragma once

#include "core/model/model.h"
#include "core/trace/rows.h"

namespace draftlab {

// Returns software version, git commit, host, processor, compiler and libraries (those of the torch
// models once their module is loaded), and the time now as `started`.
Provenance provenance(const Machine& machine, std::int64_t seed);

// Returns a time such as "2026-01-31T12:00:00Z".
std::string utc_now();
// Returns a version such as "0.1.0".
std::string version();

}  // namespace draftlab
