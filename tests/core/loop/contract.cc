#include "core/loop/contract.h"

#include <doctest/doctest.h>

#include <functional>
#include <new>
#include <stdexcept>
#include <vector>

#include "core/base/error.h"

namespace draftlab {
namespace {

// What is said of two drafts, of positions 4 and 5 of eight, after `spoil` has changed them.
// Position 6 holds a token.
std::string said(const std::function<void(Proposal&)>& spoil) {
  Proposal proposal;
  proposal.nodes = {{kRoot, 4, 0}, {0, 5, 2}};
  proposal.drawn_from = {Distribution::point(0, 3), Distribution::point(2, 3)};
  proposal.exact = 1;
  spoil(proposal);
  try {
    const std::vector<std::pair<std::int32_t, Token>> given = {{6, 1}};
    check_proposal({"drafter", "mine"}, proposal, Canvas(8, given), 3);
  } catch (const Fault& fault) {
    return fault.what();
  }
  return "";
}

TEST_CASE("a proposal that breaks the contract of drafters is a fault that names the drafter") {
  CHECK(said([](Proposal&) {}) == "");
  CHECK(said([](Proposal& p) { p.nodes[1] = {kRoot, 4, 2}; }) == "");  // They are siblings.
  CHECK(said([](Proposal& p) { p.nodes[1].parent = 1; }) ==
        "drafter 'mine' puts draft 1 on the unknown node 1");
  CHECK(said([](Proposal& p) { p.nodes[0].parent = -2; }) ==
        "drafter 'mine' puts draft 0 on the unknown node -2");
  CHECK(said([](Proposal& p) { p.nodes[1].position = 6; }) ==
        "drafter 'mine' drafts position 6, which holds a token");
  CHECK(said([](Proposal& p) { p.nodes[1].position = 8; }) ==
        "drafter 'mine' drafts position 8 of a canvas of 8");
  CHECK(said([](Proposal& p) { p.nodes[1].position = -1; }) ==
        "drafter 'mine' drafts position -1 of a canvas of 8");
  CHECK(said([](Proposal& p) { p.nodes[1].position = 4; }) ==
        "drafter 'mine' drafts position 4 twice on one path");
  CHECK(said([](Proposal& p) { p.nodes[0].token = 3; }) ==
        "drafter 'mine' drafts token 3 of a vocabulary of 3");
  CHECK(said([](Proposal& p) { p.nodes[0].token = kNoToken; }) ==
        "drafter 'mine' drafts token -1 of a vocabulary of 3");
  CHECK(said([](Proposal& p) { p.drawn_from.pop_back(); }) ==
        "drafter 'mine' gives 1 distributions for 2 drafts");
  CHECK(said([](Proposal& p) { p.raw = p.drawn_from, p.raw.push_back(p.raw[0]); }) ==
        "drafter 'mine' gives 3 distributions for 2 drafts");
  CHECK(said([](Proposal& p) { p.exact = 3; }) == "drafter 'mine' calls 3 of 2 drafts exact");
  CHECK(said([](Proposal& p) { p.exact = -1; }) == "drafter 'mine' calls -1 of 2 drafts exact");
}

// Positions 1 and 2 hold token 5, tentatively; the step commits positions 3 and 4.
TEST_CASE("what an unmasker may not take back is a fault that names it") {
  Canvas canvas(6, {});
  canvas.commit(0, 5);
  canvas.commit(1, 5, true);
  canvas.commit(2, 5, true);
  const auto said = [&](const std::vector<Commit>& taken_back, bool late = true) -> std::string {
    Verdict verdict;
    verdict.commits = {{3, 5}, {4, 5}};
    verdict.taken_back = taken_back;
    try {
      check_taken_back({"unmasker", "mine"}, verdict, canvas, late);
    } catch (const Fault& fault) {
      return fault.what();
    }
    return "";
  };
  CHECK(said({}) == "");
  CHECK(said({{1, 5}}) == "");
  CHECK(said({{1, 5}, {2, 5}}, false) == "");
  CHECK(said({{1, 5}, {2, 5}}) ==
        "unmasker 'mine' commits 2 tokens in a step and takes 2 back; decoding would not end");
  CHECK(said({{0, 5}}) ==
        "unmasker 'mine' takes back token 5 at position 0, which is not tentative there");
  CHECK(said({{1, 4}}).find("takes back token 4 at position 1") != std::string::npos);
  CHECK(said({{9, 5}}).find("position 9") != std::string::npos);
  CHECK(said({{1, 5}, {1, 5}}, false) ==
        "unmasker 'mine' takes back position 1 in the step that commits it, or twice");
}

}  // namespace
}  // namespace draftlab
