// Beam search on a table of conditional probabilities that can be followed by hand.
#include "experiments/distill/beam_search.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

namespace draftlab {
namespace {

// Tokens 0 and 1 are letters, 2 ends a text. The prompt is one token; a prefix that is not in the
// table ends at once.
class Tree final : public Model {
 public:
  explicit Tree(std::map<std::vector<Token>, std::vector<double>> table)
      : table_(std::move(table)) {}
  void load(const Machine&) override {}
  ModelFacts facts() const override {
    ModelFacts facts;
    facts.vocabulary = 3;
    facts.stops = {2};
    return facts;
  }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    return std::make_unique<Sequence>(canvas);
  }
  int forwards = 0;

 protected:
  void evaluate(std::span<Pending> batch) override {
    ++forwards;
    for (Pending& pending : batch) {
      const Canvas& canvas = pending.sequence->canvas;
      std::vector<Token> prefix;
      for (std::int32_t i = 1; i < canvas.length() && !canvas.masked(i); ++i)
        prefix.push_back(canvas.token(i));
      const auto found = table_.find(prefix);
      const std::vector<double> row =
          found == table_.end() ? std::vector<double>{0, 0, 1} : found->second;
      const std::int32_t position = pending.question->asks[0].positions[0];
      CHECK(position == static_cast<std::int32_t>(prefix.size()) + 1);
      pending.answer->add(kRoot, position,
                          Distribution(Eigen::Map<const Eigen::ArrayXd>(row.data(), 3)));
    }
  }

 private:
  std::map<std::vector<Token>, std::vector<double>> table_;
};

Prompt prompt(int answer_tokens) {
  Prompt prompt;
  prompt.length = 1 + answer_tokens;
  prompt.given = {{0, 0}};
  return prompt;
}

}  // namespace

TEST_CASE("the second-best beginning has the best end: greedy misses it, two beams find it") {
  // 0 leads (0.6), but then splits evenly: 0 0 and 0 1 have 0.3 each. 1 (0.4) goes on to 1 1 with
  // 0.9: 0.36.
  Tree tree({{{}, {0.6, 0.4, 0}}, {{0}, {0.5, 0.5, 0}}, {{1}, {0.1, 0.9, 0}}});
  CHECK(beam_search(tree, prompt(4), {1, 0}) == std::vector<Token>{0, 0, 2});
  CHECK(beam_search(tree, prompt(4), {2, 0}) == std::vector<Token>{1, 1, 2});
  CHECK(tree.forwards == 3 + 3);  // All hypotheses of a length are in one forward.
}

TEST_CASE("the length penalty: a longer answer of less probability can score higher") {
  // "2": 0.4, one token. "0 1 2": 0.36, three tokens. 1 leads to a half.
  Tree tree({{{}, {0.36, 0.24, 0.4}}, {{0}, {0, 1, 0}}, {{1}, {0.5, 0, 0.5}}});
  CHECK(beam_search(tree, prompt(4), {4, 0}) == std::vector<Token>{2});
  // log 0.4 / (6/6)^a = -0.916; log 0.36 / (8/6)^a = -1.022 / 1.333^a: larger from a = 0.38 on.
  CHECK(beam_search(tree, prompt(4), {4, 0.3}) == std::vector<Token>{2});
  CHECK(beam_search(tree, prompt(4), {4, 0.6}) == std::vector<Token>{0, 1, 2});
}

TEST_CASE("an answer that the canvas cuts counts as it stands") {
  Tree tree({{{}, {0.6, 0.4, 0}}, {{0}, {0.5, 0.5, 0}}, {{1}, {0.1, 0.9, 0}}});
  CHECK(beam_search(tree, prompt(1), {2, 0.6}) == std::vector<Token>{0});
  CHECK(beam_search(tree, prompt(2), {2, 0.6}) == std::vector<Token>{1, 1});
}

TEST_CASE("with a place for every hypothesis, the search is exhaustive") {
  // All answers of at most three letters, weighed one by one.
  std::map<std::vector<Token>, std::vector<double>> table;
  const std::vector<std::vector<Token>> prefixes{{}, {0}, {1}, {0, 0}, {0, 1}, {1, 0}, {1, 1}};
  double x = 0.37;
  for (const auto& prefix : prefixes) {
    std::vector<double> row(3);
    for (double& p : row) p = 0.05 + (x = std::fmod(x * 3.9 * (1 - x), 1.0));
    const double sum = row[0] + row[1] + row[2];
    for (double& p : row) p /= sum;
    table[prefix] = row;
  }
  for (const double penalty : {0.0, 0.6, 2.0}) {
    std::vector<Token> best;
    double highest = -1e300;
    const auto consider = [&](const std::vector<Token>& prefix, double log_probability) {
      const double score =
          log_probability / std::pow((5 + static_cast<double>(prefix.size())) / 6, penalty);
      if (score > highest) highest = score, best = prefix;
    };
    const auto walk = [&](const auto& self, const std::vector<Token>& prefix,
                          double log_probability) -> void {
      for (Token token = 0; token < 3; ++token) {
        std::vector<Token> longer = prefix;
        longer.push_back(token);
        const double its = log_probability + std::log(table.at(prefix)[token]);
        if (token == 2 || longer.size() == 3)
          consider(longer, its);
        else
          self(self, longer, its);
      }
    };
    walk(walk, {}, 0);
    Tree tree(table);
    CHECK(beam_search(tree, prompt(3), {8, penalty}) == best);
  }
}

}  // namespace draftlab
