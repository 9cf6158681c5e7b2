#include "core/loop/contract.h"

#include <set>

#include "core/base/error.h"

namespace draftlab {

void check_proposal(const std::string& drafter, const Proposal& proposal, const Canvas& canvas,
                    int vocabulary) {
  const int drafts = static_cast<int>(proposal.nodes.size());
  for (int i = 0; i < drafts; ++i) {
    const Node& node = proposal.nodes[i];
    if (node.parent < kRoot || node.parent >= i)
      throw Fault("drafter '{}' puts draft {} on the unknown node {}", drafter, i, node.parent);
    if (node.position < 0 || node.position >= canvas.length())
      throw Fault("drafter '{}' drafts position {} of a canvas of {}", drafter, node.position,
                  canvas.length());
    if (!canvas.masked(node.position))
      throw Fault("drafter '{}' drafts position {}, which holds a token", drafter, node.position);
    if (node.parent != kRoot && proposal.nodes[node.parent].position == node.position)
      throw Fault("drafter '{}' drafts position {} twice on one path", drafter, node.position);
    if (node.token < 0 || node.token >= vocabulary)
      throw Fault("drafter '{}' drafts token {} of a vocabulary of {}", drafter, node.token,
                  vocabulary);
  }
  for (const auto* const laws : {&proposal.drawn_from, &proposal.raw})
    if (!laws->empty() && static_cast<int>(laws->size()) != drafts)
      throw Fault("drafter '{}' gives {} distributions for {} drafts", drafter, laws->size(),
                  drafts);
  if (proposal.exact < 0 || proposal.exact > drafts)
    throw Fault("drafter '{}' calls {} of {} drafts exact", drafter, proposal.exact, drafts);
}

void check_taken_back(const std::string& unmasker, const Verdict& verdict, const Canvas& canvas,
                      bool late) {
  std::set<std::int32_t> seen;
  for (const Commit& commit : verdict.commits) seen.insert(commit.position);
  for (const Commit& token : verdict.taken_back) {
    if (token.position < 0 || token.position >= canvas.length() ||
        !canvas.tentative(token.position) || canvas.token(token.position) != token.token)
      throw Fault("unmasker '{}' takes back token {} at position {}, which is not tentative there",
                  unmasker, token.token, token.position);
    if (!seen.insert(token.position).second)
      throw Fault("unmasker '{}' takes back position {} in the step that commits it, or twice",
                  unmasker, token.position);
  }
  if (late && !verdict.taken_back.empty() && verdict.taken_back.size() >= verdict.commits.size())
    throw Fault(
        "unmasker '{}' commits {} tokens in a step and takes {} back; decoding would not end",
        unmasker, verdict.commits.size(), verdict.taken_back.size());
}

}  // namespace draftlab
