// The model masked-diffusion: its answers against numbers that others computed, against whole
// recomputation, and its caches.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <limits>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/base/words.h"
#include "core/model/refreshed.h"
#include "plugins/models/block_diffusion/block_diffusion.h"
#include "plugins/models/masked_diffusion/masked_diffusion.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/models/nn/transformer/transformer_torch.h"
#include "tests/core/model/ask.h"
#include "tests/plugins/models/recorded_torch.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

using testing::ask;

constexpr Token kMask = 10;  // The mask of the random networks.
constexpr int kUnlimited = std::numeric_limits<int>::max();

Transformer network(const std::string& family) {
  TransformerConfig config;
  config.model_type = family;
  config.vocab_size = 11;
  config.hidden_size = 24;
  config.num_hidden_layers = 3;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 6;
  config.intermediate_size = 20;
  config.mask_token_id = kMask;
  config.max_position_embeddings = 64;
  return Transformer::random(config, 7, 0.4);
}

std::unique_ptr<Model> make_masked(MaskedDiffusionOptions options, const fs::path& checkpoint,
                                   Precision dtype = Precision::f32) {
  options.checkpoint = checkpoint.string();
  std::unique_ptr<Model> model(draftlab_make_masked_diffusion(&options));
  model->load({Device::cpu, dtype, 1});
  return model;
}

std::unique_ptr<Model> cached(CanvasCache cache, const fs::path& checkpoint,
                              DraftsInRefresh ride = DraftsInRefresh::none, bool cross = false,
                              std::int64_t refresh = 0) {
  MaskedDiffusionOptions options;
  options.cache = cache;
  options.ride = ride;
  options.cross = cross;
  options.refresh = refresh;
  return make_masked(options, checkpoint);
}

// Three tokens, then masks, in blocks of four from the first mask on: blocks [0, 3), [3, 7), [7,
// 11), [11, 15).
constexpr Blocks kBlocks{4, 3};
Canvas canvas() {
  return Canvas(15, std::vector<std::pair<std::int32_t, Token>>{{0, 1}, {1, 2}, {2, 3}});
}

Answer ask_root(Model& model, Sequence& sequence) {
  return ask(model, sequence,
             {.kind = Kind::draft,
              .view = View::bidirectional,
              .nodes = {},
              .asks = {{kRoot, sequence.canvas.masked_positions()}}});
}

// Everything masked after the last token of a path, and nothing before.
Question at_end_of(const Canvas& canvas, const std::vector<std::pair<std::int32_t, Token>>& path) {
  Question question{.kind = Kind::verify, .view = View::bidirectional, .nodes = {}, .asks = {}};
  std::vector<std::int32_t> masked = canvas.masked_positions();
  for (const auto& [position, token] : path) {
    question.nodes.push_back({static_cast<int>(question.nodes.size()) - 1, position, token});
    std::erase(masked, position);
  }
  question.asks.push_back({static_cast<int>(question.nodes.size()) - 1, masked});
  return question;
}

// Largest difference of two answers' probabilities over `positions`; 0 only when they are equal to
// the last bit.
double difference(const Answer& a, int at_a, const Answer& b, int at_b,
                  const std::vector<std::int32_t>& positions) {
  double largest = 0;
  for (const std::int32_t position : positions)
    largest = std::max(largest,
                       (a.at(at_a, position).probabilities() - b.at(at_b, position).probabilities())
                           .abs()
                           .maxCoeff());
  return largest;
}

// Against a row of logits: the largest difference of log probabilities beyond abs 1e-4 + rel 1e-4,
// as a share of it.
double share(const Distribution& distribution, const at::Tensor& logits, Token mask) {
  const float* row = logits.data_ptr<float>();
  double most = -1e30, sum = 0, largest = 0;
  for (Token t = 0; t < distribution.size(); ++t)
    if (t != mask) most = std::max<double>(most, row[t]);
  for (Token t = 0; t < distribution.size(); ++t)
    if (t != mask) sum += std::exp(row[t] - most);
  for (Token t = 0; t < distribution.size(); ++t) {
    if (t == mask) continue;
    const double expected = row[t] - most - std::log(sum);
    largest = std::max(largest,
                       std::abs(distribution.log_probability(t) - expected) /
                           (1e-4 + 1e-4 * std::max<double>(std::abs(expected), std::abs(row[t]))));
  }
  return largest;
}

}  // namespace

