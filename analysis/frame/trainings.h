// Trainings as figures and tables read them: where their curves lie, and what is measured in them.
#pragma once

#include <string>
#include <vector>

#include "core/trace/rows.h"

namespace draftlab {

// A quantity of a training: one of its validations, or one of the optimiser's steps.
struct TrainingMeasure {
  std::string name, title, unit;
  double ValidationRow::*validation = nullptr;
  double CurveRow::*curve = nullptr;
  bool logarithmic = false;
};
const std::vector<TrainingMeasure>& training_measures();

// Takes the files of curves out of `paths`, those that are named and those that lie in folders, and
// returns them. What is left are traces, and folders that hold some.
std::vector<std::string> take_curves(std::vector<std::string>& paths);

// The name of the folder in which the file lies, which `draftlab train` gave it.
std::string training_name(const std::string& path);

}  // namespace draftlab
