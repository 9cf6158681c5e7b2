// The model `any-subset` on libtorch: it turns questions into rows of the network, and keeps each
// sequence's cache in step with its canvas.
//
// Prompt rows see one another; generated rows see the prompt and what was committed before them,
// themselves included; a query row sees what is committed, and the drafted tokens above the node it
// is asked at. A generated token never becomes prompt: that would change the answers it was drawn
// from (Lemma 1 of ASSD).
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "core/base/error.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/nn/kernels/machine_torch.h"
#include "plugins/models/nn/question_paths.h"
#include "plugins/models/xlnet/any_subset.h"
#include "plugins/models/xlnet/xlnet_rows_torch.h"
#include "plugins/models/xlnet/xlnet_torch.h"

namespace draftlab {
namespace {

// The relative-position table of a longer canvas would outgrow the network.
constexpr int kLongest = 16384;

struct Placed {
  std::int32_t position;
  Token token;
  bool operator==(const Placed&) const = default;
};

// Returns the canvas as the network sees it: prompt rows, then generated rows in the order of their
// commitment.
std::vector<Placed> rows_of(const Canvas& canvas) {
  std::vector<Placed> rows;
  for (std::int32_t i = 0; i < canvas.length(); ++i)
    if (canvas.given(i)) rows.push_back({i, canvas.token(i)});
  for (const std::int32_t position : canvas.order())
    rows.push_back({position, canvas.token(position)});
  return rows;
}

// The network's rows for one sequence: what is cached, and what a question adds.
class AnySubsetSequence final : public Sequence {
 public:
  AnySubsetSequence(const Canvas& canvas, const XlnetConfig& config)
      : Sequence(canvas), cache_(config, canvas.length()) {}

  // Appends the content and query rows that `question` needs; content rows take their places in the
  // cache.
  void add_rows(const Question& question, std::vector<Row>& content, std::vector<Row>& queries) {
    const std::vector<Placed> rows = rows_of(canvas);
    keep(rows);
    const std::int64_t prompt = canvas.prompt_size(),
                       committed = static_cast<std::int64_t>(rows.size());
    while (static_cast<std::int64_t>(cached_.size()) < committed) {
      const Placed& row = rows[cached_.size()];
      cached_.push_back(row);
      const std::int64_t index = cache_.append(row.position);
      content.push_back({&cache_, row.position, row.token, index, std::max(index + 1, prompt), {}});
    }

    // A drafted token gets a content row only where some row attends it, that is where it, or a
    // token drafted after it, is asked at.
    const std::vector<char> needed = seen_nodes(question.nodes, question.asks);
    // The cache rows of each node and of those above it.
    std::vector<std::vector<std::int32_t>> above(question.nodes.size());
    // An index into drafted_ for each node.
    std::vector<int> drafted(question.nodes.size(), kRoot);
    for (std::size_t i = 0; i < question.nodes.size(); ++i) {
      if (!needed[i]) continue;
      const Node& node = question.nodes[i];
      if (node.parent != kRoot) above[i] = above[node.parent];
      const std::int64_t index = cache_.append(node.position);
      above[i].push_back(static_cast<std::int32_t>(index));
      drafted[i] = static_cast<int>(drafted_.size());
      drafted_.push_back(
          {node.parent == kRoot ? kRoot : drafted[node.parent], node.position, node.token});
      content.push_back({&cache_, node.position, node.token, index, committed, above[i]});
    }
    for (const Ask& ask : question.asks) {
      for (const std::int32_t position : ask.positions) {
        queries.push_back({&cache_, position, kNoToken, 0, committed,
                           ask.node == kRoot ? std::vector<std::int32_t>{} : above[ask.node]});
      }
    }
  }

 private:
  // Keeps what the canvas confirms of the cache: rows that were committed, and drafts that were
  // accepted since, which are moved to where the order of commitment puts them. The rest is
  // truncated.
  void keep(const std::vector<Placed>& rows) {
    std::size_t agreed = 0;
    while (agreed < cached_.size() && agreed < rows.size() && cached_[agreed] == rows[agreed])
      ++agreed;
    const std::int64_t first_draft = static_cast<std::int64_t>(cached_.size());
    const bool intact = agreed == cached_.size();
    cached_.resize(agreed);
    for (int parent = kRoot; intact && agreed < rows.size(); ++agreed) {
      int next = kRoot;
      for (std::size_t i = 0; i < drafted_.size() && next == kRoot; ++i) {
        const Node& node = drafted_[i];
        if (node.parent == parent && Placed{node.position, node.token} == rows[agreed])
          next = static_cast<int>(i);
      }
      if (next == kRoot) break;
      cache_.move(first_draft + next, static_cast<std::int64_t>(agreed));
      cached_.push_back(rows[agreed]);
      parent = next;
    }
    drafted_.clear();
    cache_.truncate(static_cast<std::int64_t>(cached_.size()));
  }