DOCTEST_TEST_CASE("a checkpoint without a mask token reads what masked positions show") {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  const testing::Folder folder;
  Transformer net = network("sdar");
  net.config.mask_token_id = -1;
  net.save(folder.path.string(), false);
  const auto model = make_masked({}, folder.path);
  DOCTEST_CHECK(model->facts().random_canvas);
  DOCTEST_CHECK(model->facts().mask == kNoToken);
  Canvas shows = canvas();
  std::vector<std::int64_t> ids = {1, 2, 3};
  for (std::int32_t i = 3; i < shows.length(); ++i) {
    ids.push_back(i * 7 % 11);
    shows.show(i, static_cast<Token>(ids.back()));
  }
  const auto sequence = model->open(shows, kBlocks);
  const at::Tensor logits = transformer_logits(
      net, {at::from_blob(ids.data(), {1, 15}, at::kLong).clone(),
            at::arange(15, at::kLong).view({1, 15}), at::ones({15, 15}, at::kBool)});
  const Answer answer = ask_root(*model, *sequence);
  for (const std::int32_t position : shows.masked_positions())
    DOCTEST_CHECK(share(answer.at(kRoot, position), logits[0][position], kNoToken) < 1);
  DOCTEST_CHECK_THROWS_WITH_AS(cached(CanvasCache::prefix, folder.path),
                               doctest::Contains("cache must be none"), ConfigError);
}

DOCTEST_TEST_CASE("parity: masked diffusion, without and with caches") {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  for (const auto& [folder, name, family] : bundles_of({"llada", "Dream"}, "masked diffusion")) {
    DOCTEST_INFO(name);
    const SafetensorsFile io((folder / "io.safetensors").string());
    const Transformer net = Transformer::load(folder.string());
    double largest = 0, worst = 0;
    int compared = 0;
    const auto compare = [&](const at::Tensor& actual, const at::Tensor& expected) {
      DOCTEST_REQUIRE(actual.sizes() == expected.sizes());
      const at::Tensor error = (actual - expected).abs();
      largest = std::max(largest, error.max().item<double>());
      worst = std::max(worst, (error / (1e-4 + 1e-4 * expected.abs())).max().item<double>());
      ++compared;
    };
    const at::Tensor ids = read(io, "full.input_ids");
    const std::int64_t length = ids.size(1);
    const at::Tensor positions = at::arange(length, at::kLong).repeat({ids.size(0), 1}),
                     all = at::ones({length, length}, at::kBool);
    const std::vector<at::Tensor> hidden = transformer_hidden(net, {ids, positions, all});
    for (std::size_t i = 0; i < hidden.size(); ++i)
      compare(hidden[i], read(io, "full.hidden." + std::to_string(i)));
    compare(transformer_logits(net, {ids, positions, all}), read(io, "full.logits"));

    // The model: canvas 0 is computed whole, then some of its masks are filled, which makes it
    // canvas 1.
    const at::Tensor before = read(io, "cache.canvas0"), after = read(io, "cache.canvas1"),
                     block = read(io, "cache.block_start_end");
    const std::int64_t start = block[0].item<std::int64_t>(), end = block[1].item<std::int64_t>(),
                       shift = net.config.right_shifted();
    const auto mask = static_cast<Token>(net.config.mask_token_id);
    for (const CanvasCache cache : {CanvasCache::none, CanvasCache::prefix, CanvasCache::dual}) {
      const auto model = cached(cache, folder);
      std::vector<std::pair<std::int32_t, Token>> given;
      for (std::int64_t i = 0; i < before.size(1); ++i) {
        // Before the block everything is given, even where that is the mask token.
        if (const auto token = static_cast<Token>(before[0][i].item<std::int64_t>());
            token != mask || i < start)
          given.emplace_back(static_cast<std::int32_t>(i), token);
      }
      Canvas own(static_cast<int>(before.size(1)), given);
      const Blocks blocks{static_cast<std::int32_t>(end - start),
                          static_cast<std::int32_t>(start % (end - start))};
      const auto sequence = model->open(own, blocks);
      DOCTEST_REQUIRE(blocks.first(own.masked_positions().front()) == start);
      const auto check = [&](const std::string& tensor, std::int64_t first, std::int64_t last) {
        const at::Tensor expected = read(io, tensor);
        const Answer answer = ask_root(*model, *sequence);
        int rows = 0;
        for (const std::int32_t position : own.masked_positions()) {
          // A shifted model's first position of the block is answered by the row before, which the
          // authors' slice lacks.
          if (position - shift < first || position >= last) continue;
          const double own_share = share(answer.at(kRoot, position),
                                         expected[0][position - shift - first].contiguous(), mask);
          worst = std::max(worst, own_share);
          ++rows;
        }
        DOCTEST_CHECK(rows > 0);
        ++compared;
      };
      check("cache.full_logits", 0, own.length());
      for (std::int64_t i = 0; i < after.size(1); ++i) {
        const auto token = static_cast<Token>(after[0][i].item<std::int64_t>());
        if (token != mask && own.masked(static_cast<std::int32_t>(i)))
          own.commit(static_cast<std::int32_t>(i), token);
      }
      if (cache == CanvasCache::none) check("nocache.logits", 0, own.length());
      if (cache == CanvasCache::prefix) check("prefix.logits", start, own.length());
      if (cache == CanvasCache::dual) check("dual.logits", start, end);
      DOCTEST_CHECK(sequence->counts().nfe() == 2);
    }
    std::cout << "parity " << name << ": " << compared << " tensors, largest difference " << largest
              << ", " << worst << " of the tolerance\n";
    DOCTEST_CHECK(worst <= 1);
  }
}

