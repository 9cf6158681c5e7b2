// The functions that the torch module exports. The module is loaded when the first of them is
// looked for, so that commands which decode nothing never load torch.
#pragma once

#include <memory>
#include <string>

#include "core/config/plugin.h"
#include "core/model/model.h"

namespace draftlab {

// Returns the exported function `name`, which is declared as `Function`. Throws ConfigError when
// the module was not built.
template <class Function>
Function* torch_function(const std::string& name) {
  return reinterpret_cast<Function*>(module_function("draftlab_torch", name));
}

// Returns what makes a model of its options by the exported function `name`.
template <class Function>
auto torch_model(const std::string& name) {
  return [name](const auto& options) {
    return std::unique_ptr<Model>(torch_function<Function>(name)(&options));
  };
}

}  // namespace draftlab
