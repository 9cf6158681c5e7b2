// Hydra's heads: what they read by hand, their loss, and their answers against the forward of
// training and against themselves with less remembered or more beside it.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <filesystem>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "plugins/models/autoregressive/hydra_loss_torch.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "tests/plugins/models/autoregressive/small_torch.h"

namespace draftlab {
namespace {

using namespace testing;

const std::vector<std::string> kHydraBases = {"qwen2", "qwen3", "encoder"};
constexpr int kPrompt = 5, kLength = 24, kHeads = 4;
const std::vector<Token> kHydraTokens = {1, 2, 7, 7, 4};

// Heads that add something to the state that they read.
HydraHeads drawn_heads(const Transformer& net) {
  HydraHeads heads = HydraHeads::random({kHeads, 7, net.config.hidden_size}, 3, 0.3);
  const at::NoGradGuard no_grad;
  auto generator = at::make_generator<at::CPUGeneratorImpl>(8);
  for (auto& [name, tensor] : heads.named_parameters()) tensor.normal_(0, 0.3, generator);
  return heads;
}

// Checkpoints of a target and of heads for it.
struct Pair {
  Pair(const Folder& folder, const std::string& family)
      : net(random_net(family, 11)),
        heads(drawn_heads(net)),
        base((folder.path / family / "base").string()),
        beside((folder.path / family / "heads").string()) {
    net.save(base, false);
    heads.save(beside, false, weights_digest(base));
  }
  std::unique_ptr<Model> model(Precision dtype, RowCache cache = RowCache::on) const {
    AutoregressiveOptions options;
    options.hydra_heads = beside;
    options.cache = cache;
    return make(base, options, dtype);
  }
  Transformer net;
  HydraHeads heads;
  std::string base, beside;
};

at::Tensor ids_of(const std::vector<Token>& tokens, std::size_t from, std::size_t until) {
  std::vector<std::int64_t> ids(tokens.begin() + static_cast<std::ptrdiff_t>(from),
                                tokens.begin() + static_cast<std::ptrdiff_t>(until));
  return at::tensor(ids, at::kLong).unsqueeze(0);
}

TrainingRows rows_of(const at::Tensor& ids, std::int64_t until = 0) {
  const std::int64_t length = ids.size(1);
  TrainingRows rows{ids, at::arange(length, at::kLong).unsqueeze(0),
                    at::zeros({1, length, 3}, at::kInt)};
  for (std::int64_t i = 0; i < length; ++i) rows.seen.select(1, i).fill_(until > 0 ? until : i + 1);
  return rows;
}

// The logits behind these drafts of a canvas whose committed tokens are `tokens`, by the target's
// forward of training: the state before the last token, and the embeddings from it on.
at::Tensor book(const Pair& pair, const std::vector<Token>& tokens,
                const std::vector<Token>& drafts) {
  const at::NoGradGuard no_grad;
  const bool encoder = !pair.net.encoder.empty();
  const std::size_t start = encoder ? kPrompt - 1 : 0;
  const std::int64_t d = pair.net.config.hidden_size;
  at::Tensor state = at::zeros({1, d});
  if (tokens.size() - start > 1) {
    TrainingCanvases canvases{.rows = rows_of(ids_of(tokens, start, tokens.size() - 1))};
    if (encoder) {
      canvases.source = rows_of(ids_of(tokens, 0, kPrompt), kPrompt);
      canvases.source_seen = at::full({1, canvases.rows.ids.size(1), 3}, kPrompt, at::kInt);
    }
    const at::Tensor states = training_hidden(pair.net, canvases, false).view({-1, d});
    state = states.narrow(0, states.size(0) - 1, 1);
  }
  std::vector<Token> seen = {tokens.back()};
  seen.insert(seen.end(), drafts.begin(), drafts.end());
  const at::Tensor embedded =
      at::embedding(pair.net.embed_tokens, ids_of(seen, 0, seen.size())).view({1, -1});
  const at::Tensor own =
      pair.heads.states(drafts.size(), state, at::cat({state, embedded}, -1), false);
  return at::linear(own, pair.net.lm_head)[0];
}

// The law after the last of these drafts, asked shallowly.
Question shallow(std::int32_t first, const std::vector<Token>& drafts) {
  Question question = path(first, drafts, kLength, 1, Kind::draft);
  question.asks.erase(question.asks.begin(), question.asks.end() - 1);
  question.shallow = true;
  return question;
}

}  // namespace

DOCTEST_TEST_CASE("what Hydra's second head computes, by hand, d = 1") {
  HydraHeads heads = HydraHeads::zeros({2, 1, 1});
  heads.heads[1].hidden.copy_(at::tensor({1.f, 2.f, -1.f}).view({1, 3}));
  heads.heads[1].hidden_bias.fill_(0.5f);
  heads.heads[1].project.fill_(4.f);
  heads.heads[1].project_bias.fill_(-3.f);
  // Inside it is 1 * 2 + 2 * 0.25 - 1 * 2 + 0.5 = 1, gated by itself.
  const at::Tensor read = at::tensor({2.f, 0.25f, 2.f}).view({1, 3}), state = at::tensor({{2.f}});
  const double gated = 1 / (1 + std::exp(-1.0));
  DOCTEST_CHECK(heads.states(1, state, read, false).item<double>() ==
                doctest::Approx(2 + 4 * gated - 3));
  DOCTEST_CHECK(HydraHeads::random({3, 2, 4}, 1, 0.1)
                    .states(0, at::ones({1, 4}), at::ones({1, 8}), false)
                    .equal(at::ones({1, 4})));
}

DOCTEST_TEST_CASE("the loss of Hydra's heads, row by row") {
  const std::vector<WorkedExample> examples{{{1, 4, 7, 8, 9}, 2}, {{1, 2, 3, 5}, 1}};
  const Transformer net = random_net("qwen3", 4);
  const HydraHeads heads = drawn_heads(net);
  CausalBatch batch = causal_batch({&examples[0], &examples[1]}, false);
  const TargetReading reading = read_target(net, batch, false);
  const std::int64_t d = net.config.hidden_size;
  for (int head = 0; head < kHeads; ++head) {
    double tokens = 0, overlap = 0;
    int count = 0;
    for (const WorkedExample& example : examples) {
      const std::vector<Token>& all = example.tokens;
      const at::Tensor ids = ids_of(all, 0, all.size() - 1);
      const std::int64_t length = ids.size(1);
      const at::Tensor hidden =
          transformer_hidden(net, {ids, at::arange(length).unsqueeze(0),
                                   at::ones({length, length}, at::kBool).tril()})
              .back()[0];
      // Behind row + head stands a token of the answer, which the target's law is about.
      for (std::int64_t row = example.prompt - 1; row + head < length; ++row, ++count) {
        const at::Tensor state = (row == 0 ? at::zeros({d}) : hidden[row - 1]).unsqueeze(0);
        std::vector<at::Tensor> read{state};
        for (std::int64_t i = row; i <= row + head; ++i)
          read.push_back(net.embed_tokens[all[i]].unsqueeze(0));
        const at::Tensor own = heads.states(head, state, at::cat(read, -1), false)[0];
        const at::Tensor p = at::linear(hidden[row + head], net.lm_head).softmax(-1),
                         q = at::linear(own, net.lm_head).softmax(-1);
        for (std::int64_t token = 0; token < p.numel(); ++token) {
          const double of_target = p[token].item<double>(), of_head = q[token].item<double>();
          tokens -= of_target * std::log(of_head);
          overlap += std::min(of_target, of_head);
        }
      }
    }
    const HydraLoss loss = hydra_loss(heads, batch, reading, head);
    DOCTEST_INFO("head " << head << " of " << count);
    DOCTEST_CHECK(loss.tokens.item<double>() == doctest::Approx(count ? tokens / count : 0));
    DOCTEST_CHECK(loss.overlap == doctest::Approx(count ? overlap / count : 0));
  }
}

DOCTEST_TEST_CASE(
    "shallow answers of Hydra's heads: as in training, and bit for bit whatever is remembered; the "
    "target answers as without them") {
  at::set_num_threads(1);
  const Folder folder;
  for (const std::string& family : kHydraBases) {
    const Pair pair(folder, family);
    for (const Precision dtype : {Precision::f32, Precision::bf16, Precision::q8, Precision::q4}) {
      DOCTEST_INFO(family << " " << word(dtype));
      const auto cached = pair.model(dtype), uncached = pair.model(dtype, RowCache::off),
                 plain = make(pair.base, {}, dtype);
      DOCTEST_CHECK(cached->facts().digest != plain->facts().digest);
      DOCTEST_CHECK(cached->facts().parameters > plain->facts().parameters);
      Canvas canvas = prompted(kLength, kHydraTokens);
      const auto a = cached->open(canvas), b = uncached->open(canvas), c = plain->open(canvas);
      std::vector<Token> tokens = kHydraTokens;
      // The rows that leave the states of the prompt, and the source's.
      std::int64_t fresh = family == "encoder" ? kPrompt : kPrompt - 1;
      // Drafts of three; what is accepted of each round, and then another token stands in the way.
      for (const int accepted : {3, 0, 1, 2, 3}) {
        const auto first = static_cast<std::int32_t>(tokens.size());
        const std::vector<Token> drafts{static_cast<Token>(first % 7), 9,
                                        static_cast<Token>(first % 5 + 10)};
        for (std::size_t i = 0; i <= drafts.size(); ++i) {
          const std::vector<Token> some(drafts.begin(),
                                        drafts.begin() + static_cast<std::ptrdiff_t>(i));
          const Question question = shallow(first, some);
          const int node = static_cast<int>(i) - 1;
          const std::int32_t next = first + static_cast<std::int32_t>(i);
          const std::int64_t before = a->counts()[Kind::draft].positions;
          const Answer own = ask(*cached, *a, question);
          DOCTEST_CHECK(a->counts()[Kind::draft].positions - before == 1 + fresh);
          fresh = 0;
          DOCTEST_CHECK(same_bits(own, ask(*uncached, *b, question), question));
          if (dtype == Precision::f32)
            DOCTEST_CHECK(distance(own.at(node, next), book(pair, tokens, some)) < 1e-3);
        }
        const Question question = path(first, drafts, kLength);
        const Answer own = ask(*cached, *a, question);
        DOCTEST_CHECK(same_bits(own, ask(*plain, *c, question), question));
        DOCTEST_CHECK(same_bits(own, ask(*uncached, *b, question), question));
        for (int i = 0; i < accepted; ++i) tokens.push_back(drafts[i]);
        tokens.push_back(18);
        for (auto i = static_cast<std::size_t>(first); i < tokens.size(); ++i)
          canvas.commit(static_cast<std::int32_t>(i), tokens[i]);
      }
    }
  }
}

DOCTEST_TEST_CASE("trees behind Hydra's heads, and several sequences, as each path alone") {
  at::set_num_threads(1);
  const Folder folder;
  for (const std::string& family : kHydraBases) {
    const Pair pair(folder, family);
    DOCTEST_INFO(family);
    const auto model = pair.model(Precision::f32);
    const Canvas canvas = prompted(kLength, kHydraTokens),
                 other = prompted(kLength, {1, 8, 8, 2, 9, 3});
    const Question tree{.kind = Kind::draft,
                        .view = View::causal,
                        .nodes = {{kRoot, 5, 4}, {0, 6, 5}, {0, 6, 6}, {2, 7, 7}, {kRoot, 5, 8}},
                        .asks = {{1, {7}}, {3, {8}}, {4, {6}}},
                        .shallow = true};
    const Question besides = shallow(6, {2}), deep = path(5, {3}, kLength);
    const auto together = model->open(canvas), beside = model->open(other),
               verified = model->open(canvas);
    Answer answers[3];
    Pending batch[] = {{beside.get(), &besides, &answers[0]},
                       {together.get(), &tree, &answers[1]},
                       {verified.get(), &deep, &answers[2]}};
    model->answer(batch);
    const std::vector<std::pair<int, std::vector<Token>>> paths{
        {1, {4, 5}}, {3, {4, 6, 7}}, {4, {8}}};
    for (const auto& [node, drafts] : paths) {
      const auto alone = model->open(canvas);
      const auto next = static_cast<std::int32_t>(5 + drafts.size());
      const Answer chain = ask(*model, *alone, shallow(5, drafts));
      DOCTEST_CHECK(same_bits(chain.at(static_cast<int>(drafts.size()) - 1, next),
                              answers[1].at(node, next)));
    }
    const auto one = model->open(other), two = model->open(canvas);
    DOCTEST_CHECK(same_bits(answers[0], ask(*model, *one, besides), besides));
    DOCTEST_CHECK(same_bits(answers[2], ask(*model, *two, deep), deep));
  }
}

DOCTEST_TEST_CASE("Hydra's heads that do not fit, or are asked too much, are refused") {
  const Folder folder;
  const Pair pair(folder, "qwen3");
  AutoregressiveOptions options;
  options.hydra_heads = pair.beside;
  options.exit_layers = 1;
  DOCTEST_CHECK_THROWS_AS(make(pair.base, options), ConfigError);
  options.exit_layers = 0;
  options.feature_head = pair.beside;
  DOCTEST_CHECK_THROWS_AS(make(pair.base, options), ConfigError);
  options.feature_head.clear();
  const std::string another = (folder.path / "another").string();
  random_net("qwen3", 9).save(another, false);
  DOCTEST_CHECK_THROWS_AS(make(another, options), DataError);
  options.hydra_heads = pair.base;
  DOCTEST_CHECK_THROWS_AS(make(pair.base, options), DataError);

  const auto model = pair.model(Precision::f32);
  const Canvas canvas = prompted(kLength, kHydraTokens);
  const auto sequence = model->open(canvas);
  DOCTEST_CHECK_NOTHROW(ask(*model, *sequence, shallow(5, {3, 4, 5})));
  DOCTEST_CHECK_THROWS_AS(ask(*model, *sequence, shallow(5, {3, 4, 5, 6})), ConfigError);
  // A head tells the next token, and not those after it.
  Question ahead = shallow(5, {3});
  ahead.asks.front().positions = {7};
  DOCTEST_CHECK_THROWS_AS(ask(*model, *sequence, ahead), ConfigError);
}

}  // namespace draftlab