DOCTEST_TEST_CASE(
    "without a cache an answer is the whole forward's, shifted or not; so is a refresh, to the "
    "last bit") {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  for (const std::string family : {"llada", "Dream", "sdar"}) {
    DOCTEST_INFO(family);
    const testing::Folder folder;
    const Transformer net = network(family);
    net.save(folder.path.string(), false);
    const Canvas own = canvas();
    at::Tensor ids = at::empty({1, 15}, at::kLong);
    for (std::int64_t i = 0; i < 15; ++i)
      ids[0][i] = own.masked(static_cast<std::int32_t>(i))
                      ? kMask
                      : own.token(static_cast<std::int32_t>(i));
    const at::Tensor logits = transformer_logits(
        net, {ids, at::arange(15, at::kLong).unsqueeze(0), at::ones({15, 15}, at::kBool)});
    const auto none = cached(CanvasCache::none, folder.path);
    const auto sequence = none->open(own, kBlocks);
    const Answer answer = ask_root(*none, *sequence);
    for (const std::int32_t position : own.masked_positions()) {
      DOCTEST_CHECK(share(answer.at(kRoot, position),
                          logits[0][position - (family == "Dream")].contiguous(), kMask) <= 1);
    }
    DOCTEST_CHECK(sequence->counts()[Kind::draft].positions == 15);
    for (const CanvasCache cache : {CanvasCache::prefix, CanvasCache::dual}) {
      const auto model = cached(cache, folder.path);
      const auto refreshed = model->open(own, kBlocks);
      DOCTEST_CHECK(difference(ask_root(*model, *refreshed), kRoot, answer, kRoot,
                               own.masked_positions()) == 0);
      DOCTEST_CHECK(refreshed->counts()[Kind::draft].positions == 15);
    }
  }
}

DOCTEST_TEST_CASE("one block as long as the canvas: block diffusion is masked diffusion") {
  at::set_num_threads(1);
  const testing::Folder folder;
  network("sdar").save(folder.path.string(), false);
  BlockDiffusionOptions options;
  options.checkpoint = folder.path.string();
  const std::unique_ptr<Model> blockwise(draftlab_make_block_diffusion(&options));
  blockwise->load({Device::cpu, Precision::f32, 1});
  const auto model = cached(CanvasCache::none, folder.path);
  const Canvas own = canvas();
  const auto a = model->open(own, {}), b = blockwise->open(own, {});
  DOCTEST_CHECK(difference(ask_root(*model, *a), kRoot, ask_root(*blockwise, *b), kRoot,
                           own.masked_positions()) == 0);
}

