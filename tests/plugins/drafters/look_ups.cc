// Drafters without a model, on texts whose repetitions can be seen.
#include <doctest/doctest.h>

#include <fstream>

#include "tests/plugins/scripted_step.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

using testing::of;
using Tokens = std::vector<Token>;

struct LookUp : testing::ScriptedStep {
  LookUp(const Tokens& text, int masks, int draft_length)
      : testing::ScriptedStep(committed(text, masks)) {
    for (int i = 0; i < masks; ++i)
      window.positions.push_back(static_cast<std::int32_t>(text.size()) + i);
    window.span = masks;
    decode.draft_length = draft_length;
    vocabulary = 10;
  }
  static Canvas committed(const Tokens& text, int masks) {
    std::vector<std::pair<std::int32_t, Token>> prompt;
    for (const Token token : text)
      prompt.emplace_back(static_cast<std::int32_t>(prompt.size()), token);
    return Canvas(static_cast<int>(text.size()) + masks, prompt);
  }
  // Where nothing is found, the target draws token 9.
  Proposal propose(const Drafter& drafter) {
    chance = SampledChance(1);
    return run(drafter.propose(step()),
               {{window.positions.front(), of({0, 0, 0, 0, 0, 0, 0, 0, 0, 1})}});
  }
  Proposal propose(const std::string& name, const std::string& options = "") {
    return propose(*testing::part(&Registries::drafters, name, options));
  }
};

Tokens tokens_of(const Proposal& proposal) {
  Tokens tokens;
  for (const Node& node : proposal.nodes) tokens.push_back(node.token);
  return tokens;
}

std::string corpus(const std::string& lines) {
  static int files = 0;
  const std::string path = testing::scratch("corpus-" + std::to_string(files++) + ".txt");
  std::ofstream(path) << lines;
  return path;
}

// After 2 came 3, 3, 4 and the end; after 1 2 the same; 4 1 2 never occurred before.
const Tokens kText = {1, 2, 3, 1, 2, 3, 1, 2, 4, 1, 2};

TEST_CASE("suffix: the draft of the largest score, with shares of all occurrences") {
  // m = 1: 3 with .5; m = 2: 3 1 with .5 and .5.
  const Proposal proposal = LookUp(kText, 6, 6).propose("suffix");
  CHECK(tokens_of(proposal) == Tokens{3, 1});
  CHECK(proposal.drawn_from.empty());
  CHECK(proposal.exact == 0);
  CHECK(tokens_of(LookUp(kText, 6, 1).propose("suffix")) == Tokens{3});
  CHECK(tokens_of(LookUp(kText, 6, 6).propose("suffix", "factor = 2")) == Tokens{3, 1, 2, 3});
  // With three drafts or more the share of a path falls below .3 where 3 and 4 part.
  CHECK(tokens_of(LookUp(kText, 6, 6).propose("suffix", "factor = 3\nleast_share = 0.3")) ==
        Tokens{3, 1, 2});
  CHECK(tokens_of(LookUp(kText, 6, 6).propose("suffix", "least_share = 0.6")) == Tokens{9});
  CHECK(tokens_of(LookUp({1, 2, 3}, 3, 3).propose("suffix")) == Tokens{9});
  // Behind 2 (four times) 4 has .5, and behind 1 2 (twice) so has 3: the longer match wins.
  CHECK(tokens_of(LookUp({2, 4, 2, 4, 1, 2, 3, 1, 2}, 6, 1).propose("suffix")) == Tokens{3});
}

TEST_CASE("suffix: as a tree, the largest shares first") {
  // Behind 1 2: 3 with .5, 3 1 and 3 1 2 with .5, 4 with .25 and all that follows it.
  const Proposal proposal =
      LookUp(kText, 6, 6).propose("suffix", "tree = true\nfactor = 0\noffset = 4");
  CHECK(tokens_of(proposal) == Tokens{3, 1, 2, 4});
  CHECK(proposal.nodes[3].parent == kRoot);
  CHECK(proposal.nodes[3].position == 11);
  CHECK(proposal.nodes[2].parent == 1);
}

TEST_CASE("suffix: a corpus is looked up, too; the text wins where both are as good") {
  const std::string other = corpus("7 1 2 5 5 5\n");
  // In the corpus, 1 2 is followed by 5 5, each with share 1.
  CHECK(tokens_of(LookUp(kText, 6, 6).propose("suffix", "corpus = " + other)) == Tokens{5, 5});
  const std::string equal = corpus("2 5\n2 6\n");  // That is 5 with .5, as good as 3 is at m = 1.
  CHECK(tokens_of(LookUp({2, 3, 8, 2}, 6, 1).propose("suffix", "corpus = " + equal)) == Tokens{3});
}

