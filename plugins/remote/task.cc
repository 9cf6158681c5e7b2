// A task that lives in another process: it hands out prompts and scores what was decoded.
#include <algorithm>

#include "plugins/remote/remote_parts.h"

namespace draftlab::remote {
namespace {

class RemoteTask final : public Task {
 public:
  explicit RemoteTask(Instance remote) : remote_(std::move(remote)) {}

  void load(const Tokenizer* tokenizer) override {
    tokenizer_ = tokenizer;
    std::vector<std::string> texts;
    understood(*remote_, remote_->call("load"), [&](const Message& said) {
      const Json& loaded = said.header.at("r");
      size_ = loaded.at(0), digest_ = loaded.at(1);
      if (loaded.size() > 2) texts = loaded.at(2).get<std::vector<std::string>>();
    });
    if (remote_->has("encoded")) tell_tokens(texts);
    if (size_ < 0) remote_->refuse("has a negative number of prompts");
  }
  int size() const override { return size_; }
  std::string digest() const override { return digest_; }

  Prompt prompt(int index) const override {
    Message message;
    message.header["index"] = index;
    return understood(
        *remote_, remote_->call("prompt", std::move(message)), [](const Message& said) {
          const Json& from = said.header.at("r");
          Prompt prompt;
          prompt.id = from.at("id"), prompt.length = from.at("length");
          prompt.given = from.at("given").get<std::vector<std::pair<std::int32_t, Token>>>();
          prompt.reference = from.at("reference").get<std::vector<Token>>();
          prompt.text = from.at("text"), prompt.offset = from.at("offset");
          prompt.ends = from.at("ends").get<std::vector<Token>>();
          prompt.choices = from.value("choices", std::vector<std::vector<Token>>());
          return prompt;
        });
  }

  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    if (!remote_->has("score")) return {};
    return understood(*remote_, remote_->call("score", decoded(prompt, canvas)),
                      [](const Message& said) {
                        std::vector<Score> scores;
                        for (const Json& each : said.header.at("r"))
                          scores.push_back({each.at(0), each.at(1)});
                        return scores;
                      });
  }

  // Where the class has no method `text`, the tokenizer decodes the generated tokens.
  std::string text(const Prompt& prompt, const Canvas& canvas) const override {
    if (remote_->has("text"))
      return understood(*remote_, remote_->call("text", decoded(prompt, canvas)),
                        [](const Message& said) { return said.header.at("r").get<std::string>(); });
    return generated(prompt, canvas);
  }

 private:
  // Tells the class the tokens of its texts and what ids mean (nil where the model has no text),
  // and hears how many prompts it makes of them.
  void tell_tokens(const std::vector<std::string>& texts) {
    Message message;
    message.header["tokens"] = nullptr;
    if (tokenizer_) {
      Json tokens = Json::array();
      for (const std::string& text : texts) tokens.push_back(tokenizer_->encode(text));
      message.header["tokens"] = std::move(tokens);
      message.header["begin"] = tokenizer_->begin();
      message.header["separator"] = tokenizer_->separator();
      message.header["ends"] = tokenizer_->ends();
    }
    size_ = understood(*remote_, remote_->call("encoded", std::move(message)),
                       [](const Message& said) { return said.header.at("r").get<int>(); });
  }

  // Returns the text of the generated tokens, up to the first that the prompt names as an end.
  std::string generated(const Prompt& prompt, const Canvas& canvas) const {
    if (!tokenizer_) return {};
    std::vector<Token> tokens;
    for (std::int32_t i = 0; i < canvas.length(); ++i) {
      if (canvas.given(i) || canvas.masked(i)) continue;
      const Token token = canvas.token(i);
      if (std::find(prompt.ends.begin(), prompt.ends.end(), token) != prompt.ends.end()) break;
      tokens.push_back(token);
    }
    return tokenizer_->decode(tokens);
  }
  Message decoded(const Prompt& prompt, const Canvas& canvas) const {
    Message message;
    message.header["prompt"] = prompt.id;
    message.header["generated"] = generated(prompt, canvas);
    describe(canvas, message);
    return message;
  }

  Instance remote_;
  const Tokenizer* tokenizer_ = nullptr;
  int size_ = 0;
  std::string digest_;
};

}  // namespace

std::unique_ptr<Task> make_task(Instance remote) {
  return std::make_unique<RemoteTask>(std::move(remote));
}

}  // namespace draftlab::remote
