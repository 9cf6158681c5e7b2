// The replies of OpenAI's protocols, as JSON texts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/endpoint/heard.h"

namespace draftlab {

// What all replies to one request share.
struct ReplyHead {
  Protocol protocol = Protocol::completions;
  // The name of the request, "cmpl-17", the name of the model, and the time in seconds.
  std::string id, model;
  std::int64_t created = 0;
};

// A whole reply; the answers stand in the order of their numbers. Beside the protocol's own fields
// each choice has `draftlab`: steps, NFE and accepted prefixes.
std::string reply_text(const ReplyHead& head, const std::vector<Completion>& answers);

// The events of a stream ("data: ...\n\n"). A chat's first event of each answer says whose turn it
// is; the end of an answer says how it ended; the last event of a stream that asked for it has the
// usage.
std::string begin_event(const ReplyHead& head, std::int64_t index);
std::string piece_event(const ReplyHead& head, const Piece& piece);
std::string end_event(const ReplyHead& head, const Completion& answer);
std::string usage_event(const ReplyHead& head, const std::vector<Completion>& answers);

std::string refusal_text(const Refusal& refusal);
std::string models_text(const std::string& model, std::int64_t created);

}  // namespace draftlab
