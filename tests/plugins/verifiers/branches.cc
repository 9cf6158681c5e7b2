#include "plugins/verifiers/branches.h"

#include <doctest/doctest.h>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;

// Drafts of token 0 at positions 10, 11, ...: its probability is .6, that of token 1 is .3.
Proposal drafts(int count, int exact = 0) {
  Proposal proposal;
  for (int i = 0; i < count; ++i) {
    proposal.nodes.push_back({i - 1, 10 + i, 0});
    proposal.raw.push_back(of({.6, .3, .1}));
  }
  proposal.exact = exact;
  return proposal;
}

std::vector<std::int32_t> path(const Branches& branches, int node) {
  std::vector<std::int32_t> positions;
  for (; node != kRoot; node = branches.nodes[node].parent)
    positions.insert(positions.begin(), branches.nodes[node].position);
  return positions;
}

using Positions = std::vector<std::int32_t>;

TEST_CASE("a chain of N drafts has N + 1 nodes with the root") {
  for (int n = 1; n < 6; ++n) {
    const Branches branches = as_drafted(drafts(n), n);
    CHECK(branches.nodes.size() + 1 == static_cast<std::size_t>(n + 1));
    CHECK(branches.depth.back() == n);
    CHECK(branches.children(kRoot).size() == 1);
  }
  CHECK(as_drafted(drafts(5), 2).nodes.size() == 2);
  CHECK(path(as_drafted(drafts(3), 3), 2) == Positions{10, 11, 12});
}

// Table 3 of the paper: 6, 8 and 10 rows for N = 3, 4 and 5.
TEST_CASE("mix-order has 2N nodes: one more for each that has a grandchild") {
  for (int n = 1; n < 6; ++n)
    CHECK(mix_order(drafts(n), n).nodes.size() + 1 == static_cast<std::size_t>(2 * n));
  const Branches branches = mix_order(drafts(3), 3);
  CHECK(path(branches, 3) == Positions{11});
  CHECK(path(branches, 4) == Positions{10, 12});
  CHECK(branches.children(3).empty());
  CHECK(branches.children(kRoot) == std::vector<int>{0, 3});
  CHECK(branches.draft[4] == 2);
  CHECK(branches.depth[4] == 2);
}

TEST_CASE("joined: orders meet in the node that holds their tokens") {
  Branches branches = mix_order(drafts(3), 3);  // 10, then 11, then 12; 11 alone; 10 and 12.
  branches.join();
  CHECK(branches.children(3) == std::vector<int>{1});
  CHECK(branches.placed(3, 1) == 0);
  CHECK(branches.children(4) == std::vector<int>{2});
  CHECK(branches.placed(4, 2) == 1);
  CHECK(branches.children(kRoot) == std::vector<int>{0, 3});
  CHECK(branches.children(0) == std::vector<int>{1, 4});
  CHECK(branches.placed(0, 4) == 4);
  CHECK(branches.follow(3, {{10, 0}}) == 1);
  CHECK(branches.follow(3, {{10, 1}}) == Branches::kNone);
  CHECK(branches.follow(kRoot, {{11, 0}, {10, 0}}) == 1);
  CHECK(branches.follow(4, {{11, 0}}) == 2);
}

TEST_CASE("top-k: the complete tree where the budget allows it, else the most probable paths") {
  CHECK(most_probable(drafts(3), 3, 2, 4096).nodes.size() + 1 == 15);  // Equation 6 gives 2^4 - 1.
  CHECK(most_probable(drafts(2), 2, 3, 4096).nodes.size() + 1 == 13);
  CHECK(most_probable(drafts(3), 2, 2, 4096).nodes.size() + 1 == 7);
  for (int budget = 2; budget < 15; ++budget)
    CHECK(most_probable(drafts(3), 3, 2, budget).nodes.size() + 1 ==
          static_cast<std::size_t>(budget));
  // .6, then .36, then .3 before .216: the second token of the first position before the third
  // draft.
  const Branches four = most_probable(drafts(3), 3, 2, 4);
  CHECK(path(four, 0) == Positions{10});
  CHECK(path(four, 1) == Positions{10, 11});
  CHECK(four.nodes[2].parent == kRoot);
  CHECK(four.nodes[2].token == 1);
  // With one token each, it is the chain.
  CHECK(most_probable(drafts(5), 5, 1, 4096).nodes.size() == 5);
}

TEST_CASE("a drafted token that is not the likeliest is tried first all the same") {
  Proposal proposal = drafts(1);
  proposal.nodes[0].token = 2;
  const Branches branches = most_probable(proposal, 1, 2, 4096);
  REQUIRE(branches.nodes.size() == 2);
  CHECK(branches.nodes[0].token == 0);  // The probability .6 comes before .1.
  CHECK(branches.nodes[1].token == 2);
}

TEST_CASE("a drafter's own tree is taken as it is; other shapes begin with its first path") {
  Proposal proposal = drafts(3);
  proposal.nodes[2] = {0, 11, 1};  // It is a second token beside the second draft.
  CHECK(path_length(proposal) == 2);
  const Branches tree = as_drafted(proposal, 3);
  CHECK(tree.children(0) == std::vector<int>{1, 2});
  CHECK(as_drafted(proposal, 1).nodes.size() == 1);
  CHECK(mix_order(proposal, 3).nodes.size() + 1 == 4);
  CHECK(most_probable(proposal, 3, 2, 4096).nodes.size() + 1 == 7);
}

TEST_CASE("exact drafts are in place in every state of a tree") {
  for (const Branches& branches : {as_drafted(drafts(4, 2), 4), mix_order(drafts(4, 2), 4),
                                   most_probable(drafts(4, 2), 4, 1, 4096)}) {
    CHECK(path(branches, 1) == Positions{10, 11});
    for (int node = 2; node < static_cast<int>(branches.nodes.size()); ++node)
      CHECK(path(branches, node)[1] == 11);
  }
  CHECK(mix_order(drafts(4, 2), 4).nodes.size() == 5);  // Two drafts to judge: one more node.
  CHECK(most_probable(drafts(4, 1), 4, 1, 3).nodes.size() ==
        1 + 2);  // The budget counts the state that they lead to.
}

TEST_CASE("a choice is followed to the node that has it in place, whatever its order") {
  const Branches branches = mix_order(drafts(3), 3);
  CHECK(branches.follow(kRoot, {{10, 0}}) == 0);
  CHECK(branches.follow(kRoot, {{11, 0}}) == 3);
  CHECK(branches.follow(kRoot, {{11, 0}, {10, 0}}) == 1);
  CHECK(branches.follow(0, {{12, 0}, {11, 0}}) == 2);
  CHECK(branches.follow(kRoot, {{10, 1}}) == Branches::kNone);
  CHECK(branches.follow(kRoot, {{12, 0}}) == Branches::kNone);
  CHECK(branches.follow(3, {{10, 0}}) == Branches::kNone);
  const Canvas state = branches.state_at(Canvas(20, {}), 4);
  CHECK(state.order() == Positions{10, 12});
}

}  // namespace
}  // namespace draftlab
