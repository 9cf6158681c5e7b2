#include "core/model/recurrent.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <random>

#include "core/base/error.h"
#include "core/loop/reading.h"

namespace draftlab {
namespace {

constexpr int kTokens = 3, kLength = 24;

// A state of two numbers, of which one is a shift and the other forgets slowly.
class Small final : public RecurrentModel {
 public:
  using RecurrentModel::RecurrentModel;
  void load(const Machine&) override {}
  // How many rows were read.
  std::int64_t read = 0;

 private:
  ModelFacts described() const override {
    ModelFacts facts;
    facts.vocabulary = kTokens;
    return facts;
  }
  std::size_t state_size() const override { return 2; }
  void run(std::span<const RecurrentRow> rows) override {
    for (const RecurrentRow& row : rows) {
      ++read;
      const float shift = row.before[0], memory = row.before[1];
      const float input = std::sin(1 + 2 * static_cast<float>(row.token));
      row.after[0] = input;
      row.after[1] = 0.8F * memory + std::tanh(input + 0.5F * shift - 0.3F * memory);
      for (int token = 0; row.logits && token < kTokens; ++token)
        row.logits[token] = std::cos(static_cast<float>(token) + 3 * row.after[1] + shift);
    }
  }
};

// A model, a canvas that begins with one token, and the sequence of it.
struct Asked {
  Small model;
  Canvas canvas;
  std::unique_ptr<Sequence> sequence;
  explicit Asked(const RollbackRules& rules)
      : model(rules),
        canvas(kLength, std::vector<std::pair<std::int32_t, Token>>{{0, 1}, {9, 2}}),
        sequence(model.open(canvas, {})) {}