  XlnetRowCache cache_;
  // The committed rows in the cache.
  std::vector<Placed> cached_;
  // The drafts of the last question, whose rows follow.
  std::vector<Node> drafted_;
};

class AnySubset final : public Model {
 public:
  explicit AnySubset(const AnySubsetOptions& options) : options_(options) {
    if (options_.checkpoint.empty() == options_.random.empty()) {
      throw ConfigError(
          "model.checkpoint must name a folder with config.json and model.safetensors (or "
          "model.random a shape, not both)");
    }
  }

  void load(const Machine& machine) override {
    const std::optional<at::Device> tensors = tensor_device(machine);
    if (tensors && !options_.incremental)
      throw ConfigError(
          "model.any-subset.incremental = false is computed on the CPU: run.device must be cpu");
    use_threads(machine.threads);
    const Precision precision = precision_of(options_.dtype, machine);
    own_kernels_ = !tensors;
    if (is_quantised(precision) && !options_.incremental)
      throw ConfigError(
          "model.any-subset.incremental = false multiplies with libtorch, which has no products in "
          "q8 or q4");
    bf16_ = precision == Precision::bf16;
    if (options_.random.empty()) {
      net_ = Xlnet::load(options_.checkpoint,
                         options_.incremental ? std::nullopt : std::optional(at::kFloat));
      facts_.checkpoint = options_.checkpoint;
      facts_.digest = weights_digest(options_.checkpoint);
    } else {
      net_ = Xlnet::random(random_shape(), 1);
    }
    const XlnetConfig& config = config_ = net_->config;
    facts_.vocabulary = static_cast<int>(config.vocab_size);
    facts_.longest = kLongest;
    facts_.mask = static_cast<Token>(config.mask_token_id);
    facts_.family = "xlnet";
    facts_.rounding = unit_roundoff(precision);
    for (const auto& [name, tensor] : net_->named_parameters()) facts_.parameters += tensor.numel();
    if (!options_.incremental) return;
    rows_.emplace(std::move(*net_), precision, tensors);
    net_.reset();
  }

  void compute_with(int threads) override { use_all_threads(threads); }
  ModelFacts facts() const override { return facts_; }
  bool rows_are_independent() const override { return own_kernels_; }
  bool mixes() const override { return rows_.has_value(); }

  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    if (canvas.length() > kLongest) {
      throw ConfigError("a canvas of {} positions is longer than the {} that any-subset can hold",
                        canvas.length(), kLongest);
    }
    // Without a prompt the first query row would attend nothing, and a softmax over nothing sees
    // everything.
    if (canvas.prompt_size() == 0) throw ConfigError("any-subset needs at least one prompt token");
    for (const Token token : canvas.tokens()) {
      if (token >= facts_.vocabulary) {
        throw ConfigError("prompt token {} lies outside the model's vocabulary of {}", token,
                          facts_.vocabulary);
      }
    }
    if (rows_) rows_->prepare(canvas.length());
    return std::make_unique<AnySubsetSequence>(canvas, config_);
  }

 protected:
  void evaluate(std::span<Pending> batch) override {
    const at::NoGradGuard no_grad;
    for (Pending& pending : batch) pending.layers = config_.n_layer;
    if (!rows_) {
      for (Pending& pending : batch) recompute(pending);
      return;
    }
    // Rows of all sequences go through the network together, so its weights are read once a
    // forward.
    std::vector<Row> content, queries;
    for (Pending& pending : batch) {
      const std::size_t before = content.size() + queries.size();
      static_cast<AnySubsetSequence*>(pending.sequence)
          ->add_rows(*pending.question, content, queries);
      pending.rows = std::max(1, pending.question->leaves());
      pending.positions = static_cast<std::int64_t>(content.size() + queries.size() - before);
    }
    const auto logits = std::make_shared<at::Tensor>(rows_->forward(content, queries));
    std::int64_t row = 0;
    for (Pending& pending : batch) {
      for (const Ask& ask : pending.question->asks) {
        for (const std::int32_t position : ask.positions)
          pending.answer->add(ask.node, position, distribution(logits, row++));
      }
    }
  }

 private:
  // Reads LAYERSxWIDTHxVOCABULARY, with heads of 64 and a feed-forward of four widths, as in
  // XLNet-base.
  XlnetConfig random_shape() const {
    long layers = 0, width = 0, vocabulary = 0;
    char rest = 0;
    if (std::sscanf(options_.random.c_str(), "%ldx%ldx%ld%c", &layers, &width, &vocabulary,
                    &rest) != 3 ||
        layers < 1 || layers > 1000 || width < 64 || width > 65536 || width % 64 ||
        vocabulary < 8 || vocabulary > 10'000'000) {
      throw ConfigError(
          "model.random is '{}', it must be LAYERSxWIDTHxVOCABULARY with WIDTH a multiple of 64, "
          "such as 12x768x32000",
          options_.random);
    }
    XlnetConfig config;
    config.n_layer = layers;
    config.d_model = width;
    config.vocab_size = vocabulary;
    config.d_head = 64;
    config.n_head = width / 64;
    config.d_inner = 4 * width;
    return config;
  }

