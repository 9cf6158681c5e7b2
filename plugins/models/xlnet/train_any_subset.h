// The options of the trainer `any-subset`. The loop is in train_any_subset_torch.cc; this file
// needs no torch, so that `list`, `describe` and `check` know the trainer without loading torch.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "core/config/options.h"
#include "core/config/train.h"
#include "plugins/models/nn/training/corpus.h"
#include "plugins/models/nn/training/training.h"
#include "plugins/tasks/benchmarks/white_space_map.h"

namespace draftlab {

// What a document of the text is.
enum class TextUnit { lines, paragraphs, csv, jsonl };
constexpr std::array<std::string_view, 4> words(TextUnit) {
  return {"lines", "paragraphs", "csv", "jsonl"};
}

// What ends a document and begins a canvas.
enum class DocumentEnds { separated, xlnet };
constexpr std::array<std::string_view, 2> words(DocumentEnds) { return {"separated", "xlnet"}; }

// Generated positions in ascending order, or shuffled.
enum class GenerationOrder { lattice, any_permutation };
constexpr std::array<std::string_view, 2> words(GenerationOrder) {
  return {"lattice", "any-permutation"};
}

struct TrainAnySubsetOptions : TrainingOptions {
  // The corpus.
  std::string text, field = "text", tokenizer;
  TextUnit documents = TextUnit::lines;
  std::int64_t stories = 0, programs = 0;
  DocumentEnds packing = DocumentEnds::separated;
  WhiteSpace white_space = WhiteSpace::own;
  double holdout = 0.01;
  bool align = false;
  // The shape of the model.
  std::string start;
  std::int64_t layers = 6, width = 160, heads = 5, inner = 640;
  // The order of generation, and what is masked.
  GenerationOrder order = GenerationOrder::lattice;
  double mask_start = 0.15, mask_min = 0.15, mask_max = 0.99, share_prefix = 0, share_spans = 0,
         share_ahead = 0;
  std::int64_t mask_warmup = 5000, most_ahead = 4;
  // The sizes of canvases and of validation.
  std::int64_t length = 128, validate_canvases = 64;

  void declare(OptionSet& set);
};

// How the trainer packs documents: `packing` and `white_space`.
DocumentFormat document_format(const TrainAnySubsetOptions& options, const Tokenizer& tokenizer);

// The corpus of generated stories and programs, and the one that validates: of the stories' split
// `validation` and of the programs' split `tune`.
std::pair<TrainingCorpus, TrainingCorpus> generated_corpora(const TrainAnySubsetOptions& options,
                                                            const Tokenizer& tokenizer,
                                                            std::uint64_t seed);

// What the torch module gets. The module must not depend on the tokenizer's library, whose copy of
// protobuf would clash with the one that torch loads.
struct TrainAnySubsetJob {
  TrainAnySubsetOptions options;
  TrainingCorpus corpus, held_out;
  int vocabulary = 0;
};

}  // namespace draftlab

// The torch module exports this function.
extern "C" __attribute__((visibility("default"))) void draftlab_train_any_subset(
    const draftlab::TrainAnySubsetJob& job, const draftlab::TrainContext& context);
