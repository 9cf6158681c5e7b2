#include "plugins/models/nn/training/corpus.h"

#include <algorithm>

namespace draftlab {

DocumentFormat separated(const Tokenizer& tokenizer) {
  return {[&](const std::string& text) { return tokenizer.encode(text); },
          {tokenizer.separator()},
          {tokenizer.document_begin()}};
}

TrainingCorpus::TrainingCorpus(const std::vector<std::string>& documents,
                               const DocumentFormat& format)
    : begin_(format.begin) {
  for (const std::string& document : documents) {
    const std::vector<Token> tokens = format.encode(document);
    if (tokens.empty()) continue;
    starts_.push_back(static_cast<std::int64_t>(stream_.size()));
    stream_.insert(stream_.end(), tokens.begin(), tokens.end());
    stream_.insert(stream_.end(), format.end.begin(), format.end.end());
  }
}

std::vector<Token> TrainingCorpus::canvas(int length, double u, bool at_document) const {
  const auto pick = [u](std::int64_t n) {
    return std::min(n - 1, static_cast<std::int64_t>(u * static_cast<double>(n)));
  };
  std::int64_t at = at_document ? starts_[pick(documents())] : pick(tokens());
  std::vector<Token> canvas = begin_;
  while (static_cast<int>(canvas.size()) < length) {
    canvas.push_back(stream_[at]);
    at = (at + 1) % tokens();
  }
  return canvas;
}

std::pair<TrainingCorpus, TrainingCorpus> split_corpus(const std::vector<std::string>& documents,
                                                       std::int64_t stride,
                                                       const DocumentFormat& format) {
  std::vector<std::string> training, held_out;
  for (std::size_t i = 0; i < documents.size(); i++)
    (static_cast<std::int64_t>(i) % stride == stride - 1 ? held_out : training)
        .push_back(documents[i]);
  if (held_out.empty() && training.size() > 1) {
    held_out.push_back(training.back());
    training.pop_back();
  }
  return {TrainingCorpus(training, format), TrainingCorpus(held_out, format)};
}

}  // namespace draftlab