  Distribution distribution(const std::shared_ptr<at::Tensor>& logits, std::int64_t row) const {
    const auto size = static_cast<std::size_t>(facts_.vocabulary);
    return Distribution::from_logits(
        logits, {logits->data_ptr<float>() + row * static_cast<std::int64_t>(size), size},
        facts_.mask);
  }

  // The whole canvas with the tokens of one path on it. Ranks are 0 for the prompt, then the order
  // of commitment, then the path; the rest comes after all of them. An asked position sees the
  // ranks up to `seen`.
  struct PathRows {
    std::vector<std::int64_t> rank, ids, targets, seen;
    // The node of each target.
    std::vector<int> nodes;
  };

  // Lays out the path that ends in a leaf, and the asks on it that no other path answered.
  PathRows path_rows(const Question& question, const Canvas& canvas, int leaf,
                     std::vector<char>& answered) const {
    PathRows rows;
    rows.rank.assign(canvas.length(), canvas.length() + 1);
    rows.ids.assign(canvas.length(), std::max(facts_.mask, 0));
    std::int64_t next = 0;
    for (const Placed& row : rows_of(canvas)) {
      rows.rank[row.position] = canvas.given(row.position) ? 0 : ++next;
      rows.ids[row.position] = row.token;
    }
    const std::int64_t committed = next;
    const std::vector<int> path = path_to(question.nodes, leaf);
    for (const int node : path) {
      rows.rank[question.nodes[node].position] = ++next;
      rows.ids[question.nodes[node].position] = question.nodes[node].token;
    }
    for (std::size_t i = 0; i < question.asks.size(); ++i) {
      const int node = question.asks[i].node;
      const auto at = std::find(path.begin(), path.end(), node);
      if (answered[i] || (node != kRoot && at == path.end())) continue;
      answered[i] = 1;
      for (const std::int32_t position : question.asks[i].positions) {
        rows.targets.push_back(position);
        rows.seen.push_back(node == kRoot ? committed : committed + 1 + (at - path.begin()));
        rows.nodes.push_back(node);
      }
    }
    return rows;
  }

  static StreamInput input_of(const PathRows& rows) {
    const auto length = static_cast<std::int64_t>(rows.ids.size()),
               count = static_cast<std::int64_t>(rows.targets.size());
    const auto tensor = [](const std::vector<std::int64_t>& values) {
      at::Tensor copy = at::empty({1, static_cast<std::int64_t>(values.size())}, at::kLong);
      std::copy(values.begin(), values.end(), copy.data_ptr<std::int64_t>());
      return copy;
    };
    StreamInput input{tensor(rows.ids), at::ones({1, length, length}, at::kBool),
                      at::ones({1, count, length}, at::kBool), tensor(rows.targets)};
    bool *content = input.blocked_content.data_ptr<bool>(),
         *query = input.blocked_query.data_ptr<bool>();
    for (const std::int64_t own : rows.rank)
      for (const std::int64_t other : rows.rank)
        *content++ = !(other < own || (own == 0 && other == 0));
    for (const std::int64_t seen : rows.seen)
      for (const std::int64_t other : rows.rank) *query++ = other > seen;
    return input;
  }

  // Sends the whole canvas through both streams, one batch row a path, as the authors' code does:
  // masked positions are content rows too, which no other row sees.
  void recompute(Pending& pending) const {
    const Question& question = *pending.question;
    const Canvas& canvas = pending.sequence->canvas;
    std::vector<int> leaves = leaves_of(question.nodes);
    if (leaves.empty()) leaves.push_back(kRoot);
    std::vector<char> answered(question.asks.size(), 0);
    pending.rows = static_cast<std::int64_t>(leaves.size());
    pending.positions = 0;
    for (const int leaf : leaves) {
      const PathRows rows = path_rows(question, canvas, leaf, answered);
      if (rows.targets.empty()) continue;
      ForwardOptions options;
      options.bf16 = bf16_;
      const auto logits = std::make_shared<at::Tensor>(
          two_stream_logits(*net_, input_of(rows), options).contiguous());
      const auto count = static_cast<std::int64_t>(rows.targets.size());
      for (std::int64_t t = 0; t < count; ++t)
        pending.answer->add(rows.nodes[t], static_cast<std::int32_t>(rows.targets[t]),
                            distribution(logits, t));
      pending.positions += canvas.length() + count;
    }
  }

  AnySubsetOptions options_;
  ModelFacts facts_;
  bool bf16_ = false, own_kernels_ = true;
  XlnetConfig config_;
  // Used where both streams are recomputed whole.
  std::optional<Xlnet> net_;
  // Used where they are not.
  std::optional<XlnetRows> rows_;
};

}  // namespace
}  // namespace draftlab

draftlab::Model* draftlab_make_any_subset(const draftlab::AnySubsetOptions* options) {
  return new draftlab::AnySubset(*options);
}
