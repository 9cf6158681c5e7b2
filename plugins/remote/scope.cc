#include "plugins/remote/scope.h"

#include <atomic>

namespace draftlab::remote {
namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

Scope::Scope(const DecodeOptions* decode) : id_(next_id()), decode_(decode) {}

int Scope::keep(Distribution distribution) {
  distributions_.push_back(std::move(distribution));
  return static_cast<int>(distributions_.size()) - 1;
}

int Scope::keep(Answer answer) {
  answers_.push_back(std::move(answer));
  return static_cast<int>(answers_.size()) - 1;
}

int Scope::keep_rows(const Answer& answer, const Question& question) {
  const auto first = static_cast<int>(distributions_.size());
  for (const Ask& ask : question.asks)
    for (const std::int32_t position : ask.positions)
      distributions_.push_back(answer.at(ask.node, position));
  return first;
}

const Answer& Scope::answer(const Json& number) const {
  const auto at = number.get<std::size_t>();
  if (at >= answers_.size()) throw Fault("an answer that this step has not given");
  return answers_[at];
}

Distribution Scope::resolve(const Json& reference, const Message& from) {
  if (reference.is_number_integer()) {
    const auto at = reference.get<std::size_t>();
    if (at >= distributions_.size()) throw Fault("a distribution that this step does not have");
    return distributions_[at];
  }
  for (const auto& [made_of, made] : made_)
    if (made_of == reference) return made;
  Distribution distribution = shaped_as(reference, from);
  made_.emplace_back(reference, distribution);
  return distribution;
}

std::vector<Distribution> Scope::resolve_all(const Json& references, const Message& from) {
  std::vector<Distribution> all;
  for (const Json& reference : references) all.push_back(resolve(reference, from));
  return all;
}

Distribution Scope::shaped_as(const Json& reference, const Message& from) {
  const std::string how = reference.at(0);
  if (how == "drawn") {
    if (!decode_) throw Fault("nothing is drawn here, so there is no temperature to draw at");
    Sampling sampling = decode_->sampling;
    if (!reference.at(2).is_null()) sampling.temperature = reference.at(2);
    if (!reference.at(3).is_null()) sampling.top_k = reference.at(3);
    if (!reference.at(4).is_null()) sampling.top_p = reference.at(4);
    if (!(sampling.temperature >= 0) || sampling.top_k < 0 || !(sampling.top_p > 0))
      throw Fault("temperature and top_k must be at least 0, and top_p above 0");
    return shaped(resolve(reference.at(1), from), sampling);
  }
  if (how == "residual")
    return residual(resolve(reference.at(1), from), resolve(reference.at(2), from));
  if (how == "point") {
    const int token = reference.at(1), size = reference.at(2);
    if (token < 0 || token >= size) throw Fault("a point mass at a token that is none");
    return Distribution::point(token, size);
  }
  if (how != "weights") throw Fault("a distribution made in the unknown way '{}'", how);
  const auto weights = from.numbers(reference.at(1));
  for (const double weight : weights)
    if (!(weight >= 0 && std::isfinite(weight)))
      throw Fault("weights of a distribution must be finite and not negative");
  return Distribution(
      Eigen::Map<const Eigen::ArrayXd>(weights.data(), static_cast<Eigen::Index>(weights.size())));
}

Message Scope::numbers(const Message& query) {
  std::vector<double> numbers;
  for (const Json& reference : query.header.at("of")) {
    const Distribution its = resolve(reference, query);
    numbers.insert(numbers.end(), {its.max(), its.margin(), its.entropy(), its.renyi2()});
  }
  Message reply;
  reply.add("numbers", std::span<const double>(numbers), {numbers.size() / 4, 4});
  return reply;
}

Message Scope::serve(const Message& query) {
  const Json& header = query.header;
  if (header.at("scope").get<std::uint64_t>() != id_)
    throw Fault("a distribution of another step was used; it holds for one call only");
  const std::string wanted = header.at("q");
  Message reply;
  reply.header = {{"a", true}};
  if (wanted == "p") {
    const Json &of = header.at("of"), &tokens = header.at("tokens");
    std::vector<double> probabilities;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const Distribution its = resolve(of.at(i), query);
      const Token token = tokens[i];
      if (token < 0 || token >= its.size())
        throw Fault("token {} of a vocabulary of {}", token, its.size());
      probabilities.push_back(its.probability(token));
    }
    reply.header["a"] = probabilities;
  } else if (wanted == "numbers") {
    reply = numbers(query);
    reply.header["a"] = true;
  } else if (wanted == "top") {
    const Distribution its = resolve(header.at("of"), query);
    const std::vector<Token> best = its.best(std::min(its.size(), header.at("n").get<int>()));
    std::vector<double> probabilities;
    for (const Token token : best) probabilities.push_back(its.probability(token));
    reply.add("tokens", std::span<const Token>(best));
    reply.add("p", std::span<const double>(probabilities));
  } else if (wanted == "row") {
    const Distribution its = resolve(header.at("of"), query);
    const Eigen::ArrayXd& row = its.probabilities();
    reply.add("p", std::span(row.data(), static_cast<std::size_t>(row.size())));
  } else if (wanted == "find") {
    const Distribution* const its =
        answer(header.at("answer")).find(header.at("node"), header.at("position"));
    reply.header["a"] = its ? Json(keep(*its)) : Json();
  } else if (wanted == "accept" || wanted == "replace") {
    if (!acceptance_) throw Fault("only a verifier may ask the acceptance rule");
    const Distribution target = resolve(header.at("target"), query);
    const Distribution raw = resolve(header.at("raw"), query);
    Distribution drawn;
    if (!header.at("drawn").is_null()) drawn = resolve(header.at("drawn"), query);
    const Trial trial{header.at("token"), target, drawn.empty() ? nullptr : &drawn,
                      header.at("depth"), raw};
    if (wanted == "accept") {
      reply.header["a"] = acceptance_->probability(trial);
    } else {
      Distribution replacement = acceptance_->replacement(trial);
      reply.header["a"] = replacement.empty() ? Json() : Json(keep(std::move(replacement)));
    }
  } else {
    throw Fault("the unknown question '{}'", wanted);
  }
  return reply;
}

}  // namespace draftlab::remote
