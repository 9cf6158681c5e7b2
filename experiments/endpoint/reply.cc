#include "experiments/endpoint/reply.h"

#include <map>
#include <nlohmann/json.hpp>

namespace draftlab {
namespace {

using Ordered = nlohmann::ordered_json;

// Texts may end in the middle of a character, which JSON cannot hold.
std::string written(const Ordered& json) {
  return json.dump(-1, ' ', false, Ordered::error_handler_t::replace);
}

std::string event(const Ordered& json) { return "data: " + written(json) + "\n\n"; }

Ordered numbers_of(const CompletionNumbers& numbers) {
  return {{"steps", numbers.steps},
          {"nfe", numbers.nfe},
          {"drafter_nfe", numbers.drafter_nfe},
          {"drafted", numbers.drafted},
          {"accepted", numbers.accepted},
          {"seconds", numbers.seconds}};
}

Ordered usage_of(const std::vector<Completion>& answers) {
  std::int64_t prompt = 0, tokens = 0;
  for (const Completion& answer : answers) {
    prompt += answer.numbers.prompt_tokens;
    tokens += answer.numbers.tokens;
  }
  return {
      {"prompt_tokens", prompt}, {"completion_tokens", tokens}, {"total_tokens", prompt + tokens}};
}

Ordered or_null(const std::optional<double>& value) { return value ? Ordered(*value) : Ordered(); }

// Lists of equal length: what completions have.
Ordered completion_likelihoods(const std::vector<TokenLikelihood>& tokens) {
  Ordered texts = Ordered::array(), logs = Ordered::array(), tops = Ordered::array(),
          offsets = Ordered::array();
  for (const TokenLikelihood& token : tokens) {
    texts.push_back(token.text);
    logs.push_back(or_null(token.log_p));
    offsets.push_back(token.offset);
    // Of tokens that are spelled alike the most probable one is shown.
    std::map<std::string, double> top;
    for (const auto& [text, log_p] : token.likeliest) top.emplace(text, log_p);
    tops.push_back(token.log_p ? Ordered(top) : Ordered());
  }
  return {{"tokens", texts},
          {"token_logprobs", logs},
          {"top_logprobs", tops},
          {"text_offset", offsets}};
}

// A list of objects: what chats have.
Ordered chat_likelihoods(const std::vector<TokenLikelihood>& tokens) {
  const auto one = [](const std::string& text, const std::optional<double>& log_p) {
    std::vector<int> bytes;
    for (const char byte : text) bytes.push_back(static_cast<unsigned char>(byte));
    return Ordered{{"token", text}, {"logprob", or_null(log_p)}, {"bytes", bytes}};
  };
  Ordered content = Ordered::array();
  for (const TokenLikelihood& token : tokens) {
    Ordered entry = one(token.text, token.log_p);
    entry["top_logprobs"] = Ordered::array();
    for (const auto& [text, log_p] : token.likeliest)
      entry["top_logprobs"].push_back(one(text, log_p));
    content.push_back(std::move(entry));
  }
  return {{"content", content}};
}

const char* reason(const Completion& answer) { return answer.ended ? "stop" : "length"; }

bool is_chat(const ReplyHead& head) { return head.protocol == Protocol::chat; }

Ordered choice_of(const ReplyHead& head, const Completion& answer) {
  Ordered choice{{"index", answer.index}};
  if (is_chat(head))
    choice["message"] = {{"role", "assistant"}, {"content", answer.text}};
  else
    choice["text"] = answer.text;
  choice["logprobs"] = answer.likelihoods.empty() ? Ordered()
                       : is_chat(head)            ? chat_likelihoods(answer.likelihoods)
                                                  : completion_likelihoods(answer.likelihoods);
  choice["finish_reason"] = reason(answer);
  choice["draftlab"] = numbers_of(answer.numbers);
  return choice;
}

// A reply, or an event of a stream, with these choices.
Ordered reply(const ReplyHead& head, bool streams, Ordered choices) {
  const std::string object = is_chat(head) ? "chat.completion" : "text_completion";
  return {{"id", head.id},
          {"object", object + (streams && is_chat(head) ? ".chunk" : "")},
          {"created", head.created},
          {"model", head.model},
          {"choices", std::move(choices)}};
}

// An event about one answer: what is new of its text, and how it ended, if it did.
Ordered chunk(const ReplyHead& head, std::int64_t index, Ordered delta, const Completion* ended) {
  Ordered choice{{"index", index}};
  if (is_chat(head))
    choice["delta"] = std::move(delta);
  else
    choice["text"] = delta.value("content", "");
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = ended ? Ordered(reason(*ended)) : Ordered();
  if (ended) choice["draftlab"] = numbers_of(ended->numbers);
  return reply(head, true, Ordered::array({choice}));
}

}  // namespace

std::string reply_text(const ReplyHead& head, const std::vector<Completion>& answers) {
  Ordered choices = Ordered::array();
  for (const Completion& answer : answers) choices.push_back(choice_of(head, answer));
  Ordered whole = reply(head, false, std::move(choices));
  whole["usage"] = usage_of(answers);
  return written(whole);
}

std::string begin_event(const ReplyHead& head, std::int64_t index) {
  if (!is_chat(head)) return "";
  return event(chunk(head, index, {{"role", "assistant"}, {"content", ""}}, nullptr));
}

std::string piece_event(const ReplyHead& head, const Piece& piece) {
  return event(chunk(head, piece.index, {{"content", piece.text}}, nullptr));
}

std::string end_event(const ReplyHead& head, const Completion& answer) {
  return event(chunk(head, answer.index, Ordered::object(), &answer));
}

std::string usage_event(const ReplyHead& head, const std::vector<Completion>& answers) {
  Ordered last = reply(head, true, Ordered::array());
  last["usage"] = usage_of(answers);
  return event(last);
}

std::string refusal_text(const Refusal& refusal) {
  const char* const type = refusal.status < 500 ? "invalid_request_error" : "server_error";
  return written({{"error",
                   {{"message", refusal.what()},
                    {"type", type},
                    {"param", refusal.parameter.empty() ? Ordered() : Ordered(refusal.parameter)},
                    {"code", refusal.status}}}});
}

std::string models_text(const std::string& model, std::int64_t created) {
  Ordered one{{"id", model}, {"object", "model"}, {"created", created}, {"owned_by", "draftlab"}};
  return written({{"object", "list"}, {"data", Ordered::array({one})}});
}

}  // namespace draftlab
