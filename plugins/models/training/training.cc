#include "plugins/models/training/training.h"

namespace draftlab {

void TrainingOptions::declare(OptionSet& set) {
  set.add("batch", &batch).in(1, 65536).help("canvases of one forward");
  set.add("accumulate", &accumulate).in(1, 65536).help("forwards of one optimizer step");
  set.add("steps", &steps)
      .in(1, 1e12)
      .help("optimizer steps, at the end of which the learning rate reaches its floor");
  set.add("warmup", &warmup).in(0, 1e12).help("steps of linear learning-rate warm-up");
  set.add("rate", &rate).in(0, 10).help("highest learning rate");
  set.add("floor", &floor)
      .in(0, 1)
      .help("share of the highest learning rate that is left at the end");
  set.add("weight_decay", &weight_decay).in(0, 10).help("decoupled weight decay");
  set.add("clip", &clip).in(0.0001, 1e9).help("largest norm of the gradient");
  set.add("minutes", &minutes).in(0, 1e9).help("stop, saved, after so many minutes; 0: no limit");
  set.add("log_every", &log_every).in(1, 1e12).help("steps between rows of the curve");
  set.add("validate_every", &validate_every).in(1, 1e12).help("steps between validations");
  set.add("save_every", &save_every)
      .in(0, 1e12)
      .help("steps between checkpoints; 0: by time alone");
  set.add("save_minutes", &save_minutes).in(0.01, 1e9).help("minutes between checkpoints");
  set.add("dtype", &dtype).help("number format of the checkpoint's weights");
}

}  // namespace draftlab