DOCTEST_TEST_CASE("a drafted state is answered as the committed one will be, to the last bit") {
  at::set_num_threads(1);
  for (const std::string family : {"llada", "Dream"}) {
    const testing::Folder folder;
    network(family).save(folder.path.string(), false);
    for (const CanvasCache cache : {CanvasCache::none, CanvasCache::prefix, CanvasCache::dual}) {
      for (const DraftsInRefresh ride :
           {DraftsInRefresh::none, DraftsInRefresh::own, DraftsInRefresh::root}) {
        if (cache == CanvasCache::none && ride != DraftsInRefresh::none) continue;
        DOCTEST_INFO(family << ", " << word(cache) << ", riding: " << word(ride));
        const auto model = cached(cache, folder.path, ride);
        const bool rides = cache == CanvasCache::none || ride != DraftsInRefresh::none;
        // Two canvases: one asks ahead, the other commits.
        Canvas ahead = canvas(), behind = canvas();
        const auto drafting = model->open(ahead, kBlocks),
                   committing = model->open(behind, kBlocks);
        Answer first;
        if (rides) {
          first = ask(*model, *drafting, at_end_of(ahead, {{4, 7}}));
          DOCTEST_CHECK(
              drafting->counts()[Kind::verify].rows ==
              (cache == CanvasCache::none ? 1 : 2));  // With a cache the root is computed, too.
        } else {
          ask_root(*model, *drafting);
        }
        ask_root(*model, *committing);
        ahead.commit(4, 7);
        behind.commit(4, 7);
        const Answer then = ask_root(*model, *committing);
        if (rides) {
          const double off = difference(first, 0, then, kRoot, behind.masked_positions());
          DOCTEST_CHECK((off == 0) ==
                        (ride != DraftsInRefresh::own));  // A whole canvas of its own sees other
                                                          // keys than the cached ones.
        }
        // Two more on top: position 3 and then 6, the block's last but one.
        const Answer deep = ask(*model, *drafting, at_end_of(ahead, {{3, 5}, {6, 2}}));
        behind.commit(3, 5);
        DOCTEST_CHECK(drafting->horizon() == (cache == CanvasCache::none ? kUnlimited : 2));
        behind.commit(6, 2);
        DOCTEST_CHECK(committing->horizon() == (cache == CanvasCache::none ? kUnlimited : 0));
        DOCTEST_CHECK(difference(deep, 1, ask_root(*model, *committing), kRoot,
                                 behind.masked_positions()) == 0);
      }
    }
  }
}

DOCTEST_TEST_CASE(
    "what a forward costs: the canvas, what follows the block's beginning, or the block") {
  at::set_num_threads(1);
  const testing::Folder folder;
  network("llada").save(folder.path.string(), false);
  for (const auto& [cache, positions] : {std::pair<CanvasCache, int>{CanvasCache::none, 15},
                                         {CanvasCache::prefix, 12},
                                         {CanvasCache::dual, 4}}) {
    const auto model = cached(cache, folder.path);
    Canvas own = canvas();
    const auto sequence = model->open(own, kBlocks);
    ask_root(*model, *sequence);
    own.commit(3, 1);
    Question question = at_end_of(own, {{5, 4}, {4, 4}});
    question.asks = {{kRoot, {4}}, {0, {4, 6}}, {1, {6}}};
    ask(*model, *sequence, question);
    DOCTEST_CHECK(sequence->counts()[Kind::draft].positions == 15);
    DOCTEST_CHECK(sequence->counts()[Kind::verify].calls == 1);
    DOCTEST_CHECK(sequence->counts()[Kind::verify].rows == 3);
    DOCTEST_CHECK(sequence->counts()[Kind::verify].positions == 3 * positions);
    // A position of a later block is one more row with the dual cache, and changes nothing for the
    // others.
    const Answer narrow = ask(
        *model, *sequence,
        {.kind = Kind::draft, .view = View::bidirectional, .nodes = {}, .asks = {{kRoot, {4, 5}}}});
    const auto before = sequence->counts()[Kind::draft].positions;
    const Answer wide = ask(*model, *sequence,
                            {.kind = Kind::draft,
                             .view = View::bidirectional,
                             .nodes = {},
                             .asks = {{kRoot, {4, 12, 5}}}});
    DOCTEST_CHECK(sequence->counts()[Kind::draft].positions - before ==
                  positions + (cache == CanvasCache::dual));
    DOCTEST_CHECK(difference(narrow, kRoot, wide, kRoot, {4, 5}) == 0);
    DOCTEST_CHECK(wide.at(kRoot, 12).max() > 0);
  }
}

