// The model `any-subset` is XLNet's two streams as an any-subset autoregressive model. Torch is
// loaded when one is made, so that commands which decode nothing never pay for it.
#include "plugins/models/xlnet/any_subset.h"

#include "core/config/plugin.h"
#include "plugins/models/nn/torch_module.h"

namespace draftlab {

void AnySubsetOptions::declare(OptionSet& set) {
  set.add("checkpoint", &checkpoint)
      .help("Folder with config.json and model.safetensors, in Hugging Face's names.");
  set.add("random", &random)
      .help(
          "Random weights instead of a checkpoint, for benchmarks: LAYERSxWIDTHxVOCABULARY, such "
          "as 12x768x32000.");
  set.add("incremental", &incremental)
      .help(
          "Keep keys and values of committed rows; false recomputes both streams whole at every "
          "question.");
  add_dtype(set, &dtype);
}

}  // namespace draftlab

DRAFTLAB_PLUGIN(model, any_subset) {
  using namespace draftlab;
  registries.models.add_with<AnySubsetOptions>(
      "any-subset",
      "XLNet two-stream transformer as any-subset autoregressive model (ASSD); libtorch",
      {Form::committed, Form::chain},
      torch_model<decltype(draftlab_make_any_subset)>("draftlab_make_any_subset"));
}
