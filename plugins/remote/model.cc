// A model that lives in another process. A batch of questions is one message, and its logits come
// back in shared memory on one machine, as raw arrays otherwise.
#include <algorithm>
#include <limits>

#include "core/loop/contract.h"
#include "plugins/remote/remote_model.h"
#include "plugins/remote/remote_parts.h"

namespace draftlab::remote {
namespace {

std::uint64_t next_sequence() {
  static std::uint64_t last = 0;
  return ++last;
}

// The other process forgets a sequence when this object ends.
struct RemoteSequence final : Sequence {
  RemoteSequence(const Canvas& its, const Blocks& cut, std::shared_ptr<Remote> the_model)
      : Sequence(its), blocks(cut), model(std::move(the_model)), number(next_sequence()) {}
  ~RemoteSequence() override { model->forget(number); }
  const Blocks blocks;
  const std::shared_ptr<Remote> model;
  const std::uint64_t number;
};

Json machine_json(const Machine& machine) {
  return {{"device", word(machine.device)},
          {"dtype", word(machine.dtype)},
          {"threads", machine.threads}};
}

// Says whether a row of logits makes no distribution.
bool broken(std::span<const float> row) {
  bool finite = false, wrong = false;
  for (const float x : row) {
    wrong |= !(x <= std::numeric_limits<float>::max());
    finite |= x >= std::numeric_limits<float>::lowest();
  }
  return wrong || !finite;
}

}  // namespace

void RemoteModel::load(const Machine& machine) {
  machine_ = machine;
  connect();
}

void RemoteModel::connect() {
  remote_ = renew_();
  Message message;
  message.header["machine"] = machine_json(machine_);
  const ModelFacts facts =
      understood(*remote_, remote_->call("load", std::move(message)), [](const Message& said) {
        const Json& from = said.header.at("r");
        ModelFacts its;
        its.vocabulary = whole<int>(from.at("vocabulary"));
        its.longest = whole<int>(from.at("longest"));
        its.mask = whole<Token>(from.at("mask"));
        for (const Json& stop : from.at("stops")) its.stops.push_back(whole<Token>(stop));
        its.family = from.at("family");
        its.checkpoint = from.at("checkpoint");
        its.digest = from.at("digest");
        its.parameters = whole<std::int64_t>(from.at("parameters"));
        its.rounding = unit_roundoff(Precision::f32);  // Logits cross the wire in single precision.
        return its;
      });
  if (facts.vocabulary < 2) remote_->refuse("has a vocabulary of fewer than two tokens");
  check_facts(remote_->author(), facts);
  if (facts_.vocabulary != 0 &&
      (facts.vocabulary != facts_.vocabulary || facts.digest != facts_.digest))
    remote_->refuse("is another model than before it was connected to again");
  facts_ = facts;
}

std::unique_ptr<Sequence> RemoteModel::open(const Canvas& canvas, const Blocks& blocks) {
  remote_->peer().ensure();
  if (!remote_->current()) connect();  // The process was started again meanwhile.
  if (facts_.longest > 0 && canvas.length() > facts_.longest)
    throw ConfigError("{} holds {} positions, and the prompt's canvas has {}", remote_->who(),
                      facts_.longest, canvas.length());
  return std::make_unique<RemoteSequence>(canvas, blocks, remote_);
}

Json RemoteModel::described(const Pending& pending, Message& message) const {
  const auto& sequence = static_cast<const RemoteSequence&>(*pending.sequence);
  const Question& question = *pending.question;
  const std::vector<Form>& forms = remote_->spec().forms;
  if (std::find(forms.begin(), forms.end(), question.form()) == forms.end())
    remote_->refuse("does not answer questions of the form '{}'", name(question.form()));
  Message canvas;  // Its arrays are put behind those of the questions before it.
  describe(sequence.canvas, canvas);
  const std::string at = std::to_string(sequence.number);
  message.add(("tokens " + at).c_str(), canvas.array<std::int32_t>("tokens"));
  message.add(("order " + at).c_str(), canvas.array<std::int32_t>("order"));
  std::vector<std::int32_t> tentative;
  if (canvas.has("tentative")) {
    const auto those = canvas.array<std::int32_t>("tentative");
    tentative.assign(those.begin(), those.end());
  }
  Json nodes = Json::array(), asks = Json::array();
  for (const Node& node : question.nodes) nodes.push_back({node.parent, node.position, node.token});
  for (const Ask& ask : question.asks) asks.push_back({ask.node, ask.positions});
  return {{"sequence", sequence.number},
          {"kind", name(question.kind)},
          {"view", name(question.view)},
          {"shallow", question.shallow},
          {"nodes", std::move(nodes)},
          {"asks", std::move(asks)},
          {"tentative", std::move(tentative)},
          {"blocks", {sequence.blocks.size, sequence.blocks.origin, sequence.blocks.part}}};
}

void RemoteModel::evaluate(std::span<Pending> batch) {
  Message message;
  message.header["batch"] = Json::array();
  std::size_t asked = 0;
  for (const Pending& pending : batch) {
    message.header["batch"].push_back(described(pending, message));
    for (const Ask& ask : pending.question->asks) asked += ask.positions.size();
  }
  const auto width = static_cast<std::size_t>(facts_.vocabulary);
  const std::shared_ptr<SharedMemory> memory = remote_->peer().share(
      remote_->who(), std::max<std::size_t>(1, asked * width) * sizeof(float));
  if (memory) {
    // What the other process does not write is seen to be no number.
    std::fill_n(reinterpret_cast<float*>(memory->at()), asked * width,
                std::numeric_limits<float>::quiet_NaN());
    message.header["into"] = memory->slot();
  }
  auto answer = std::make_shared<Message>(remote_->call("answer", std::move(message)));
  understood(*remote_, *answer, [&](const Message& said) {
    const Json& costs = said.header.at("r");
    if (costs.size() != batch.size()) remote_->refuse("answers another number of questions");
    for (std::size_t i = 0; i < batch.size(); ++i)
      batch[i].rows = cost(costs[i].at(0)), batch[i].positions = cost(costs[i].at(1));
    const std::string kind = said.header.at("gives");
    if (kind == "weights") return weights(said, batch, asked);
    std::shared_ptr<const void> owner = answer;
    std::span<const float> rows;
    if (kind == "shared") {
      if (!memory) remote_->refuse("says that its logits are in memory, and was given none");
      check_shape(said.header.at("shape"), asked);
      owner = memory;
      rows = {reinterpret_cast<const float*>(memory->at()), asked * width};
    } else if (kind == "logits") {
      check_shape(said.shape("logits"), asked);
      rows = said.array<float>("logits");
    } else {
      remote_->refuse("gives '{}', and the wire has shared, logits and weights", kind);
    }
    for (const Pending& pending : batch)
      for (const Ask& ask : pending.question->asks)
        for (const std::int32_t position : ask.positions) {
          const std::span<const float> row = rows.first(width);
          if (broken(row))
            remote_->refuse("answers position {} with logits that are not numbers", position);
          pending.answer->add(ask.node, position,
                              Distribution::from_logits(owner, row, facts_.mask));
          rows = rows.subspan(width);
        }
  });
}

std::int64_t RemoteModel::cost(const Json& said) const {
  const auto computed = whole<std::int64_t>(said);
  if (computed < 0 || computed > kMostComputed)
    remote_->refuse("says that it computed {} rows or positions", computed);
  return computed;
}

void RemoteModel::check_shape(const Json& shape, std::size_t asked) const {
  if (shape == Json{static_cast<std::int64_t>(asked), facts_.vocabulary}) return;
  remote_->refuse("answers {} positions of {} tokens with an array of shape {}", asked,
                  facts_.vocabulary, shape.dump());
}

// Reads probabilities in double precision, up to a factor, so that toys are exact.
void RemoteModel::weights(const Message& said, std::span<Pending> batch, std::size_t asked) {
  check_shape(said.shape("weights"), asked);
  std::span<const double> rows = said.array<double>("weights");
  const auto width = static_cast<std::size_t>(facts_.vocabulary);
  for (const Pending& pending : batch)
    for (const Ask& ask : pending.question->asks)
      for (const std::int32_t position : ask.positions) {
        const Eigen::Map<const Eigen::ArrayXd> row(rows.data(), facts_.vocabulary);
        if (!(row >= 0).all() || !row.isFinite().all())
          remote_->refuse("answers position {} with weights that are not numbers from 0 on",
                          position);
        pending.answer->add(ask.node, position, Distribution(row));
        rows = rows.subspan(width);
      }
}

std::unique_ptr<Model> make_model(Instance remote) {
  const std::shared_ptr<Remote> first(std::move(remote));
  return std::make_unique<RemoteModel>(first->spec(), [first]() -> std::shared_ptr<Remote> {
    return first->current() ? first : std::make_shared<Remote>(*first, Remote::Again());
  });
}

}  // namespace draftlab::remote
