// Makes a text's end less probable (decode.end_penalty), as users of LLaDA and Dream do whose texts
// end too soon. It changes the model's laws, so drafter, verifier and certificates see one target.
#pragma once

#include <memory>

#include "core/model/model.h"

namespace draftlab {

// Returns a model that answers as `model` does, with `penalty` nats taken off the log probability
// of each of its end-of-text tokens before a law is normalised. Evaluations are the model's. Throws
// ConfigError where the model has no end-of-text token.
std::shared_ptr<Model> with_end_penalty(std::shared_ptr<Model> model, double penalty);

}  // namespace draftlab
