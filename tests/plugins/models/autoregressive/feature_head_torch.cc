// Feature heads of every kind: their losses by hand, and their answers against the forward of
// training, row after row, and against themselves with less remembered or more beside them.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "plugins/models/autoregressive/feature_loss_torch.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/nn/transformer/feature_head_torch.h"
#include "tests/plugins/models/autoregressive/small_torch.h"

namespace draftlab {
namespace {

using namespace testing;

const std::vector<std::string> kBases = {"qwen2", "qwen3", "encoder"};
constexpr int kTextPrompt = 5, kTextLength = 24;
const std::vector<Token> kText = {1, 2, 7, 7, 4};

// Heads that differ in all that a shape says.
const std::vector<FeatureShape> kShapes = {
    {},
    {.kind = FeatureKind::mtp},
    {.kind = FeatureKind::eagle3, .taps = {0, 2, 3}},
    {.kind = FeatureKind::eagle3, .taps = {1}, .tokens = {1, 2, 4, 5, 7, 9, 11, 12, 13, 18}}};

// Random weights, norms too.
FeatureHead random_head(const Transformer& net, const FeatureShape& shape) {
  const at::NoGradGuard no_grad;
  FeatureHead head = FeatureHead::random(net, shape, 3, 0.3);
  auto generator = at::make_generator<at::CPUGeneratorImpl>(8);
  for (auto& [name, tensor] : head.parameters)
    if (tensor.dim() == 1) tensor.add_(at::zeros_like(tensor).normal_(0, 0.2, generator));
  return head;
}

// Checkpoints of a target and of a head for it.
struct FeaturePair {
  FeaturePair(const Folder& folder, const std::string& family, const FeatureShape& shape = {})
      : net(random_net(family, 11)),
        head(random_head(net, shape)),
        base((folder.path / family / "base").string()),
        beside((folder.path / family / ("head" + std::string(word(shape.kind)))).string()) {
    net.save(base, false);
    head.save(beside, false, weights_digest(base));
  }
  std::unique_ptr<Model> model(Precision dtype, RowCache cache = RowCache::on) const {
    AutoregressiveOptions options;
    options.feature_head = beside;
    options.cache = cache;
    return make(base, options, dtype);
  }
  Transformer net;
  FeatureHead head;
  std::string base, beside;
};

at::Tensor feature_ids(const std::vector<Token>& tokens, std::size_t from, std::size_t until) {
  std::vector<std::int64_t> ids(tokens.begin() + static_cast<std::ptrdiff_t>(from),
                                tokens.begin() + static_cast<std::ptrdiff_t>(until));
  return at::tensor(ids, at::kLong).unsqueeze(0);
}

// Rows of one canvas, each of which sees the first `until` rows, or those up to itself.
TrainingRows feature_rows(const at::Tensor& ids, std::int64_t until = 0) {
  const std::int64_t length = ids.size(1);
  TrainingRows rows{ids, at::arange(length, at::kLong).unsqueeze(0),
                    at::zeros({1, length, 3}, at::kInt)};
  for (std::int64_t i = 0; i < length; ++i) rows.seen.select(1, i).fill_(until > 0 ? until : i + 1);
  return rows;
}

// What a head reads of the target, made into states: [1, L, d].
at::Tensor book_states(const FeatureHead& head, const at::Tensor& last, const LayerPass& pass) {
  if (head.shape.taps.empty()) return last.clone();
  std::vector<at::Tensor> tapped;
  for (const std::int64_t layer : head.shape.taps) tapped.push_back(pass.raw[layer]);
  return at::linear(at::cat(tapped, -1), head.fuse);
}

// The logits of all tokens, where a head tells those that it knows.
at::Tensor book_logits(const FeatureHead& head, const at::Tensor& states, const Transformer& net) {
  const at::Tensor normed = head.output_norm.defined()
                                ? norm(states, head.output_norm, head.net.config.rms_norm_eps)
                                : states;
  const at::Tensor own = at::linear(normed, head.output.defined() ? head.output : net.lm_head);
  if (head.shape.tokens.empty()) return own;
  at::Tensor all = at::full({states.size(0), net.config.vocab_size}, -INFINITY);
  for (std::size_t i = 0; i < head.shape.tokens.size(); ++i)
    all.select(1, head.shape.tokens[i]).copy_(own.select(1, static_cast<std::int64_t>(i)));
  return all;
}

// The head's logits after each token of the decoder that it has a row of, [L, V], of which the
// first `committed` tokens of the canvas are no drafts: row after row, by the forward of training.
at::Tensor feature_book(const Transformer& net, const FeatureHead& head,
                        const std::vector<Token>& tokens, std::size_t committed,
                        std::size_t prompt = kTextPrompt) {
  const at::NoGradGuard no_grad;
  const bool encoder = !net.encoder.empty();
  const std::size_t start = encoder ? prompt - 1 : 0;
  const std::int64_t first = head.shape.first_row ? 0 : 1,
                     source = static_cast<std::int64_t>(prompt);
  const auto canvases_of = [&](const at::Tensor& ids) {
    TrainingCanvases canvases{.rows = feature_rows(ids)};
    if (!encoder) return canvases;
    canvases.source = feature_rows(feature_ids(tokens, 0, prompt), source);
    canvases.source_seen = at::full({1, ids.size(1), 3}, source, at::kInt);
    return canvases;
  };
  const at::Tensor ids = feature_ids(tokens, start, tokens.size());
  const std::int64_t length = ids.size(1), kept = length - first;
  LayerPass pass;
  const at::Tensor last = training_hidden(net, canvases_of(ids), false, &pass);
  at::Tensor reads = book_states(head, last, pass), encoded;
  if (encoder) encoded = norm(pass.encoded, head.net.encoder_norm, 1e-6);
  const at::Tensor embedded = at::embedding(net.embed_tokens, ids);
  at::Tensor states;
  for (auto known = static_cast<std::int64_t>(committed - start); known <= length; ++known) {
    const at::Tensor before =
        at::cat({at::zeros_like(reads.narrow(1, 0, 1)), reads.narrow(1, 0, length - 1)}, 1);
    const FeatureHead::Input input =
        head.joined(embedded.narrow(1, first, kept), before.narrow(1, first, kept), false);
    states = training_layers(head.net, canvases_of(ids.narrow(1, first, kept)),
                             {input.x, encoded, input.beside}, false);
    // What follows token `known` - 1 reads the head's own state of it.
    reads.select(1, known - 1).copy_(states.select(1, known - 1 - first));
  }
  return book_logits(head, states[0], net);
}

// The law after the last of these drafts, asked shallowly.
Question shallow_question(std::int32_t first, const std::vector<Token>& drafts) {
  Question question = path(first, drafts, kTextLength, 1, Kind::draft);
  question.asks.erase(question.asks.begin(), question.asks.end() - 1);
  question.shallow = true;
  return question;
}

}  // namespace

DOCTEST_TEST_CASE("what a feature head reads, by hand, d = 2") {
  TransformerConfig config = tiny("qwen3");
  config.hidden_size = 2;
  FeatureHead head(config, {});
  head.join.copy_(at::tensor({1.f, 0.f, 2.f, 0.f, 0.f, 1.f, 0.f, -1.f}).view({2, 4}));
  head.join_bias.copy_(at::tensor({0.5f, 0.f}));
  // (3, 4) beside (10, 20): 3 + 2 * 10 + 0.5, and 4 - 20.
  const at::Tensor embedded = at::tensor({3.f, 4.f}), state = at::tensor({10.f, 20.f});
  DOCTEST_CHECK(head.joined(embedded, state, false).x.equal(at::tensor({23.5f, -16.f})));
  // A module of MTP norms both: (.849, 1.131) and (.632, 1.265).
  FeatureHead mtp(config, {.kind = FeatureKind::mtp});
  mtp.join.copy_(head.join);
  const at::Tensor both = mtp.joined(embedded, state, false).x;
  DOCTEST_CHECK(both[0].item<double>() == doctest::Approx(0.8485281 + 2 * 0.6324555));
  DOCTEST_CHECK(both[1].item<double>() == doctest::Approx(1.1313708 - 1.2649111));
  // EAGLE-3's layer reads one state of two, as it is, and the normed embedding beside it.
  FeatureHead eagle3(config, {.kind = FeatureKind::eagle3, .taps = {1, 3}});
  eagle3.fuse.copy_(at::tensor({1.f, 0.f, 0.f, 3.f, 0.f, 1.f, 2.f, 0.f}).view({2, 4}));
  // 10 + 3 * 40, and 20 + 2 * 30.
  const at::Tensor fused = eagle3.fused(at::tensor({10.f, 20.f, 30.f, 40.f}), false);
  DOCTEST_CHECK(fused.equal(at::tensor({130.f, 80.f})));
  const FeatureHead::Input input = eagle3.joined(embedded, fused, false);
  DOCTEST_CHECK(input.x.equal(fused));
  DOCTEST_CHECK(input.beside[1].item<double>() == doctest::Approx(1.1313708));
  const FeatureLoss first{at::tensor(1.), at::tensor(10.), 0},
      second{at::tensor(2.), at::tensor(20.), 0};
  DOCTEST_CHECK(first.sum().item<double>() == doctest::Approx(2));
  DOCTEST_CHECK(weighed({first, second}).item<double>() ==
                doctest::Approx((2 + 0.8 * 4) / (1 + 0.8)));
  // Without states the tokens are all that is learned.
  DOCTEST_CHECK(FeatureLoss{{}, at::tensor(10.), 0}.sum().item<double>() == doctest::Approx(10));
}

DOCTEST_TEST_CASE("the loss of a head that hands on what it reads, row by row") {
  const std::vector<WorkedExample> examples{{{1, 4, 7, 8, 9}, 2}, {{1, 2, 3, 5}, 3}};
  const Transformer net = random_net("qwen3", 4);
  FeatureHead head(net.config, {});  // Its layer adds nothing.
  const std::int64_t d = net.config.hidden_size;
  head.join.narrow(1, d, d).copy_(at::eye(d));
  CausalBatch batch = causal_batch({&examples[0], &examples[1]}, false);
  const TargetReading reading = read_target(net, batch, false);
  const std::vector<FeatureLoss> losses = feature_losses(head, batch, reading, 2);
  DOCTEST_REQUIRE(losses.size() == 2);
  for (int pass = 0; pass < 2; ++pass) {
    double states = 0, tokens = 0, overlap = 0;
    int count = 0;
    for (const WorkedExample& example : examples) {
      const std::vector<Token>& all = example.tokens;
      const at::Tensor ids = feature_ids(all, 0, all.size() - 1);
      const std::int64_t length = ids.size(1);
      const at::Tensor hidden =
          transformer_hidden(net, {ids, at::arange(length).unsqueeze(0),
                                   at::ones({length, length}, at::kBool).tril()})
              .back()[0];
      for (std::int64_t row = example.prompt - 1 + pass; row < length; ++row, ++count) {
        // One pass on it is the state of the row before, normed; two passes are two rows.
        const std::int64_t before = row - 1 - pass;
        at::Tensor own = before < 0 ? at::zeros({d}) : hidden[before];
        for (int i = 0; i <= pass; ++i) own = norm(own, at::ones({d}), 1e-6);
        for (std::int64_t j = 0; j < d; ++j) {
          const double apart = std::abs(own[j].item<double>() - hidden[row][j].item<double>());
          states += (apart < 1 ? apart * apart / 2 : apart - 0.5) / static_cast<double>(d);
        }
        const at::Tensor p = at::linear(hidden[row], net.lm_head).softmax(-1),
                         q = at::linear(own, net.lm_head).softmax(-1);
        for (std::int64_t token = 0; token < p.numel(); ++token) {
          const double of_target = p[token].item<double>(), of_head = q[token].item<double>();
          tokens -= of_target * std::log(of_head);
          overlap += std::min(of_target, of_head);
        }
      }
    }
    DOCTEST_CHECK(losses[pass].states.item<double>() == doctest::Approx(states / count));
    DOCTEST_CHECK(losses[pass].tokens.item<double>() == doctest::Approx(tokens / count));
    DOCTEST_CHECK(losses[pass].overlap == doctest::Approx(overlap / count));
  }
}

DOCTEST_TEST_CASE("a pass is scored on the laws that the head tells when it drafts so far") {
  const std::vector<WorkedExample> examples{{{1, 4, 7, 8, 9, 5, 11}, 2}, {{1, 2, 3, 5, 12}, 3}};
  // How many rows' most probable tokens a head of few tokens knows, of how many.
  int of_known = 0, of_all = 0;
  for (const std::string& family : kBases) {
    for (const FeatureShape& shape : kShapes) {
      const Transformer net = random_net(family, 4);
      const FeatureHead head = random_head(net, shape);
      const bool encoder = !net.encoder.empty();
      CausalBatch batch = causal_batch({&examples[0], &examples[1]}, encoder);
      const TargetReading reading = read_target(net, batch, false);
      const std::vector<FeatureLoss> losses = feature_losses(head, batch, reading, 4);
      for (int pass = 0; pass < 4; ++pass) {
        DOCTEST_INFO(family << " " << word(shape.kind) << " pass " << pass);
        double tokens = 0, overlap = 0;
        int told = 0, count = 0;
        for (std::size_t b = 0; b < examples.size(); ++b) {
          const WorkedExample& example = examples[b];
          for (std::size_t drafts = example.prompt + pass; drafts < example.tokens.size();
               ++drafts) {
            const std::vector<Token> seen(example.tokens.begin(), example.tokens.begin() + drafts);
            const at::Tensor book = feature_book(net, head, seen, drafts - pass, example.prompt);
            const at::Tensor q = book[book.size(0) - 1].softmax(-1);
            const auto row = static_cast<std::int64_t>(drafts - (encoder ? example.prompt : 1));
            const at::Tensor p =
                at::linear(reading.states[b][row], net.lm_head).softmax(-1).contiguous();
            const std::vector<Token>& known = head.shape.tokens;
            double mass = 0, cross = 0;
            for (Token token = 0; token < p.numel(); ++token) {
              if (!known.empty() && !std::count(known.begin(), known.end(), token)) continue;
              mass += p[token].item<double>();
              cross -= p[token].item<double>() * std::log(q[token].item<double>());
              overlap += std::min(p[token].item<double>(), q[token].item<double>());
            }
            ++count;
            const auto best = p.argmax().item<Token>();
            if (!known.empty() && !std::count(known.begin(), known.end(), best)) continue;
            tokens += cross / mass;
            ++told;
          }
        }
        if (!shape.tokens.empty()) of_known += told, of_all += count;
        DOCTEST_CHECK(losses[pass].tokens.item<double>() ==
                      doctest::Approx(tokens / std::max(1, told)).epsilon(1e-4));
        DOCTEST_CHECK(losses[pass].overlap == doctest::Approx(overlap / count).epsilon(1e-4));
        DOCTEST_CHECK(losses[pass].states.defined() == (shape.kind == FeatureKind::eagle));
      }
    }
  }
  DOCTEST_CHECK(of_known > 0);
  DOCTEST_CHECK(of_known < of_all);
}

namespace {

void check_answers(const FeaturePair& pair, const std::string& family) {
  for (const Precision dtype : {Precision::f32, Precision::bf16, Precision::q8, Precision::q4}) {
    DOCTEST_INFO(family << " " << word(pair.head.shape.kind) << " " << word(dtype));
    const auto cached = pair.model(dtype), uncached = pair.model(dtype, RowCache::off),
               plain = make(pair.base, {}, dtype);
    DOCTEST_CHECK(cached->facts().digest != plain->facts().digest);
    Canvas canvas = prompted(kTextLength, kText);
    const auto a = cached->open(canvas), b = uncached->open(canvas), c = plain->open(canvas);
    std::vector<Token> tokens = kText;
    std::int64_t fresh = family == "encoder" ? kTextPrompt + 1 : 2 * kTextPrompt - 1;
    // Drafts of three; what is accepted of each round, and then another token stands in the way.
    for (const int accepted : {3, 0, 1, 2, 3}) {
      const auto first = static_cast<std::int32_t>(tokens.size());
      const std::vector<Token> drafts{static_cast<Token>(first % 7), 9,
                                      static_cast<Token>(first % 5 + 10)};
      for (std::size_t i = 0; i <= drafts.size(); ++i) {
        const auto some = static_cast<std::ptrdiff_t>(i);
        const Question question = shallow_question(first, {drafts.begin(), drafts.begin() + some});
        const int node = static_cast<int>(i) - 1;
        const std::int32_t next = first + static_cast<std::int32_t>(i);
        const std::int64_t before = a->counts()[Kind::draft].positions;
        const Answer own = ask(*cached, *a, question);
        // The head reads again what was committed, and then draft after draft.
        DOCTEST_CHECK(a->counts()[Kind::draft].positions - before == (i == 0 ? fresh : 1));
        DOCTEST_CHECK(same_bits(own, ask(*uncached, *b, question), question));
        if (dtype != Precision::f32) continue;
        std::vector<Token> seen = tokens;
        seen.insert(seen.end(), drafts.begin(), drafts.begin() + some);
        const at::Tensor logits = feature_book(pair.net, pair.head, seen, tokens.size());
        DOCTEST_CHECK(distance(own.at(node, next), logits[logits.size(0) - 1]) < 1e-3);
      }
      const Question question = path(first, drafts, kTextLength);
      const Answer own = ask(*cached, *a, question);
      DOCTEST_CHECK(same_bits(own, ask(*plain, *c, question), question));
      DOCTEST_CHECK(same_bits(own, ask(*uncached, *b, question), question));
      for (int i = 0; i < accepted; ++i) tokens.push_back(drafts[i]);
      tokens.push_back(18);
      for (auto i = static_cast<std::size_t>(first); i < tokens.size(); ++i)
        canvas.commit(static_cast<std::int32_t>(i), tokens[i]);
      fresh = accepted + 1;
    }
  }
}

}  // namespace

DOCTEST_TEST_CASE(
    "shallow answers of a feature head: as in training, and bit for bit whatever is remembered; "
    "the target answers as without it") {
  at::set_num_threads(1);
  const Folder folder;
  for (const std::string& family : kBases)
    for (const FeatureShape& shape : kShapes)
      check_answers(FeaturePair(folder, family, shape), family);
}

namespace {

const FeatureShape kBlock{
    .kind = FeatureKind::dflash, .taps = {1, 3}, .layers = 2, .block = 4, .mask = 0};
const FeatureShape kSmallBlock{.kind = FeatureKind::dflash,
                               .taps = {2},
                               .layers = 1,
                               .block = 3,
                               .mask = 6,
                               .tokens = {1, 2, 4, 5, 7, 9, 11, 12, 13, 18}};

// The logits of a block behind these tokens, [block, V], by the forward of training.
at::Tensor block_book(const Transformer& net, const FeatureHead& head,
                      const std::vector<Token>& tokens, std::size_t prompt = kTextPrompt) {
  const at::NoGradGuard no_grad;
  const bool encoder = !net.encoder.empty();
  const std::size_t start = encoder ? prompt - 1 : 0;
  const auto source = static_cast<std::int64_t>(prompt), size = head.shape.block;
  const at::Tensor ids = feature_ids(tokens, start, tokens.size());
  const std::int64_t length = ids.size(1), lent = length - 1;
  TrainingCanvases canvases{.rows = feature_rows(ids)};
  if (encoder) {
    canvases.source = feature_rows(feature_ids(tokens, 0, prompt), source);
    canvases.source_seen = at::full({1, length, 3}, source, at::kInt);
  }
  LayerPass pass;
  const at::Tensor last = training_hidden(net, canvases, false, &pass);
  at::Tensor block = at::full({1, size}, head.shape.mask, at::kLong);
  block[0][0] = static_cast<std::int64_t>(tokens.back());
  canvases.rows = feature_rows(block, lent + size);
  canvases.rows.position = canvases.rows.position + lent;
  if (encoder) canvases.source_seen = at::full({1, size, 3}, source, at::kInt);
  LayerInput input{at::embedding(net.embed_tokens, block)};
  if (encoder) input.encoded = norm(pass.encoded, head.net.encoder_norm, 1e-6);
  if (lent > 0)
    input.lent = norm(book_states(head, last, pass), head.state_norm, 1e-6).narrow(1, 0, lent);
  return book_logits(head, training_layers(head.net, canvases, input, false)[0], net);
}

// Asks for the laws of the next `count` positions at once.
Question block_question(std::int32_t first, std::int32_t count) {
  Question question{.kind = Kind::draft, .view = View::causal, .nodes = {}, .asks = {{kRoot, {}}}};
  for (std::int32_t i = 0; i < count; ++i) question.asks[0].positions.push_back(first + i);
  question.shallow = true;
  return question;
}

void check_blocks(const FeaturePair& pair, const std::string& family) {
  for (const Precision dtype : {Precision::f32, Precision::bf16, Precision::q8, Precision::q4}) {
    DOCTEST_INFO(family << " " << word(dtype));
    const auto cached = pair.model(dtype), uncached = pair.model(dtype, RowCache::off),
               plain = make(pair.base, {}, dtype);
    Canvas canvas = prompted(kTextLength, kText);
    const Canvas other = prompted(kTextLength, {1, 8, 8, 2, 9, 3});
    const auto a = cached->open(canvas), b = uncached->open(canvas), c = plain->open(canvas);
    std::vector<Token> tokens = kText;
    for (const int accepted : {2, 0, 1}) {
      const auto first = static_cast<std::int32_t>(tokens.size());
      const auto count = static_cast<std::int32_t>(pair.head.shape.block - 1);
      const Question all = block_question(first, count), one = block_question(first, 1);
      // Beside another sequence, asked for less, and again: a block is as it is.
      const auto beside = cached->open(other);
      const Question besides = block_question(6, count);
      Answer own, others;
      Pending batch[] = {{beside.get(), &besides, &others}, {a.get(), &all, &own}};
      cached->answer(batch);
      DOCTEST_CHECK(same_bits(own, ask(*uncached, *b, all), all));
      DOCTEST_CHECK(same_bits(own, ask(*cached, *a, one), one));
      if (dtype == Precision::f32) {
        const at::Tensor logits = block_book(pair.net, pair.head, tokens);
        for (std::int32_t i = 0; i < count; ++i)
          DOCTEST_CHECK(distance(own.at(kRoot, first + i), logits[i + 1]) < 1e-3);
      }
      const std::vector<Token> drafts{static_cast<Token>(first % 7), 9};
      const Question question = path(first, drafts, kTextLength);
      const Answer judged = ask(*cached, *a, question);
      DOCTEST_CHECK(same_bits(judged, ask(*plain, *c, question), question));
      DOCTEST_CHECK(same_bits(judged, ask(*uncached, *b, question), question));
      for (int i = 0; i < accepted; ++i) tokens.push_back(drafts[i]);
      tokens.push_back(18);
      for (auto i = static_cast<std::size_t>(first); i < tokens.size(); ++i)
        canvas.commit(static_cast<std::int32_t>(i), tokens[i]);
    }
    const auto next = static_cast<std::int32_t>(tokens.size());
    const auto size = static_cast<std::int32_t>(pair.head.shape.block);
    DOCTEST_CHECK_THROWS_AS(ask(*cached, *a, block_question(next, size)), ConfigError);
    DOCTEST_CHECK_THROWS_AS(ask(*cached, *a, shallow_question(next, {4})), ConfigError);
  }
}

}  // namespace

DOCTEST_TEST_CASE(
    "a block of DFlash: as in training, and bit for bit whatever is remembered or stands beside") {
  at::set_num_threads(1);
  const Folder folder;
  for (const std::string& family : kBases)
    for (const FeatureShape& shape : {kBlock, kSmallBlock})
      check_blocks(FeaturePair(folder, family, shape), family);
}

DOCTEST_TEST_CASE("the drafts of a block are scored on the laws that it tells") {
  const std::vector<WorkedExample> examples{{{1, 4, 7, 8, 9, 5, 11}, 2}, {{1, 2, 3, 5, 12}, 3}};
  for (const std::string& family : kBases) {
    for (const FeatureShape& shape : {kBlock, kSmallBlock}) {
      DOCTEST_INFO(family << " " << shape.block);
      const Transformer net = random_net(family, 4);
      const FeatureHead head = random_head(net, shape);
      const bool encoder = !net.encoder.empty();
      CausalBatch batch = causal_batch({&examples[0], &examples[1]}, encoder);
      const TargetReading reading = read_target(net, batch, false);
      const at::Tensor anchors = block_anchors(batch, 2, nullptr);
      // Answers of 5 and 2 tokens are told by as many rows; blocks begin in the middle of halves.
      const std::int64_t one = encoder ? 0 : 1, two = encoder ? 0 : 2;
      DOCTEST_CHECK(anchors.equal(at::tensor({one + 1, one + 3, two, two + 1}).view({2, 2})));
      const std::vector<FeatureLoss> losses = block_losses(head, batch, reading, anchors);
      DOCTEST_REQUIRE(losses.size() == static_cast<std::size_t>(shape.block - 1));
      for (std::int64_t draft = 0; draft < shape.block - 1; ++draft) {
        double overlap = 0;
        int count = 0;
        for (std::int64_t b = 0; b < 2; ++b) {
          for (std::int64_t i = 0; i < 2; ++i) {
            const std::int64_t row = anchors[b][i].item<std::int64_t>();
            const std::int64_t begins = row + (encoder ? examples[b].prompt - 1 : 0);
            const auto& all = examples[b].tokens;
            if (begins + draft + 1 >= static_cast<std::int64_t>(all.size())) continue;
            const at::Tensor q = block_book(net, head, {all.begin(), all.begin() + begins + 1},
                                            examples[b].prompt)[draft + 1]
                                     .softmax(-1);
            const at::Tensor p =
                at::linear(reading.states[b][row + draft], net.lm_head).softmax(-1);
            overlap += at::minimum(p, q).sum().item<double>();
            ++count;
          }
        }
        DOCTEST_REQUIRE(count > 0);
        DOCTEST_CHECK(losses[draft].overlap == doctest::Approx(overlap / count).epsilon(1e-4));
        DOCTEST_CHECK_FALSE(losses[draft].states.defined());
      }
    }
  }
}

DOCTEST_TEST_CASE("several paths of drafts behind drafts, and several sequences, as each alone") {
  at::set_num_threads(1);
  const Folder folder;
  for (const std::string& family : kBases) {
    const FeaturePair pair(folder, family);
    DOCTEST_INFO(family);
    const auto model = pair.model(Precision::f32);
    const Canvas canvas = prompted(kTextLength, kText),
                 other = prompted(kTextLength, {1, 8, 8, 2, 9, 3});
    const Question tree{.kind = Kind::draft,
                        .view = View::causal,
                        .nodes = {{kRoot, 5, 4}, {0, 6, 5}, {0, 6, 6}, {2, 7, 7}, {kRoot, 5, 8}},
                        .asks = {{1, {7}}, {3, {8}}, {4, {6}}},
                        .shallow = true};
    const Question besides = shallow_question(6, {2}), deep = path(5, {3}, kTextLength);
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
      const Answer chain = ask(*model, *alone, shallow_question(5, drafts));
      DOCTEST_CHECK(same_bits(chain.at(static_cast<int>(drafts.size()) - 1, next),
                              answers[1].at(node, next)));
    }
    const auto one = model->open(other), two = model->open(canvas);
    DOCTEST_CHECK(same_bits(answers[0], ask(*model, *one, besides), besides));
    DOCTEST_CHECK(same_bits(answers[2], ask(*model, *two, deep), deep));
    // The tree's other paths are forgotten, and what follows is not disturbed by them.
    const Question again = shallow_question(5, {4});
    DOCTEST_CHECK(same_bits(ask(*model, *together, again), ask(*model, *two, again), again));
  }
}

