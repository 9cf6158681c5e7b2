// A task that lives in another process: it hands out prompts and scores what was decoded.
#include "plugins/remote/remote_parts.h"

namespace draftlab::remote {
namespace {

class RemoteTask final : public Task {
 public:
  explicit RemoteTask(Instance remote) : remote_(std::move(remote)) {}

  void load(const Tokenizer* tokenizer) override {
    tokenizer_ = tokenizer;
    understood(*remote_, remote_->call("load"), [&](const Message& said) {
      size_ = said.header.at("r").at(0);
      digest_ = said.header.at("r").at(1);
    });
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
    return generated(canvas);
  }

 private:
  std::string generated(const Canvas& canvas) const {
    if (!tokenizer_) return {};
    std::vector<Token> tokens;
    for (std::int32_t i = 0; i < canvas.length(); ++i)
      if (!canvas.given(i) && !canvas.masked(i)) tokens.push_back(canvas.token(i));
    return tokenizer_->decode(tokens);
  }
  Message decoded(const Prompt& prompt, const Canvas& canvas) const {
    Message message;
    message.header["prompt"] = prompt.id;
    message.header["generated"] = generated(canvas);
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
