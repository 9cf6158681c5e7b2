// One answer on its way: it is decoded, and then scored where its probabilities are wanted.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/prob/chance.h"
#include "experiments/endpoint/heard.h"
#include "experiments/endpoint/shaped_arms.h"
#include "experiments/endpoint/text_stream.h"
#include "plugins/tasks/benchmarks/question_files.h"

namespace draftlab {

// An answer that nobody has begun: its request, and its number within it.
struct AnswerToDecode {
  std::shared_ptr<const Wanted> wanted;
  std::shared_ptr<AnswerChannel> channel;
  std::int64_t index = 0;
  // The number of the request, which addresses the random numbers of one that has no seed.
  std::uint64_t request = 0;
};

// A slot does not move, for its session reads its prompt.
class DecodeSlot {
 public:
  // Opens the sequence. Throws Refusal (400) where the config cannot decode behind such an opening.
  DecodeSlot(AnswerToDecode answer, ShapedArms& arms, Chat format);

  // The session that waits for the model; null where none does.
  Session* waiting() const;
  // Whether the answer is whole, or nobody listens any more.
  bool over() const { return whole_ || answer_.channel->left(); }
  // Says what was decoded since the last call. It is called after every forward.
  void advance();
  AnswerChannel& channel() const { return *answer_.channel; }

 private:
  // The tokens of the answer so far: up to the first that ends it, or up to the first open
  // position. `ended` says that the last one ended it.
  std::vector<Token> settled(bool& ended) const;
  std::string text_of(const std::vector<Token>& tokens) const;
  void finish(bool ended);
  // Opens the session in which the target is asked for the probabilities of what was decoded.
  // Returns false where there is no token to ask for.
  bool score();
  void take_scores();
  CompletionNumbers numbers(const SampleRow& row) const;

  AnswerToDecode answer_;
  std::shared_ptr<const LoadedArm> arm_;
  // Whether what is committed may change later, so that only the whole text is handed over.
  bool revises_ = false;
  Prompt prompt_;
  SampledChance chance_;
  std::unique_ptr<Session> session_;
  std::optional<Asking<SampleRow>> work_;
  TextStream stream_;
  std::size_t steps_seen_ = 0;
  std::vector<Token> tokens_;
  std::chrono::steady_clock::time_point began_;

  Completion made_;
  bool whole_ = false;
  // The arm, the prompt, the session and its work of the scoring; their tokens, of which the first
  // `unscored` have no probability.
  struct Scoring {
    Arm arm;
    Prompt prompt;
    std::unique_ptr<Session> session = {};
    std::optional<Asking<SampleRow>> work = {};
    std::vector<Token> shown = {};
    std::size_t unscored = 0;
  };
  std::unique_ptr<Scoring> scoring_;
};

}  // namespace draftlab