namespace {

// A head of the speculators format that is drawn, its files, and what those must be read as.
FeatureHead drawn_speculator(const std::string& folder, std::int64_t width, bool norms, bool bias) {
  TransformerConfig shape;
  shape.model_type = "llada";
  shape.hidden_size = width;
  shape.intermediate_size = 20;
  shape.num_attention_heads = 3;
  shape.num_key_value_heads = 1;
  shape.head_dim = 8;
  shape.rms_norm_eps = 1e-4;
  shape.rope.theta = 500;
  shape.attention_bias = bias;
  FeatureHead head(shape, {.kind = FeatureKind::eagle, .first_row = false});
  const at::NoGradGuard no_grad;
  auto generator = at::make_generator<at::CPUGeneratorImpl>(5);
  TransformerLayer& layer = head.net.layers.front();
  std::vector<std::pair<std::string, at::Tensor>> named{
      {"fusion_fc.weight", head.join},
      {"transformer.self_attn.q_proj.weight", layer.q},
      {"transformer.self_attn.k_proj.weight", layer.k},
      {"transformer.self_attn.v_proj.weight", layer.v},
      {"transformer.self_attn.o_proj.weight", layer.o},
      {"transformer.post_attention_layernorm.weight", layer.post_attention_layernorm},
      {"transformer.mlp.gate_proj.weight", layer.gate},
      {"transformer.mlp.up_proj.weight", layer.up},
      {"transformer.mlp.down_proj.weight", layer.down}};
  if (bias)
    named.insert(named.end(), {{"fusion_fc.bias", head.join_bias},
                               {"transformer.self_attn.q_proj.bias", layer.q_bias},
                               {"transformer.self_attn.k_proj.bias", layer.k_bias},
                               {"transformer.self_attn.v_proj.bias", layer.v_bias},
                               {"transformer.self_attn.o_proj.bias", layer.o_bias}});
  if (norms) {
    head.embedding_norm = at::zeros({width});
    named.insert(named.end(), {{"embedding_layernorm.weight", head.embedding_norm},
                               {"transformer.input_layernorm.weight", layer.input_layernorm},
                               {"pre_lm_head_layernorm.weight", head.net.norm}});
  } else {
    layer.input_layernorm = head.net.norm = at::Tensor();
  }
  for (auto& [name, tensor] : named) tensor.normal_(0, 0.2, generator);
  named.emplace_back("embed_tokens.weight", at::zeros({19, width}));
  std::filesystem::create_directories(folder);
  write_weights(folder + "/model.safetensors", named, false, {});
  const auto word = [](bool value) { return value ? "true" : "false"; };
  // Keys with Llama's own values are left out, such as head_dim here.
  std::ofstream(folder + "/config.json")
      << "{\"speculators_model_type\": \"eagle\", \"layernorms\": " << word(norms)
      << ", \"fusion_bias\": " << word(bias)
      << ", \"transformer_layer_architecture\": \"LlamaDecoderLayer\", "
         "\"transformer_layer_config\": {\"model_type\": \"llama\", \"hidden_size\": "
      << width
      << ", \"intermediate_size\": 20, \"num_attention_heads\": 3, \"num_key_value_heads\": 1, "
         "\"rms_norm_eps\": 1e-4, \"rope_theta\": 500, \"attention_bias\": "
      << word(bias) << "}}";
  return head;
}

}  // namespace

