// A scope holds what the handles of one call stand for. Distributions stay here, and the other
// process names them by number.
#pragma once

#include <vector>

#include "core/model/question.h"
#include "core/parts/acceptance.h"
#include "core/parts/decode_options.h"
#include "plugins/remote/peer.h"
#include "plugins/remote/wire/message.h"

namespace draftlab::remote {

class Scope {
 public:
  // `decode` says how distributions are shaped before a token is drawn.
  explicit Scope(const DecodeOptions* decode = nullptr);

  std::uint64_t id() const { return id_; }
  // Keeps a distribution or an answer, and returns its number.
  int keep(Distribution distribution);
  int keep(Answer answer);
  // Keeps every distribution of an answer in the order in which they were asked, and returns the
  // number of the first.
  int keep_rows(const Answer& answer, const Question& question);
  const Answer& answer(const Json& number) const;
  // Returns the distribution that a reference means. A reference is a number, or says how a
  // distribution is made of others:
  //   ["drawn", ref, temperature, top_k, top_p]  as drafts are drawn; null stands for decode's
  //   ["residual", ref, ref]   ["point", token, size]   ["weights", array]
  // An array is one of the message `from`, and no two messages give one name to two arrays. Throws
  // a Fault for a reference that means nothing.
  Distribution resolve(const Json& reference, const Message& from);
  std::vector<Distribution> resolve_all(const Json& references, const Message& from);

  // Sets the acceptance rule, which a verifier may ask.
  void judge_with(const Acceptance* acceptance) { acceptance_ = acceptance; }
  // Answers what the other process asks of its handles.
  Message serve(const Message& query);

 private:
  Distribution shaped_as(const Json& reference, const Message& from);
  Message numbers(const Message& query);

  std::uint64_t id_;
  const DecodeOptions* decode_;
  const Acceptance* acceptance_ = nullptr;
  std::vector<Distribution> distributions_;
  std::vector<Answer> answers_;
  // What was made of each reference is kept, so that equal references are one distribution.
  std::vector<std::pair<Json, Distribution>> made_;
};

}  // namespace draftlab::remote
