#include "experiments/endpoint/wanted.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace draftlab {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kLikeliest = 20;
constexpr std::size_t kStops = 16;

// The values of a body, each of the type and in the range that it is to have. A null is a value
// that is not there, as clients mean it.
class Body {
 public:
  explicit Body(const std::string& text) {
    try {
      json_ = Json::parse(text);
    } catch (const Json::exception& error) {
      throw Refusal(400, "the body is no JSON: " + std::string(error.what()));
    }
    if (!json_.is_object()) throw Refusal(400, "the body is to be a JSON object");
  }

  const Json* find(const std::string& key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  std::optional<double> number(const std::string& key, double low, double high) const {
    const Json* const value = find(key);
    if (!value) return std::nullopt;
    if (!value->is_number() || value->get<double>() < low || value->get<double>() > high)
      refuse(key, "a number from " + Json(low).dump() + " to " + Json(high).dump());
    return value->get<double>();
  }

  std::optional<std::int64_t> integer(const std::string& key, std::int64_t low,
                                      std::int64_t high) const {
    const Json* const value = find(key);
    return value ? std::optional(integer_of(*value, key, low, high)) : std::nullopt;
  }

  bool truth(const std::string& key) const {
    const Json* const value = find(key);
    if (value && !value->is_boolean()) refuse(key, "true or false");
    return value && value->get<bool>();
  }

  [[noreturn]] void refuse(const std::string& key, const std::string& rule) const {
    std::string shown = find(key)->dump(-1, ' ', false, Json::error_handler_t::replace);
    if (shown.size() > 60) shown = shown.substr(0, 57) + "...";
    throw Refusal(400, "'" + key + "' is to be " + rule + ", not " + shown, key);
  }

  std::int64_t integer_of(const Json& value, const std::string& key, std::int64_t low,
                          std::int64_t high) const {
    if (!value.is_number_integer() || value.get<std::int64_t>() < low ||
        value.get<std::int64_t>() > high ||
        (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX))
      refuse(key, "an integer from " + std::to_string(low) + " to " + std::to_string(high));
    return value.get<std::int64_t>();
  }

 private:
  Json json_;
};

std::vector<Token> tokens_of(const Body& body, const Json& list) {
  std::vector<Token> tokens;
  for (const Json& token : list)
    tokens.push_back(static_cast<Token>(body.integer_of(token, "prompt", 0, INT32_MAX)));
  return tokens;
}

// A prompt is a text or a list of tokens, or a list of either.
std::vector<Opening> read_prompt(const Body& body) {
  constexpr const char* kRule = "a text, a list of token ids, or a list of either";
  const Json* const prompt = body.find("prompt");
  if (!prompt) throw Refusal(400, "'prompt' is missing", "prompt");
  if (prompt->is_string()) return {prompt->get<std::string>()};
  if (!prompt->is_array() || prompt->empty()) body.refuse("prompt", kRule);
  if (prompt->front().is_number()) return {tokens_of(body, *prompt)};
  std::vector<Opening> openings;
  for (const Json& one : *prompt) {
    if (one.is_string())
      openings.emplace_back(one.get<std::string>());
    else if (one.is_array())
      openings.emplace_back(tokens_of(body, one));
    else
      body.refuse("prompt", kRule);
  }
  return openings;
}

// The content of a message is a text, or parts of which each has one.
std::string read_content(const Body& body, const Json& message) {
  const auto content = message.find("content");
  if (content != message.end() && content->is_string()) return content->get<std::string>();
  if (content == message.end() || !content->is_array())
    body.refuse("messages", "a list of messages with a text as their content");
  std::string text;
  for (const Json& part : *content) {
    if (!part.is_object() || part.value("type", Json()) != "text" || !part.contains("text") ||
        !part["text"].is_string())
      body.refuse("messages", "a list of messages whose parts are texts");
    text += part["text"].get<std::string>();
  }
  return text;
}

// An optional system message, and then user and assistant in turn; the user is last.
std::vector<Opening> read_messages(const Body& body) {
  constexpr const char* kRule =
      "a list of messages: a system message or none, then user and assistant in turn, and the "
      "user's last";
  const Json* const list = body.find("messages");
  if (!list) throw Refusal(400, "'messages' is missing", "messages");
  if (!list->is_array() || list->empty()) body.refuse("messages", kRule);
  std::vector<ChatMessage> messages;
  std::string next = "user";
  for (const Json& one : *list) {
    const auto role = one.is_object() ? one.find("role") : one.end();
    if (!one.is_object() || role == one.end() || !role->is_string()) body.refuse("messages", kRule);
    std::string name = role->get<std::string>();
    if (name == "developer") name = "system";
    const bool first_system = name == "system" && messages.empty();
    if (!first_system && name != next) body.refuse("messages", kRule);
    if (!first_system) next = name == "user" ? "assistant" : "user";
    messages.push_back({name, read_content(body, one)});
  }
  if (messages.back().role != "user") body.refuse("messages", kRule);
  return {std::move(messages)};
}

// draftlab's own key: {"prompt": 3, "sample": 0} is a prompt of the config's task.
std::optional<TaskPrompt> read_task_prompt(const Body& body) {
  const Json* const own = body.find("draftlab");
  if (!own) return std::nullopt;
  if (!own->is_object() || !own->contains("prompt"))
    body.refuse("draftlab", "an object with the number of a `prompt` of the config's task");
  TaskPrompt prompt;
  for (const auto& [key, value] : own->items()) {
    if (key != "prompt" && key != "sample")
      body.refuse("draftlab", "an object with `prompt` and `sample`");
    (key == "prompt" ? prompt.index : prompt.sample) =
        body.integer_of(value, "draftlab", 0, INT32_MAX);
  }
  return prompt;
}

std::vector<std::string> read_stops(const Body& body) {
  constexpr const char* kRule = "a text, or a list of up to 16 of them, none empty";
  const Json* const stop = body.find("stop");
  if (!stop) return {};
  const Json list = stop->is_array() ? *stop : Json::array({*stop});
  if (list.size() > kStops) body.refuse("stop", kRule);
  std::vector<std::string> stops;
  for (const Json& one : list) {
    if (one.is_null()) continue;
    if (!one.is_string() || one.get<std::string>().empty()) body.refuse("stop", kRule);
    stops.push_back(one.get<std::string>());
  }
  return stops;
}

std::optional<std::int64_t> read_likeliest(Protocol protocol, const Body& body) {
  if (protocol == Protocol::completions) return body.integer("logprobs", 0, kLikeliest);
  const auto top = body.integer("top_logprobs", 0, kLikeliest);
  if (body.truth("logprobs")) return top.value_or(0);
  if (top.value_or(0) > 0)
    throw Refusal(400, "'top_logprobs' asks for probabilities and 'logprobs' does not",
                  "top_logprobs");
  return std::nullopt;
}

// Refuses what would change the answer and cannot be had; the value beside a key changes nothing.
void refuse_unknown(const Body& body) {
  static const std::pair<const char*, Json> kKeys[] = {{"presence_penalty", 0},
                                                       {"frequency_penalty", 0},
                                                       {"repetition_penalty", 1},
                                                       {"best_of", 1},
                                                       {"min_p", 0},
                                                       {"min_tokens", 0},
                                                       {"typical_p", 1},
                                                       {"length_penalty", 1},
                                                       {"use_beam_search", false},
                                                       {"suffix", ""},
                                                       {"logit_bias", Json::object()},
                                                       {"tools", Json::array()},
                                                       {"functions", Json::array()}};
  for (const auto& [key, neutral] : kKeys) {
    const Json* const value = body.find(key);
    if (!value || *value == neutral) continue;
    if (std::string(key) == "best_of" && body.find("n") && *value == *body.find("n")) continue;
    throw Refusal(400,
                  "'" + std::string(key) +
                      "' would change the answer, and draftlab's decoders"
                      " do not know it; leave it out",
                  key);
  }
  const Json* const format = body.find("response_format");
  if (format && *format != Json({{"type", "text"}}))
    throw Refusal(400, "'response_format' is to be text; draftlab's decoders know no other",
                  "response_format");
}

}  // namespace

