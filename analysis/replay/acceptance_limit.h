// How far self-drafting could go, computed from a trace of stepwise decoding that recorded what was
// drafted at every mask (SSD, Sec. 5.1): the forwards in which the same tokens could have been
// committed, had verification accepted all that it could. There are three readings:
//
//   - stale: the paper's reading (Table 2). It has rounds of N + 1 steps; a token is free if it was
//     among the k likeliest at its position when the round began, whatever the order. It counts one
//     forward a round, and one for each token that was not free. It is no bound: drafts stay stale
//     after a miss.
//   - any order: an oracle that redrafts. A round accepts the steps that follow while each took one
//     of the k likeliest tokens of its position, at most N, whatever the order, and commits one
//     more; the next drafts are those of the node where it stopped. It takes all it may, which is
//     not always best: stopping earlier can leave better drafts.
//   - in order: the same while each step took the next draft's position too, which is a complete
//     k-ary tree. For k = 1 it is the greedy chain, whose forwards this counts exactly (without a
//     cache that is refreshed).
#pragma once

#include <string>
#include <vector>

#include "analysis/frame/frame.h"
#include "analysis/report/statistics.h"
#include "core/base/table.h"

namespace draftlab {

struct Forwards {
  std::int64_t stale = 0, any_order = 0, in_order = 0;
};
// Counts the forwards of one sample's steps, each of which committed one token. Throws a Fault when
// a draft has fewer than `top_k` tokens.
Forwards forwards_within(const std::vector<StepRow>& steps, int draft_length, int top_k);

struct AcceptanceLimit {
  int draft_length = 0, top_k = 0;
  // The step reduction, 1 - forwards / tokens, with intervals of resampled prompts.
  Estimate stale, any_order, in_order;
};
struct AcceptanceLimits {
  std::string arm;
  std::int64_t samples = 0, tokens = 0;
  // The limits by draft length, then by top_k.
  std::vector<AcceptanceLimit> limits;
};
// Returns a row for each arm that decoded stepwise, each draft length and each k that the trace
// holds. Throws DataError when no arm did, or when its drafts are not those of every mask in order
// (drafter = confidence, source = pass, router = never, a draft_length as long as the text).
std::vector<AcceptanceLimits> acceptance_limits(const Frame& frame,
                                                const std::vector<int>& draft_lengths);
std::string acceptance_limit_tables(const std::vector<AcceptanceLimits>& arms,
                                    TableForm form = TableForm::text);

}  // namespace draftlab
