// What the models that decode with the transformer share: how a checkpoint is loaded, what is said
// of it, and which canvases it can hold.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/model/model.h"
#include "plugins/models/nn/kernels/machine_torch.h"
#include "plugins/models/nn/kernels/rows/precision.h"
#include "plugins/models/nn/transformer/transformer_rows_torch.h"

namespace draftlab {

// Throws ConfigError where no checkpoint is named.
void require_checkpoint(const std::string& checkpoint);

struct LoadedDecoder {
  // Where tensor operations compute; nothing where our own kernels do.
  std::optional<at::Device> tensors;
  Precision precision;
  Transformer net;
};

// Returns the facts of a network. `longest` is the option of that name; where it is 0, the network
// says itself how many positions it has.
ModelFacts decoder_facts(const LoadedDecoder& loaded, const std::string& checkpoint,
                         std::int64_t longest);

// Throws ConfigError where the canvas is too long for the model, which `who` names, or holds a
// token that it does not know.
void check_canvas(const Canvas& canvas, const ModelFacts& facts, const std::string& who);

// A model whose questions' rows go through the transformer together, each row's sums in an order of
// their own.
class DecoderModel : public Model {
 public:
  void compute_with(int threads) override { use_all_threads(threads); }
  ModelFacts facts() const override { return facts_; }
  bool rows_are_independent() const override { return own_kernels_; }
  bool mixes() const override { return true; }

 protected:
  // Loads the weights as they are stored, and sets the number of threads.
  LoadedDecoder load_decoder(const std::string& checkpoint, ModelDtype dtype,
                             const Machine& machine);
  // Returns what a row of logits [rows, V] says, which holds on to them.
  Distribution law(const std::shared_ptr<at::Tensor>& logits, std::int64_t row) const;

  ModelFacts facts_;
  TransformerConfig config_;
  std::optional<TransformerRows> rows_;
  // Whether our own kernels compute, and no tensor operations.
  bool own_kernels_ = true;
};

}  // namespace draftlab