  Answer ask(const Question& question) {
    Answer answer;
    Pending pending{sequence.get(), &question, &answer};
    model.answer(std::span(&pending, 1));
    return answer;
  }
  void settle() {
    while (const std::optional<Question> due = model.due(*sequence)) ask(*due);
  }
  const Counts& counts() const { return sequence->counts(); }
};

std::int32_t first_masked(const Canvas& canvas, std::int32_t from = 0) {
  while (from < canvas.length() && !canvas.masked(from)) ++from;
  return from;
}

// A tree of drafts, asked at every node and at the root.
Question drafted(const Canvas& canvas, const std::vector<std::pair<int, Token>>& drafts) {
  Question question{.kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {}};
  question.asks.push_back({kRoot, {first_masked(canvas)}});
  for (const auto& [parent, token] : drafts) {
    const std::int32_t before = parent == kRoot ? -1 : question.nodes[parent].position;
    const std::int32_t position = first_masked(canvas, before + 1);
    question.nodes.push_back({parent, position, token});
    const std::int32_t next = first_masked(canvas, position + 1);
    if (next < canvas.length())
      question.asks.push_back({static_cast<int>(question.nodes.size()) - 1, {next}});
  }
  return question;
}

bool same(const Answer& a, const Answer& b, const Question& question) {
  for (const Ask& ask : question.asks)
    for (const std::int32_t at : ask.positions)
      if ((a.at(ask.node, at).probabilities() != b.at(ask.node, at).probabilities()).any())
        return false;
  return true;
}

// Commits a path of the question and a token that it did not draft.
void commit(Canvas& canvas, const Question& question, int node, Token after) {
  std::vector<int> path;
  for (int at = node; at != kRoot; at = question.nodes[at].parent) path.insert(path.begin(), at);
  for (const int at : path) canvas.commit(question.nodes[at].position, question.nodes[at].token);
  if (const std::int32_t next = first_masked(canvas); next < canvas.length())
    canvas.commit(next, after);
}

TEST_CASE(
    "recurrent: snapshot and replay answer as a model that reads the text anew, bit for bit") {
  std::mt19937 random(3);
  for (int decode = 0; decode < 60; ++decode) {
    Asked ways[] = {Asked({Rollback::snapshot, Rerun::ride}),
                    Asked({Rollback::replay, Rerun::ride}), Asked({Rollback::replay, Rerun::own})};
    while (!ways[0].canvas.masked_positions().empty()) {
      std::vector<std::pair<int, Token>> drafts;
      const int left = static_cast<int>(ways[0].canvas.masked_positions().size());
      for (int i = 0; i < std::min<int>(left, static_cast<int>(random() % 6)); ++i)
        drafts.emplace_back(i == 0 ? kRoot : static_cast<int>(random() % (i + 1)) - 1,
                            static_cast<Token>(random() % kTokens));
      const Question question = drafted(ways[0].canvas, drafts);
      const int stop = static_cast<int>(random() % (drafts.size() + 1)) - 1;
      const Token after = static_cast<Token>(random() % kTokens);
      Asked anew({Rollback::snapshot, Rerun::ride});
      anew.canvas = ways[0].canvas;
      const Answer expected = anew.ask(question);
      for (Asked& way : ways) {
        CHECK(same(way.ask(question), expected, question));
        commit(way.canvas, question, stop, after);
        way.settle();
      }
    }
    CHECK(ways[0].counts().rerun == 0);
    CHECK(ways[1].counts()[Kind::commit].calls == 0);
    CHECK(ways[1].counts().kept_bytes <= ways[0].counts().kept_bytes);
  }
}

// The text 1 _ _ _ ..., drafts 0, 1 and 2, of which the first is accepted, and 2 after it.
struct OneRejection {
  Asked asked;
  Question question;
  explicit OneRejection(const RollbackRules& rules)
      : asked(rules), question(drafted(asked.canvas, {{kRoot, 0}, {0, 1}, {1, 2}})) {
    asked.ask(question);
    commit(asked.canvas, question, 0, 2);
  }
};

TEST_CASE("recurrent: what is kept and what runs again is counted") {
  constexpr std::int64_t kState = 2 * sizeof(float);
  OneRejection snapshot({Rollback::snapshot, Rerun::ride});
  CHECK(snapshot.asked.counts().kept_bytes == 3 * kState);
  snapshot.asked.settle();
  snapshot.asked.ask(drafted(snapshot.asked.canvas, {}));
  CHECK(snapshot.asked.counts().rerun == 0);
  CHECK(snapshot.asked.model.read == 5);

  OneRejection ride({Rollback::replay, Rerun::ride});
  CHECK(ride.asked.counts().kept_bytes == kState);
  ride.asked.settle();
  CHECK(ride.asked.model.read == 4);
  ride.asked.ask(drafted(ride.asked.canvas, {}));
  CHECK(ride.asked.counts().rerun == 1);
  CHECK(ride.asked.model.read == 6);
  CHECK(ride.asked.counts().nfe() == 2);

  OneRejection own({Rollback::replay, Rerun::own});
  own.asked.settle();
  CHECK(own.asked.counts().rerun == 1);
  CHECK(own.asked.counts()[Kind::commit].calls == 1);
  own.asked.ask(drafted(own.asked.canvas, {}));
  CHECK(own.asked.counts().nfe() == 3);
  CHECK(own.asked.model.read == 6);
}

TEST_CASE("recurrent: with all drafts accepted nothing runs again") {
  for (const Rollback rollback : {Rollback::snapshot, Rollback::replay, Rollback::none}) {
    Asked asked({rollback, Rerun::ride});
    const Question question = drafted(asked.canvas, {{kRoot, 0}, {0, 1}, {1, 2}});
    asked.ask(question);
    commit(asked.canvas, question, 2, 0);
    asked.settle();
    asked.ask(drafted(asked.canvas, {}));
    CHECK(asked.counts().rerun == 0);
    CHECK(asked.model.read == 5);
  }
}

TEST_CASE("recurrent: each path of a tree is replayed from the commit") {
  const std::vector<std::pair<int, Token>> tree = {{kRoot, 0}, {0, 1}, {0, 2}};
  Asked snapshot({Rollback::snapshot, Rerun::ride}), replay({Rollback::replay, Rerun::ride});
  snapshot.ask(drafted(snapshot.canvas, tree));
  replay.ask(drafted(replay.canvas, tree));
  CHECK(snapshot.model.read == 4);
  CHECK(replay.model.read == 5);
  CHECK(replay.counts().rerun == 1);
}

TEST_CASE("recurrent: without a way back the text is read again, and counted so") {
  OneRejection none({Rollback::none, Rerun::ride});
  Reading reading(kLength);
  CHECK(none.asked.counts().kept_bytes == 0);
  Canvas before(kLength, std::vector<std::pair<std::int32_t, Token>>{{0, 1}, {9, 2}});
  CHECK(reading.goes_on(before, none.question));
  const Question next = drafted(none.asked.canvas, {});
  CHECK_FALSE(reading.goes_on(none.asked.canvas, next));
  // The model cannot do it alone.
  CHECK_THROWS_AS(none.asked.ask(next), Fault);
  none.asked.sequence->restart();
  Asked anew({Rollback::snapshot, Rerun::ride});
  anew.canvas = none.asked.canvas;
  CHECK(same(none.asked.ask(next), anew.ask(next), next));
  // The prompt's token and the accepted draft.
  CHECK(none.asked.counts().rerun == 2);
}

TEST_CASE("recurrent: what it cannot do is refused") {
  CHECK_THROWS_AS(Small({Rollback::cut, Rerun::ride}), ConfigError);
  Small model({Rollback::snapshot, Rerun::ride});
  const Canvas open(4, {});
  CHECK_THROWS_AS(model.open(open, {}), ConfigError);
  Asked asked({Rollback::snapshot, Rerun::ride});
  Question question = drafted(asked.canvas, {});
  question.view = View::bidirectional;
  CHECK_THROWS_AS(asked.ask(question), ConfigError);
  question.view = View::causal;
  question.asks[0].positions.push_back(2);
  CHECK_THROWS_AS(asked.ask(question), ConfigError);
}

}  // namespace
}  // namespace draftlab
