// What a run would be refused for although its config composes, found without loading a model: a
// checkpoint that is not named or not there, data that cannot be read, a part that cannot decode
// the first prompt.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "core/config/composition.h"
#include "core/parts/task.h"

namespace draftlab {

// Tokenizers and tasks are opened once, however many cells share them.
class Rehearsal {
 public:
  // `path`: the file of the config, with which every sentence begins.
  Rehearsal(std::string path, const Registries& registries)
      : path_(std::move(path)), registries_(registries) {}

  // Adds to `diagnostics` what a run of this cell would lack, each sentence once.
  void cell(const Composition& cell, Diagnostics& diagnostics);

 private:
  // Null where the task cannot be loaded or makes no prompt, for reasons that are told.
  std::shared_ptr<Task>& task_of(const Composition& cell, Diagnostics& diagnostics);
  // Whether the folder of a model's weights is there, as far as it needs one.
  bool has_checkpoint(const std::string& key, const Factory<Model>& model,
                      Diagnostics& diagnostics);
  void tell(const std::string& sentence, Diagnostics& diagnostics);

  std::string path_;
  const Registries& registries_;
  std::map<std::string, std::shared_ptr<Tokenizer>> tokenizers_;
  std::map<std::string, std::shared_ptr<Task>> tasks_;
  std::set<std::string> told_;
};

}  // namespace draftlab
