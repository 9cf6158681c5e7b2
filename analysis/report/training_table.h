// Tables of trainings: what their validations found, a row a step and a column a training.
#pragma once

#include <string>
#include <vector>

#include "core/base/table.h"

namespace draftlab {

// A table for each quantity that some of the trainings measured. `paths` are files of curves.
// Throws DataError when none of them was ever validated.
std::string training_tables(const std::vector<std::string>& paths, TableForm form);

}  // namespace draftlab
