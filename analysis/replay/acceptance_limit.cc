#include "analysis/replay/acceptance_limit.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "core/base/error.h"
#include "core/base/table.h"

namespace draftlab {
namespace {

// Says whether `draft` has the token among its k likeliest.
bool drafted(const DraftRow& draft, const TokenRow& token, int k) {
  if (static_cast<int>(draft.top.size()) < k)
    throw Fault("a draft has {} tokens, and {} are read", draft.top.size(), k);
  return draft.position == token.position &&
         std::any_of(draft.top.begin(), draft.top.begin() + k,
                     [&](const auto& best) { return best.first == token.token; });
}

bool drafted_somewhere(const StepRow& step, const TokenRow& token, int k) {
  return std::any_of(step.drafts.begin(), step.drafts.end(),
                     [&](const DraftRow& draft) { return drafted(draft, token, k); });
}

// Returns how many of the steps from `at` on a round accepts. Its drafts are those of the step
// before, without the one that it committed.
template <class Accepts>
std::size_t accepted(const std::vector<StepRow>& steps, std::size_t at, int draft_length,
                     Accepts accepts) {
  std::vector<const DraftRow*> drafts;
  for (const DraftRow& draft : steps[at - 1].drafts) {
    if (draft.position != steps[at - 1].tokens.front().position) drafts.push_back(&draft);
  }
  std::size_t count = 0;
  while (static_cast<int>(count) < draft_length && at + count < steps.size() &&
         accepts(drafts, count, steps[at + count].tokens.front()))
    ++count;
  return count;
}

// Counts the forwards: the first commits its own choice, and each later one commits what it accepts
// and one more.
template <class Accepts>
std::int64_t rounds(const std::vector<StepRow>& steps, int draft_length, Accepts accepts) {
  std::int64_t forwards = steps.empty() ? 0 : 1;
  for (std::size_t at = 1; at < steps.size(); at += accepted(steps, at, draft_length, accepts) + 1)
    ++forwards;
  return forwards;
}

std::int64_t stale_rounds(const std::vector<StepRow>& steps, int draft_length, int top_k) {
  std::int64_t forwards = 0;
  const auto round = static_cast<std::size_t>(draft_length) + 1;
  for (std::size_t t = 0; t < steps.size(); ++t) {
    const std::size_t first = t - t % round;
    forwards += t == first || !drafted_somewhere(steps[first], steps[t].tokens.front(), top_k);
  }
  return forwards;
}

// Says whether a sample was decoded stepwise, without verification, from drafts of all masks that a
// forward of each step gave, in the order in which they would be committed.
bool usable(const SampleRow& sample) {
  return !sample.steps.empty() &&
         std::all_of(sample.steps.begin(), sample.steps.end(), [](const StepRow& step) {
           return step.tokens.size() == 1 && !step.verified && step.counts[Kind::draft].calls > 0 &&
                  static_cast<std::int64_t>(step.drafts.size()) == step.masked &&
                  !step.drafts.front().top.empty() &&
                  step.drafts.front().position == step.tokens.front().position;
         });
}

}  // namespace

Forwards forwards_within(const std::vector<StepRow>& steps, int draft_length, int top_k) {
  using Drafts = std::vector<const DraftRow*>;
  const auto any = [&](const Drafts& drafts, std::size_t, const TokenRow& token) {
    return std::any_of(drafts.begin(), drafts.end(),
                       [&](const DraftRow* draft) { return drafted(*draft, token, top_k); });
  };
  const auto next = [&](const Drafts& drafts, std::size_t i, const TokenRow& token) {
    return i < drafts.size() && drafted(*drafts[i], token, top_k);
  };
  return {stale_rounds(steps, draft_length, top_k), rounds(steps, draft_length, any),
          rounds(steps, draft_length, next)};
}

namespace {

// A draft length, and how many of the likeliest tokens a draft may hold.
using LengthAndK = std::pair<int, int>;

// The sums of a prompt: its tokens, and the forwards of each reading.
struct Sums {
  double tokens = 0;
  std::map<LengthAndK, std::array<double, 3>> forwards;
};

struct Gathered {
  std::int64_t samples = 0, tokens = 0;
  int top_k = 64;  // The fewest likeliest tokens that a draft of the arm recorded.
  std::map<std::int32_t, Sums> prompts;
};

// Calls visit(sample of the frame, its row) for the samples that are usable.
template <class Visit>
void each_usable(const Frame& frame, Visit visit) {
  for (const Frame::Sample& at : frame.samples()) {
    if (!at.counts) continue;
    const SampleRow sample = frame.open(at.file)->sample(at.row);
    if (usable(sample)) visit(at, sample);
  }
}

void add_sample(const SampleRow& sample, const std::vector<int>& draft_lengths, int top_k,
                Sums& sums) {
  sums.tokens += static_cast<double>(sample.steps.size());
  for (const int length : draft_lengths) {
    for (int k = 1; k <= top_k; ++k) {
      const Forwards forwards = forwards_within(sample.steps, length, k);
      std::array<double, 3>& of = sums.forwards[{length, k}];
      of[0] += static_cast<double>(forwards.stale);
      of[1] += static_cast<double>(forwards.any_order);
      of[2] += static_cast<double>(forwards.in_order);
    }
  }
}

// Gathers the usable samples of each arm, by its index.
std::map<std::int32_t, Gathered> gathered(const Frame& frame,
                                          const std::vector<int>& draft_lengths) {
  std::map<std::int32_t, Gathered> arms;
  each_usable(frame, [&](const Frame::Sample& at, const SampleRow& sample) {
    int& top_k = arms[at.arm].top_k;
    for (const StepRow& step : sample.steps)
      for (const DraftRow& draft : step.drafts)
        top_k = std::min(top_k, static_cast<int>(draft.top.size()));
  });
  each_usable(frame, [&](const Frame::Sample& at, const SampleRow& sample) {
    Gathered& arm = arms[at.arm];
    ++arm.samples;
    arm.tokens += static_cast<std::int64_t>(sample.steps.size());
    add_sample(sample, draft_lengths, arm.top_k, arm.prompts[at.prompt]);
  });
  return arms;
}

// The share of forwards that a reading saves.
Estimate reduction(const Gathered& arm, const LengthAndK& bound, std::size_t reading) {
  std::vector<double> columns[2];
  for (const auto& [prompt, sums] : arm.prompts) {
    columns[0].push_back(sums.forwards.at(bound)[reading]);
    columns[1].push_back(sums.tokens);
  }
  return cluster_bootstrap(columns, [](std::span<const double> s) { return 1 - s[0] / s[1]; });
}

}  // namespace

std::vector<AcceptanceLimits> acceptance_limits(const Frame& frame,
                                                const std::vector<int>& draft_lengths) {
  const std::map<std::int32_t, Gathered> arms = gathered(frame, draft_lengths);
  if (arms.empty()) {
    throw DataError(
        "'{}' has no arm that decoded stepwise and recorded the likeliest tokens of every mask in "
        "order; decode with drafter = confidence, drafter.confidence.source = pass, router = "
        "never, decode.temperature = 0, decode.draft_length as long as the text, trace.drafts = "
        "all and trace.top_k",
        frame.files().front().path);
  }
  std::vector<AcceptanceLimits> result;
  for (const auto& [index, arm] : arms) {
    AcceptanceLimits limits{frame.arms()[index].run.arm, arm.samples, arm.tokens, {}};
    for (const int length : draft_lengths) {
      for (int k = 1; k <= arm.top_k; ++k) {
        const LengthAndK bound{length, k};
        limits.limits.push_back({length, k, reduction(arm, bound, 0), reduction(arm, bound, 1),
                                 reduction(arm, bound, 2)});
      }
    }
    result.push_back(std::move(limits));
  }
  return result;
}

std::string acceptance_limit_tables(const std::vector<AcceptanceLimits>& arms, TableForm form) {
  const auto percent = [](const Estimate& estimate) {
    const bool bounded = estimate.interval.low == estimate.interval.low;
    return fixed(100 * estimate.value, 1) +
           (bounded ? " [" + fixed(100 * estimate.interval.low, 1) + ", " +
                          fixed(100 * estimate.interval.high, 1) + "]"
                    : "");
  };
  std::string text;
  for (const AcceptanceLimits& arm : arms) {
    text +=
        (text.empty() ? "" : "\n") +
        (arm.arm.empty() ? std::string("Step reduction in %") : arm.arm + ": step reduction in %") +
        ", of " + std::to_string(arm.tokens) + " stepwise tokens in " +
        std::to_string(arm.samples) + " texts\n";
    struct Reading {
      std::string name;
      Estimate AcceptanceLimit::*of;
    };
    for (const auto& [name, of] :
         {Reading{"stale drafts (the paper's Table 2)", &AcceptanceLimit::stale},
          Reading{"redrafting, any order", &AcceptanceLimit::any_order},
          Reading{"redrafting, in order (k = 1: the greedy chain)", &AcceptanceLimit::in_order}}) {
      TextTable table{{name}, {}};
      for (const AcceptanceLimit& limit : arm.limits) {
        if (table.rows.empty() ||
            table.rows.back().front() != "N = " + std::to_string(limit.draft_length))
          table.rows.push_back({"N = " + std::to_string(limit.draft_length)});
        if (table.rows.size() == 1) table.header.push_back("k = " + std::to_string(limit.top_k));
        table.rows.back().push_back(percent(limit.*of));
      }
      for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const double length = std::stod(table.rows[row].front().substr(4));
        table.rows[row].push_back(fixed(100 * length / (length + 1), 1));
      }
      table.header.push_back("N / (N + 1)");
      text += "\n" + table.in(form);
    }
  }
  return text;
}

}  // namespace draftlab
