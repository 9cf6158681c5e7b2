#include "analysis/report/tree_table.h"

#include <algorithm>
#include <deque>

#include "analysis/report/grouping.h"
#include "core/base/error.h"
#include "core/base/table.h"

namespace draftlab {
namespace {

// Tables of the best value of a tree, and of what several siblings get together.
class Search {
 public:
  Search(const std::vector<double>& rates, int drafts, int levels)
      : rates_(rates), ranks_(static_cast<int>(rates.size())), nodes_(drafts + 1) {
    // On no level there is the root alone, however many drafts are allowed.
    best_.assign(1, std::vector<double>(static_cast<std::size_t>(nodes_) + 1, 1));
    for (int level = 1; level <= levels; ++level) {
      Shares shares(static_cast<std::size_t>(ranks_) + 1,
                    std::vector<Share>(static_cast<std::size_t>(nodes_)));
      for (int rank = ranks_ - 1; rank >= 0; --rank)
        for (int left = 1; left < nodes_; ++left) shares[rank][left] = choose(shares, rank, left);
      shares_.push_back(std::move(shares));
      std::vector<double> best(static_cast<std::size_t>(nodes_) + 1, 1);
      for (int nodes = 2; nodes <= nodes_; ++nodes)
        best[nodes] = 1 + shares_.back()[0][nodes - 1].value;
      best_.push_back(std::move(best));
    }
  }

  BestTree tree(int drafts, int levels) const {
    BestTree tree{best_[levels][drafts + 1], 0, ""};
    struct Open {
      int nodes, level;
    };
    std::vector<int> counts;
    for (std::deque<Open> open{{drafts + 1, 0}}; !open.empty(); open.pop_front()) {
      const auto [nodes, level] = open.front();
      tree.levels = std::max(tree.levels, level);
      int children = 0, left = nodes - 1;
      for (; level < levels && left > 0 && children < ranks_; ++children) {
        const Share& share = shares_[levels - level - 1][children][left];
        if (share.nodes == 0) break;
        open.push_back({share.nodes, level + 1});
        left -= share.nodes;
      }
      counts.push_back(children);
    }
    while (!counts.empty() && counts.back() == 0) counts.pop_back();
    for (const int count : counts)
      tree.shape += (tree.shape.empty() ? "" : " ") + std::to_string(count);
    return tree;
  }

 private:
  // What the siblings from one rank on are worth, and how many nodes the first of them gets.
  struct Share {
    double value = 0;
    int nodes = 0;
  };
  using Shares = std::vector<std::vector<Share>>;

  Share choose(const Shares& shares, int rank, int left) const {
    Share best;
    for (int nodes = 1; nodes <= left; ++nodes) {
      const double value =
          rates_[rank] * best_.back()[nodes] + shares[rank + 1][left - nodes].value;
      if (value > best.value + 1e-12) best = {value, nodes};
    }
    return best;
  }

  std::vector<double> rates_;
  int ranks_, nodes_;
  std::vector<std::vector<double>> best_;
  std::vector<Shares> shares_;
};

// How often the k-th draft of a node was the accepted one, of all nodes that had so many.
std::vector<double> sibling_rates(const Frame& frame, const std::vector<char>& wanted) {
  std::vector<double> accepted, offered;
  const auto count = [](std::vector<double>& counts, std::size_t rank) {
    counts.resize(std::max(counts.size(), rank + 1));
    ++counts[rank];
  };
  frame.walk({"step_verified", "step_exact"}, Table::draft, {"draft_depth", "draft_accepted"},
             [&](const Frame::Block& block) {
               for (std::size_t i = 0; i < block.samples.size(); ++i) {
                 if (!wanted[block.samples[i]]) continue;
                 for (std::int64_t s = block.step_begin[i]; s < block.step_begin[i + 1]; ++s) {
                   // Only drafts behind an accepted one are judged, so those of one depth are
                   // siblings, in the order in which they were tried.
                   std::vector<std::size_t> rank;
                   for (std::int64_t d = block.row_begin[s];
                        block.steps[0][s] != 0 && d < block.row_begin[s + 1]; ++d) {
                     const auto depth = static_cast<std::size_t>(block.rows[0][d]);
                     if (block.rows[1][d] < 0 || block.rows[0][d] < block.steps[1][s]) continue;
                     rank.resize(std::max(rank.size(), depth + 1));
                     count(offered, rank[depth]);
                     if (block.rows[1][d] == 1) count(accepted, rank[depth]);
                     ++rank[depth];
                   }
                 }
               }
             });
  accepted.resize(offered.size());
  // A draft is tried where those before it were rejected.
  std::vector<double> rates;
  double reached = 1;
  for (std::size_t rank = 0; rank < offered.size(); ++rank) {
    const double rate = offered[rank] > 0 ? accepted[rank] / offered[rank] : 0;
    rates.push_back(reached * rate);
    reached *= 1 - rate;
  }
  return rates;
}

}  // namespace

BestTree best_tree(const std::vector<double>& rates, int drafts, int levels) {
  return Search(rates, drafts, levels).tree(drafts, levels);
}

std::string tree_table(const Frame& frame, const ReportRequest& request, int drafts, int levels) {
  const Grouping grouping(frame, request.by);
  const Pairing pairing(frame, grouping);
  TextTable table{{"arm", "drafts", "levels", "tokens/step", "shape"}, {}};
  std::string rows;
  for (std::size_t g = 0; g < grouping.groups.size(); ++g) {
    const std::vector<double> rates = sibling_rates(frame, pairing.wanted(static_cast<int>(g)));
    if (rates.empty()) continue;
    rows += grouping.groups[g].name + ": a node's drafts are accepted with probability";
    for (const double rate : rates) rows += " " + fixed(rate, 3);
    rows += "\n";
    const Search search(rates, drafts, levels);
    std::vector<int> sizes;
    for (int size = 1; size < drafts; size *= 2) sizes.push_back(size);
    sizes.push_back(drafts);
    for (const int size : sizes) {
      const BestTree tree = search.tree(size, levels);
      table.rows.push_back({grouping.groups[g].name, std::to_string(size),
                            std::to_string(tree.levels), fixed(tree.tokens, 3), tree.shape});
    }
  }
  if (table.rows.empty())
    throw DataError("'{}' records no judged drafts; decode with a verifier and trace.drafts = all",
                    frame.files().front().path);
  return rows + "\n" + table.print() +
         "\ntokens/step: with the token behind the last accepted draft, where rates depend on "
         "nothing but the rank; shape: drafter.model.shape\n";
}

}  // namespace draftlab
