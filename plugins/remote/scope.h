// What the handles of one call stand for: distributions stay here, the other process names them by
// number.
#pragma once

#include <vector>

#include "core/model/question.h"
#include "core/parts/acceptance.h"
#include "core/parts/decode_options.h"
#include "plugins/remote/message.h"
#include "plugins/remote/peer.h"

namespace draftlab::remote {

class Scope {
 public:
  // `decode`: how distributions are shaped before a token is drawn.
  explicit Scope(const DecodeOptions* decode = nullptr);

  std::uint64_t id() const { return id_; }
  // The number of a distribution, an answer.
  int keep(Distribution distribution);
  int keep(Answer answer);
  // Every distribution of an answer in the order in which it was asked; the first one's number.
  int keep_rows(const Answer& answer, const Question& question);
  const Answer& answer(const Json& number) const;
  // What a reference means: a number, or how a distribution is made of others:
  //   ["drawn", ref, temperature, top_k, top_p]  as drafts are drawn; null: as decode says
  //   ["residual", ref, ref]   ["point", token, size]   ["weights", [...]]
  // Fault for one that means nothing.
  Distribution resolve(const Json& reference);
  std::vector<Distribution> resolve_all(const Json& references);

  // What a verifier may ask of the acceptance rule.
  void judge_with(const Acceptance* acceptance) { acceptance_ = acceptance; }
  // Answers what the other process asks of its handles.
  Message serve(const Message& query);

 private:
  Distribution shaped_as(const Json& reference);
  Message numbers(const Message& query);

  std::uint64_t id_;
  const DecodeOptions* decode_;
  const Acceptance* acceptance_ = nullptr;
  std::vector<Distribution> distributions_;
  std::vector<Answer> answers_;
  std::vector<std::pair<Json, Distribution>> made_;  // of references, so that equal ones are one
};

}  // namespace draftlab::remote