Wanted read_wanted(Protocol protocol, const std::string& text, const Limits& limits) {
  const Body body(text);
  refuse_unknown(body);
  Wanted wanted;
  wanted.protocol = protocol;
  const bool chat = protocol == Protocol::chat;
  if (const auto prompt = read_task_prompt(body))
    wanted.openings = {*prompt};
  else
    wanted.openings = chat ? read_messages(body) : read_prompt(body);
  const char* const most =
      chat && body.find("max_completion_tokens") ? "max_completion_tokens" : "max_tokens";
  wanted.echo = body.truth("echo");
  wanted.tokens = body.integer(most, wanted.echo ? 0 : 1, limits.tokens)
                      .value_or(chat ? limits.tokens : std::min<std::int64_t>(16, limits.tokens));
  wanted.answers = body.integer("n", 1, limits.answers).value_or(1);
  const auto all = static_cast<std::int64_t>(wanted.openings.size()) * wanted.answers;
  if (all > limits.answers)
    throw Refusal(400,
                  "the request asks for " + std::to_string(all) + " answers, and at most " +
                      std::to_string(limits.answers) + " are given at once",
                  "prompt");
  wanted.stream = body.truth("stream");
  if (const Json* const options = body.find("stream_options"))
    wanted.usage = options->is_object() && options->value("include_usage", Json()) == true;
  wanted.ignore_end = body.truth("ignore_eos");
  wanted.likeliest = read_likeliest(protocol, body);
  if (wanted.likeliest && wanted.stream)
    throw Refusal(400,
                  "probabilities are known once an answer is whole, so 'logprobs' goes with "
                  "an answer that is not streamed",
                  "logprobs");
  if (std::holds_alternative<TaskPrompt>(wanted.openings.front()) &&
      (wanted.echo || wanted.likeliest))
    throw Refusal(400,
                  "a prompt of the config's task has open positions anywhere, so neither "
                  "'echo' nor 'logprobs' goes with 'draftlab'",
                  "draftlab");
  wanted.temperature = body.number("temperature", 0, 100);
  wanted.top_p = body.number("top_p", 0, 1);
  wanted.top_k = body.integer("top_k", -1, INT32_MAX);
  if (const auto seed = body.integer("seed", INT64_MIN, INT64_MAX))
    wanted.seed = static_cast<std::uint64_t>(*seed);
  wanted.stops = read_stops(body);
  return wanted;
}

}  // namespace draftlab