DOCTEST_TEST_CASE("a head of the speculators format, by the names of its tensors") {
  at::set_num_threads(1);
  const Folder folder;
  for (const std::string& family : {std::string("qwen2"), std::string("qwen3")}) {
    for (const bool norms : {false, true}) {
      DOCTEST_INFO(family << " norms " << norms);
      FeaturePair pair(folder, family);
      pair.beside = (folder.path / (norms ? "norms" : "bare")).string();
      pair.head = drawn_speculator(pair.beside, pair.net.config.hidden_size, norms, !norms);
      const auto model = pair.model(Precision::f32);
      const Canvas canvas = prompted(kTextLength, kText);
      const auto sequence = model->open(canvas);
      for (const std::vector<Token>& drafts :
           {std::vector<Token>{}, std::vector<Token>{3}, std::vector<Token>{3, 9}}) {
        const Answer own = ask(*model, *sequence, shallow_question(kTextPrompt, drafts));
        std::vector<Token> seen = kText;
        seen.insert(seen.end(), drafts.begin(), drafts.end());
        const at::Tensor logits = feature_book(pair.net, pair.head, seen, kText.size());
        DOCTEST_CHECK(distance(own.at(static_cast<int>(drafts.size()) - 1,
                                      kTextPrompt + static_cast<std::int32_t>(drafts.size())),
                               logits[logits.size(0) - 1]) < 1e-3);
      }
    }
  }
  // What is no such head, or none for this target, is refused.
  const FeaturePair pair(folder, "qwen3"), source(folder, "encoder");
  AutoregressiveOptions options;
  options.feature_head = (folder.path / "norms").string();
  DOCTEST_CHECK_NOTHROW(make(pair.base, options));
  DOCTEST_CHECK_THROWS_AS(make(source.base, options), DataError);
  drawn_speculator(options.feature_head, 16, true, false);
  DOCTEST_CHECK_THROWS_AS(make(pair.base, options), DataError);
  std::ofstream(options.feature_head + "/config.json")
      << "{\"speculators_model_type\": \"independent\"}";
  DOCTEST_CHECK_THROWS_AS(make(pair.base, options), DataError);
}

DOCTEST_TEST_CASE("a feature head that does not fit is refused in one sentence") {
  const Folder folder;
  const FeaturePair pair(folder, "qwen3");
  AutoregressiveOptions options;
  options.feature_head = pair.beside;
  options.exit_layers = 1;
  DOCTEST_CHECK_THROWS_AS(make(pair.base, options), ConfigError);
  options.exit_layers = 0;
  const std::string another = (folder.path / "another").string();
  random_net("qwen3", 9).save(another, false);
  DOCTEST_CHECK_THROWS_AS(make(another, options), DataError);
  random_net("gpt2", 9).save(another, false);
  DOCTEST_CHECK_THROWS_AS(make(another, options), ConfigError);
  options.feature_head = pair.base;
  DOCTEST_CHECK_THROWS_AS(make(pair.base, options), DataError);
  // A shallow question needs one or the other.
  const auto plain = make(pair.base);
  const Canvas canvas = prompted(kTextLength, kText);
  const auto sequence = plain->open(canvas);
  DOCTEST_CHECK_THROWS_AS(ask(*plain, *sequence, shallow_question(5, {})), ConfigError);
}

}  // namespace draftlab