DOCTEST_TEST_CASE("the horizon ends where the cache is refreshed") {
  at::set_num_threads(1);
  const testing::Folder folder;
  network("llada").save(folder.path.string(), false);
  {
    DOCTEST_INFO("a refresh a block: the refresh itself, then what is left of the block");
    const auto model = cached(CanvasCache::dual, folder.path);
    Canvas own = canvas();
    const auto sequence = model->open(own, kBlocks);
    std::vector<int> horizons;
    std::vector<bool> spent;
    std::vector<std::int64_t> positions;
    for (const std::int32_t position : {5, 3, 6, 4, 7, 8, 9, 10, 11}) {
      horizons.push_back(sequence->horizon());
      spent.push_back(dynamic_cast<const Refreshed&>(*sequence).spent());
      const auto before = sequence->counts()[Kind::draft].positions;
      ask_root(*model, *sequence);
      positions.push_back(sequence->counts()[Kind::draft].positions - before);
      own.commit(position, 1);
    }
    DOCTEST_CHECK(horizons == std::vector<int>{0, 2, 1, 0, 0, 2, 1, 0, 0});
    // One mask is left of the block, and the cache is fresh: the next question is its last.
    DOCTEST_CHECK(spent ==
                  std::vector<bool>{false, false, false, true, false, false, false, true, false});
    // All masks are asked: those of later blocks are rows beside the block's four.
    DOCTEST_CHECK(positions == std::vector<std::int64_t>{15, 12, 12, 12, 15, 8, 8, 8, 15});
    DOCTEST_CHECK(sequence->horizon() ==
                  kUnlimited);  // In the last block nothing is refreshed any more.
    try {
      Canvas other = canvas();
      const auto fresh = model->open(other, kBlocks);
      ask(*model, *fresh, at_end_of(other, {{4, 1}}));
      DOCTEST_CHECK(false);
    } catch (const Fault& fault) {
      DOCTEST_CHECK(std::string(fault.what()) ==
                    "a state of 1 drafted tokens was asked, but the cache is refreshed after 0 "
                    "(Sequence::horizon)");
    }
  }
  {
    DOCTEST_INFO("a refresh every three tokens, whatever the blocks are");
    const auto model = cached(CanvasCache::dual, folder.path, DraftsInRefresh::none, false, 3);
    Canvas own = canvas();
    const auto sequence = model->open(own, kBlocks);
    std::vector<int> horizons;
    std::vector<std::int64_t> positions;
    for (const std::int32_t position : {3, 4, 5, 6, 7, 8, 9}) {
      horizons.push_back(sequence->horizon());
      const auto before = sequence->counts()[Kind::draft].positions;
      ask(*model, *sequence,
          {.kind = Kind::draft,
           .view = View::bidirectional,
           .nodes = {},
           .asks = {{kRoot, {position}}}});
      positions.push_back(sequence->counts()[Kind::draft].positions - before);
      own.commit(position, 1);
    }
    DOCTEST_CHECK(horizons == std::vector<int>{0, 1, 0, 0, 1, 0, 0});
    // At 7 the block before is computed along, because it was not final at the refresh.
    DOCTEST_CHECK(positions == std::vector<std::int64_t>{15, 4, 4, 15, 8, 8, 15});
  }
  {
    DOCTEST_INFO("chains that may cross, and ride");
    const auto crossing = cached(CanvasCache::dual, folder.path, DraftsInRefresh::none, true),
               riding = cached(CanvasCache::dual, folder.path, DraftsInRefresh::root);
    Canvas own = canvas();
    const auto a = crossing->open(own, kBlocks), b = riding->open(own, kBlocks);
    DOCTEST_CHECK(a->horizon() == 0);
    DOCTEST_CHECK(b->horizon() == 3);
    {
      // The drafts that ride in the next block's refresh come from what is asked before it.
      Canvas other = canvas();
      const auto c = riding->open(other, kBlocks);
      ask_root(*riding, *c);
      for (const std::int32_t position : {3, 4, 5}) other.commit(position, 1);
      DOCTEST_CHECK(c->horizon() == 0);
      DOCTEST_CHECK_FALSE(dynamic_cast<const Refreshed&>(*c).spent());
    }
    ask_root(*crossing, *a);
    DOCTEST_CHECK(a->horizon() == kUnlimited);
    // Past the block's end the old cache answers, for the next block beside the first.
    const Answer stale =
        ask(*crossing, *a, at_end_of(own, {{3, 1}, {4, 1}, {5, 1}, {6, 1}, {8, 2}}));
    for (const std::int32_t position : {3, 4, 5, 6}) own.commit(position, 1);
    own.commit(8, 2);
    const Answer fresh = ask_root(*crossing, *a);
    const double off = difference(stale, 4, fresh, kRoot, own.masked_positions());
    DOCTEST_CHECK(off > 1e-6);
    DOCTEST_CHECK(off < 0.9);
  }
}

