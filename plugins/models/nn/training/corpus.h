// The text a model is trained on, as one stream of tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/parts/task.h"

namespace draftlab {

// How documents become a stream: what each one's text is in tokens, what follows it, and what
// stands in front of every canvas that is cut out.
struct DocumentFormat {
  std::function<std::vector<Token>(const std::string&)> encode;
  std::vector<Token> end, begin;
};
// Ends documents with the separator, and begins canvases with the begin token.
DocumentFormat separated(const Tokenizer& tokenizer);

class TrainingCorpus {
 public:
  TrainingCorpus() = default;
  TrainingCorpus(const std::vector<std::string>& documents, const DocumentFormat& format);

  std::int64_t tokens() const { return static_cast<std::int64_t>(stream_.size()); }
  std::int64_t documents() const { return static_cast<std::int64_t>(starts_.size()); }
  // Returns a canvas of `length` tokens: its begin, then the stream from a place that `u` in [0, 1)
  // chooses, which is any place, or the beginning of any document. Near the end the stream
  // goes on with its beginning.
  std::vector<Token> canvas(int length, double u, bool at_document) const;

 private:
  std::vector<Token> stream_;
  std::vector<std::int64_t> starts_;
  std::vector<Token> begin_;
};

// Sends every `stride`-th document to the second corpus, so that both have the same sources. At
// least one document goes to each.
std::pair<TrainingCorpus, TrainingCorpus> split_corpus(const std::vector<std::string>& documents,
                                                       std::int64_t stride,
                                                       const DocumentFormat& format);

}  // namespace draftlab