TEST_CASE("rest: the longest ending of the corpus, its most frequent continuations as a tree") {
  const std::string path = corpus("1 2 3 4\n1 2 3 5\n1 2 6\n2 7\n2 7\n2 7\n2 7\n");
  // 1 2 occurs thrice, though 2 occurs more often with 7.
  const Proposal proposal = LookUp({8, 1, 2}, 6, 4).propose("rest", "corpus = " + path);
  CHECK(tokens_of(proposal) == Tokens{3, 6, 4, 5});
  CHECK(proposal.nodes[1].parent == kRoot);
  CHECK(proposal.nodes[2].parent == 0);
  CHECK(tokens_of(LookUp({8, 1, 2}, 6, 4).propose("rest", "drafts = 2\ncorpus = " + path)) ==
        Tokens{3, 6});
  CHECK(tokens_of(LookUp({8, 1, 2}, 6, 1).propose("rest", "corpus = " + path)) == Tokens{3, 6});
  CHECK(tokens_of(LookUp({8, 8, 2}, 6, 4).propose("rest", "corpus = " + path)) == Tokens{9});
  CHECK(tokens_of(LookUp({8, 8, 2}, 6, 4).propose("rest", "shortest = 1\ncorpus = " + path)) ==
        Tokens{7, 3, 6, 4, 5});
  // Without a corpus, the text itself: 3, then 1 behind it, then 2; and 4.
  CHECK(tokens_of(LookUp(kText, 6, 2).propose("rest")) == Tokens{3, 1, 4, 1});
  CHECK_THROWS_AS(LookUp({1}, 1, 1).propose("rest", "shortest = 20"), ConfigError);
}

TEST_CASE("suffix-automaton: the earliest occurrence of the longest ending, with room") {
  const Tokens text = {1, 2, 3, 4, 9, 1, 2, 3, 5, 1, 2, 3};
  CHECK(tokens_of(LookUp(text, 6, 4).propose("suffix-automaton", "least = 3")) ==
        Tokens{4, 9, 1, 2});
  CHECK(tokens_of(LookUp(text, 6, 4).propose("suffix-automaton", "least = 4")) == Tokens{9});
  CHECK(tokens_of(LookUp(text, 6, 4).propose("suffix-automaton", "least = 3\nfor_each = 1")) ==
        Tokens{4, 9, 1});
  // The longest ending, 2 2 2, leaves one token; 2 alone leaves the three that are wanted.
  CHECK(tokens_of(LookUp({7, 2, 2, 2, 2}, 6, 3).propose("suffix-automaton", "least = 1")) ==
        Tokens{2, 2, 2});
  // No match leaves room for six, so the longest is continued by what there is.
  CHECK(tokens_of(LookUp({1, 2, 3, 1, 2}, 6, 6).propose("suffix-automaton", "least = 2")) ==
        Tokens{3, 1, 2});
}

TEST_CASE("suffix-automaton finds what a search of all occurrences finds") {
  std::uint64_t random = 1;
  for (int trial = 0; trial < 300; ++trial) {
    Tokens text;
    for (int i = 0; i < 24; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      text.push_back(static_cast<Token>((random >> 40) % 3));
    }
    Tokens expected;
    std::size_t longest = 0;
    for (std::size_t m = text.size() - 1; m > 0 && longest == 0; --m)
      for (std::size_t i = 0; i + m < text.size() && longest == 0; ++i)
        if (std::equal(text.begin() + static_cast<std::ptrdiff_t>(i),
                       text.begin() + static_cast<std::ptrdiff_t>(i + m),
                       text.end() - static_cast<std::ptrdiff_t>(m))) {
          longest = m;
          expected = {text[i + m]};
        }
    CHECK(tokens_of(LookUp(text, 4, 1).propose("suffix-automaton", "least = 1\nfor_each = 0")) ==
          expected);
  }
}

TEST_CASE("suffix-automaton: a corpus counts where its match is longer by more than so much") {
  const std::string path = corpus("3 4 5 1 2 6 6\n");
  const Tokens text = {1, 2, 7, 3, 4, 5, 1, 2};  // That is 1 2 here, five tokens there.
  CHECK(tokens_of(LookUp(text, 6, 2)
                      .propose("suffix-automaton",
                               "least = 2\ncorpus_less = 2\ncorpus = " + path)) == Tokens{6, 6});
  CHECK(tokens_of(LookUp(text, 6, 2)
                      .propose("suffix-automaton",
                               "least = 2\ncorpus_less = 3\ncorpus = " + path)) == Tokens{7, 3});
}

// A step that verified a proposal: the target finds token 5 most probable behind everything,
// then 4.
struct Verified {
  Proposal proposal;
  Verdict verdict;
  Verified(Proposal its, const std::function<Distribution(const Node*)>& answers)
      : proposal(std::move(its)) {
    Carry carry;
    carry.nodes = proposal.nodes;
    carry.answer.add(kRoot, proposal.nodes.front().position, answers(nullptr));
    for (std::size_t i = 0; i < proposal.nodes.size(); ++i)
      carry.answer.add(static_cast<int>(i), proposal.nodes[i].position + 1,
                       answers(&proposal.nodes[i]));
    verdict.carry = std::move(carry);
    verdict.proposal = &proposal;
  }
};

Distribution next_is(Token best) {
  Eigen::ArrayXd weights = Eigen::ArrayXd::Zero(10);
  weights[best % 10] = .6, weights[(best + 1) % 10] = .4;
  return Distribution(std::move(weights));
}