DOCTEST_TEST_CASE("a token that the cache has seen otherwise makes it stale") {
  at::set_num_threads(1);
  const testing::Folder folder;
  network("llada").save(folder.path.string(), false);
  const auto model = cached(CanvasCache::dual, folder.path);
  Canvas own = canvas();
  const auto sequence = model->open(own, kBlocks);
  own.commit(5, 1, true);
  DOCTEST_CHECK(sequence->state() == "");
  ask_root(*model, *sequence);
  // The state holds the tokens, masks among them, and how many had been committed.
  DOCTEST_CHECK(sequence->state() == "1 2 3 10 10 1 10 10 10 10 10 10 10 10 10 1");
  DOCTEST_CHECK(sequence->horizon() == 2);
  own.edit(5, 2);  // Inside the block it is computed afresh anyway.
  DOCTEST_CHECK(sequence->horizon() == 2);
  own.commit(12, 4, true);
  DOCTEST_CHECK(sequence->horizon() ==
                2);  // The cache has a mask there, as it would have in Fast-dLLM.
  own.commit(3, 1);
  own.commit(4, 1);
  own.commit(6, 1);
  own.finish(5);
  ask_root(*model, *sequence);
  DOCTEST_CHECK(sequence->horizon() == 3);
  own.edit(12, 5);
  DOCTEST_CHECK(sequence->horizon() == 0);
}

DOCTEST_TEST_CASE("a batch's answers are those of each question alone, to the last bit") {
  at::set_num_threads(1);
  const testing::Folder folder;
  network("llada").save(folder.path.string(), false);
  for (const Precision dtype : {Precision::f32, Precision::bf16, Precision::q8, Precision::q4}) {
    MaskedDiffusionOptions options;
    options.cache = CanvasCache::dual;
    const auto model = make_masked(options, folder.path, dtype);
    DOCTEST_CHECK(model->rows_are_independent());
    Canvas a = canvas(), b(40, std::vector<std::pair<std::int32_t, Token>>{{0, 4}, {1, 5}});
    const auto one = model->open(a, kBlocks), two = model->open(b, {8, 2}),
               alone_one = model->open(a, kBlocks), alone_two = model->open(b, {8, 2});
    const auto both = [&](const Question& first, const Question& second) {
      Answer answers[2];
      Pending pending[2] = {{one.get(), &first, &answers[0]}, {two.get(), &second, &answers[1]}};
      model->answer(pending);
      DOCTEST_CHECK(difference(answers[0], first.asks[0].node, ask(*model, *alone_one, first),
                               first.asks[0].node, first.asks[0].positions) == 0);
      DOCTEST_CHECK(difference(answers[1], second.asks[0].node, ask(*model, *alone_two, second),
                               second.asks[0].node, second.asks[0].positions) == 0);
    };
    const auto root = [](const Canvas& own) {
      return Question{.kind = Kind::draft,
                      .view = View::bidirectional,
                      .nodes = {},
                      .asks = {{kRoot, own.masked_positions()}}};
    };
    both(root(a), root(b));
    a.commit(3, 1);
    b.commit(4, 2);
    both(at_end_of(a, {{4, 7}}), root(b));
  }
}

DOCTEST_TEST_CASE("what masked diffusion cannot answer is refused") {
  const testing::Folder folder;
  network("Dream").save(folder.path.string(), false);
  const auto model = cached(CanvasCache::none, folder.path);
  const Canvas own = canvas();
  const auto sequence = model->open(own, kBlocks);
  Question question = at_end_of(own, {{3, 1}});
  question.view = View::causal;
  DOCTEST_CHECK_THROWS_AS(ask(*model, *sequence, question), Fault);
  const Canvas unshifted(4, std::vector<std::pair<std::int32_t, Token>>{{1, 1}});
  DOCTEST_CHECK_THROWS_AS(model->open(unshifted, {}), ConfigError);
  const Canvas long_one(65, {});
  DOCTEST_CHECK_THROWS_AS(model->open(long_one, {}), ConfigError);
}

}  // namespace draftlab