TEST_CASE("token-recycling: each answer of a verification replaces a row of the table") {
  const auto drafter = testing::part(&Registries::drafters, "token-recycling", "row = 2");
  LookUp first({1}, 6, 3);
  const Proposal own = first.propose(*drafter);
  CHECK(own.exact == 1);  // An empty table drafts nothing.
  Verdict drew;
  drew.proposal = &own;
  drafter->observe(first.canvas, {}, drew);  // Behind 1 the own draw was drawn from 9 and 0.
  LookUp second({1}, 6, 3);
  const Proposal drafts = second.propose(*drafter);
  CHECK(tokens_of(drafts) == Tokens{9, 0});
  CHECK(drafts.lookahead == 1);
  // Behind every token x the target now finds x + 1, then x + 2, also where it was not accepted.
  Verified verified(drafts, [](const Node* node) { return next_is(node ? node->token : 1); });
  drafter->observe(second.canvas, {}, verified.verdict);
  // Ranks: 1 and 2 at the root; 1 + 1 and 1 + 2 behind the first; 2 + 1 behind the second; ...
  const Proposal tree = LookUp({1}, 6, 2).propose(*drafter);
  CHECK(tokens_of(tree) == Tokens{1, 2, 1, 2});
  CHECK(tree.nodes[2].parent == 0);
  CHECK(drafter->state() == "0:0,1,1:1,2,9:9,0,");
  CHECK(tokens_of(LookUp({9}, 6, 2).propose(
            *testing::part(&Registries::drafters, "token-recycling"))) == Tokens{9});
}

TEST_CASE("token-recycling: the sum of ranks says which drafts there are") {
  const auto drafter =
      testing::part(&Registries::drafters, "token-recycling", "row = 2\ndrafts = 5");
  LookUp step({1}, 6, 3);
  Proposal all;
  for (Token token = 0; token < 10; ++token) all.nodes.push_back({kRoot, 1, token});
  Verified verified(all, [](const Node* node) { return next_is(node ? node->token + 1 : 2); });
  drafter->observe(step.canvas, {}, verified.verdict);
  // Behind x come x + 1 (rank 1) and x + 2 (rank 2). Sums: 2: 1, then 3 and 2.3: 2, then 2.4, 3.4
  // and 2.3.4: 3, in the order in which they were found.
  const Proposal tree = step.propose(*drafter);
  CHECK(tokens_of(tree) == Tokens{2, 3, 3, 4, 4});
  CHECK(tree.nodes[1].parent == kRoot);
  CHECK(tree.nodes[2].parent == 0);
  CHECK(tree.nodes[3].parent == 0);
  CHECK(tree.nodes[4].parent == 1);
}

TEST_CASE("lookahead: runs of the window become n-grams, whose tails are drafted") {
  const auto drafter = testing::part(&Registries::drafters, "lookahead", "window = 2\ntails = 1");
  DecodeOptions decode;
  decode.draft_length = 2;
  drafter->begin({}, decode);
  LookUp step({1, 2, 3}, 6, 2);
  // Place 0 holds 1 2, place 1 holds 2 3 behind the 1 of place 0: paths 1 2 and 1 2 3.
  const Proposal first = step.propose(*drafter);
  CHECK(tokens_of(first) == Tokens{1, 2, 3});
  CHECK(first.lookahead == 1);
  CHECK(first.nodes[2].parent == 1);
  // Behind 1 2 the target says 5, behind 1 2 3 it says 6: n-grams 1 2 5 and 2 3 6.
  Verified verified(first,
                    [](const Node* node) { return next_is(node && node->token == 3 ? 6 : 5); });
  drafter->observe(step.canvas, {}, verified.verdict);
  // The window is 2 5 and 3 6 now. No n-gram begins with 3; after 2, the tail 3 6 comes first.
  CHECK(tokens_of(step.propose(*drafter)) == Tokens{2, 5, 3, 6});
  const Proposal tail = LookUp({1, 2}, 6, 2).propose(*drafter);
  CHECK(tokens_of(tail) == Tokens{3, 6, 2, 5, 3, 6});
  CHECK(tail.nodes[4].parent == 2);
}

TEST_CASE("lookahead: the latest tails of a token, and n-grams of the text") {
  const auto drafter =
      testing::part(&Registries::drafters, "lookahead", "window = 0\ntails = 2\ntext = true");
  DecodeOptions decode;
  decode.draft_length = 2;
  drafter->begin({}, decode);
  LookUp step({1, 2, 3, 1, 4, 5, 1, 6, 7, 1}, 6, 2);
  CHECK(tokens_of(step.propose(*drafter)) == Tokens{9});
  Verdict verdict;
  drafter->observe(step.canvas, {}, verdict);
  CHECK(tokens_of(step.propose(*drafter)) == Tokens{6, 7, 4, 5});
  const std::string state = drafter->state();
  drafter->observe(step.canvas, {}, verdict);
  CHECK(drafter->state() == state);  // Nothing is read twice.
}

}  // namespace
}  // namespace draftlab
