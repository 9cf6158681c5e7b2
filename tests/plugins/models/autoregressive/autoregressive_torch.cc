// The model autoregressive: its answers against numbers that others computed, against the whole
// forward, and against itself with less remembered or more beside it.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/prob/chance.h"
#include "plugins/models/autoregressive/autoregressive.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/nn/transformer/prediction_heads_torch.h"
#include "plugins/models/nn/transformer/transformer_torch.h"
#include "tests/plugins/models/autoregressive/small_torch.h"
#include "tests/plugins/models/recorded_torch.h"

namespace draftlab {
namespace {

using namespace testing;

namespace fs = std::filesystem;

PredictionHeads random_heads(int count, std::uint64_t seed) {
  PredictionHeads heads = PredictionHeads::random({count, 5, 24}, seed, 0.3);
  const PredictionHeads other = PredictionHeads::random({count, count * 24, count * 5}, seed + 1,
                                                        // The tensor is [k k d, k], of which the
                                                        // first 5 rows are kept.
                                                        0.3);
  heads.project.copy_(other.hidden.narrow(0, 0, count * 24).narrow(1, 0, count * 5));
  return heads;
}

// The whole forward of the tokens after `source`: logits [L, V], of prediction head `head` where
// there are some.
at::Tensor whole(const Transformer& net, const std::vector<Token>& tokens, int prompt,
                 const PredictionHeads& heads = {}, int head = 0) {
  const at::NoGradGuard no_grad;
  const bool encoder = !net.encoder.empty();
  const auto ids = [&](std::size_t from, std::size_t until) {
    at::Tensor row = at::empty({1, static_cast<std::int64_t>(until - from)}, at::kLong);
    std::copy(tokens.begin() + static_cast<std::ptrdiff_t>(from),
              tokens.begin() + static_cast<std::ptrdiff_t>(until), row.data_ptr<std::int64_t>());
    return row;
  };
  const at::Tensor rows = ids(encoder ? static_cast<std::size_t>(prompt) - 1 : 0, tokens.size());
  const std::int64_t length = rows.size(1);
  const at::Tensor hidden =
      transformer_hidden(net, {rows, at::arange(length, at::kLong).unsqueeze(0),
                               at::ones({length, length}, at::kBool).tril(),
                               encoder ? ids(0, static_cast<std::size_t>(prompt)) : at::Tensor()})
          .back()[0];
  return at::linear(heads.count > 0 ? heads.states(hidden, head, 1, false).squeeze(-2) : hidden,
                    net.lm_head);
}

// --- Parity.

// The largest difference, as a share of abs 1e-4 + rel 1e-4.
double share(const at::Tensor& actual, const at::Tensor& expected) {
  DOCTEST_REQUIRE(actual.sizes() == expected.sizes());
  return ((actual - expected).abs() / (1e-4 + 1e-4 * expected.abs())).max().item<double>();
}

double compare_whole(const fs::path& folder, const SafetensorsFile& io) {
  const at::NoGradGuard no_grad;
  const Transformer net = Transformer::load(folder.string());
  const at::Tensor ids = read(io, "input_ids");
  const std::int64_t length = ids.size(1);
  const at::Tensor positions = at::arange(length, at::kLong).unsqueeze(0),
                   allowed = at::ones({length, length}, at::kBool).tril();
  const std::vector<at::Tensor> hidden = transformer_hidden(net, {ids, positions, allowed});
  double worst = share(transformer_logits(net, {ids, positions, allowed}), read(io, "logits"));
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    const std::string name = "hidden." + std::to_string(i);
    if (io.tensors().contains(name)) worst = std::max(worst, share(hidden[i], read(io, name)));
  }
  return worst;
}

// The bundle of GPT-2 leaves out what it takes for buffers, names that end in "attn.bias": c_attn's
// biases too, which are zero.
fs::path with_biases(const fs::path& bundle, const fs::path& folder) {
  fs::create_directories(folder);
  fs::copy_file(bundle / "config.json", folder / "config.json",
                fs::copy_options::overwrite_existing);
  const SafetensorsFile file((bundle / "model.safetensors").string());
  std::vector<std::pair<std::string, TensorBytes>> tensors(file.tensors().begin(),
                                                           file.tensors().end());
  const TransformerConfig config = TransformerConfig::read(bundle.string());
  const std::int64_t width = 3 * config.hidden_size;
  const std::vector<float> zeros(static_cast<std::size_t>(width));
  for (std::int64_t layer = 0; layer < config.num_hidden_layers; ++layer) {
    const std::string name = "h." + std::to_string(layer) + ".attn.c_attn.bias";
    if (!file.tensors().contains(name))
      tensors.push_back({name, {ElementType::f32, {width}, std::as_bytes(std::span(zeros))}});
  }
  write_safetensors((folder / "model.safetensors").string(), tensors);
  return folder;
}

// Every position's answer: after one commit at a time, and all in one chain.
double compare_rows(Model& model, const SafetensorsFile& io) {
  const at::Tensor ids = read(io, "input_ids"), logits = read(io, "logits");
  double worst = 0;
  for (std::int64_t b = 0; b < ids.size(0); ++b) {
    std::vector<Token> tokens;
    for (std::int64_t i = 0; i < ids.size(1); ++i)
      tokens.push_back(static_cast<Token>(ids[b][i].item<std::int64_t>()));
    const auto length = static_cast<int>(tokens.size()) + 1;
    Canvas canvas = prompted(length, {tokens[0]});
    const auto one_by_one = model.open(canvas), at_once = model.open(canvas);
    const Question chain = path(1, {tokens.begin() + 1, tokens.end()}, length);
    const Answer together = ask(model, *at_once, chain);
    for (std::int32_t i = 0; i + 1 < length; ++i) {
      const Answer alone =
          ask(model, *one_by_one,
              {.kind = Kind::draft, .view = View::causal, .nodes = {}, .asks = {{kRoot, {i + 1}}}});
      DOCTEST_CHECK(same_bits(alone.at(kRoot, i + 1), together.at(i - 1, i + 1)));
      const at::Tensor expected = logits[b][i];
      worst = std::max(worst, distance(alone.at(kRoot, i + 1), expected) /
                                  (1e-4 + 1e-4 * expected.abs().max().item<double>()));
      if (i + 2 < length) canvas.commit(i + 1, tokens[i + 1]);
    }
    DOCTEST_CHECK(one_by_one->counts()[Kind::draft].positions ==
                  length - 1);  // Each token has a row, and none has two.
  }
  return worst;
}

const std::vector<std::string> kFamilies = {"qwen2", "qwen3",   "llama",
                                            "gpt2",  "encoder", "positions"};

}  // namespace

DOCTEST_TEST_CASE("parity: autoregressive, whole, token by token and in one chain") {
  at::set_num_threads(1);
  const Folder folder;
  for (const auto& [bundle, name, family] :
       bundles_of({"gpt2", "qwen2", "qwen3", "llama", "mistral"}, "autoregressive")) {
    DOCTEST_INFO(name);
    const SafetensorsFile io((bundle / "io.safetensors").string());
    const fs::path checkpoint = family == "gpt2" ? with_biases(bundle, folder.path) : bundle;
    const auto model = make(checkpoint);
    const double full = compare_whole(checkpoint, io), rows = compare_rows(*model, io);
    std::cout << "parity " << name << ": whole forward " << full << ", row by row " << rows
              << " of the tolerance\n";
    DOCTEST_CHECK(full <= 1);
    DOCTEST_CHECK(rows <= 1);
    if (!io.tensors().contains("judge.token_nll")) continue;
    const at::Tensor judged = read(io, "judge.input_ids_with_bos"),
                     nll = read(io, "judge.token_nll"), perplexity = read(io, "judge.perplexity");
    for (std::int64_t b = 0; b < judged.size(0); ++b) {
      std::vector<Token> text;
      for (std::int64_t i = 1; i < judged.size(1); ++i)
        text.push_back(static_cast<Token>(judged[b][i].item<std::int64_t>()));
      const Canvas canvas = prompted(static_cast<int>(text.size()) + 1,
                                     {static_cast<Token>(judged[b][0].item<std::int64_t>())});
      const auto sequence = model->open(canvas);
      const Answer answer = ask(*model, *sequence, path(1, text, canvas.length(), 1, Kind::judge));
      double sum = 0;
      for (std::size_t i = 0; i < text.size(); ++i) {
        const double own = -answer.at(static_cast<int>(i) - 1, static_cast<std::int32_t>(i) + 1)
                                .log_probability(text[i]);
        DOCTEST_CHECK(std::abs(own - nll[b][static_cast<std::int64_t>(i)].item<double>()) <
                      1e-4 + 1e-4 * own);
        sum += own;
      }
      DOCTEST_CHECK(std::exp(sum / static_cast<double>(text.size())) ==
                    doctest::Approx(perplexity[b].item<double>()).epsilon(1e-4));
    }
  }
}

DOCTEST_TEST_CASE(
    "a decode with rejected drafts: cached rows answer as uncached ones, bit for bit, and as the "
    "whole forward does") {
  at::set_num_threads(1);
  const Folder folder;
  for (const std::string& family : kFamilies) {
    for (const Precision dtype : {Precision::f32, Precision::bf16, Precision::q8, Precision::q4}) {
      DOCTEST_INFO(family << " " << word(dtype));
      const Transformer net = random_net(family, 11);
      net.save(folder.path.string(), false);
      AutoregressiveOptions off;
      off.cache = RowCache::off;
      const auto cached = make(folder.path, {}, dtype), uncached = make(folder.path, off, dtype);
      const int length = 24, prompt = 5;
      Canvas canvas = prompted(length, {1, 2, 7, 7, 4});
      const auto a = cached->open(canvas), b = uncached->open(canvas);
      std::vector<Token> tokens = canvas.tokens();
      tokens.resize(prompt);
      // Drafts of three; what is accepted of each round, and then another token stands in the way.
      for (const int accepted : {3, 0, 1, 2, 3}) {
        const auto first = static_cast<std::int32_t>(tokens.size());
        const std::vector<Token> drafts{static_cast<Token>(first % 7), 9,
                                        static_cast<Token>(first % 5 + 10)};
        const Question question = path(first, drafts, length);
        const Counts before = a->counts();
        const Answer own = ask(*cached, *a, question), other = ask(*uncached, *b, question);
        DOCTEST_CHECK(same_bits(own, other, question));
        if (first > prompt)
          DOCTEST_CHECK(a->counts()[Kind::verify].positions - before[Kind::verify].positions ==
                        1 + 3);  // These are the last token and the drafts.
        std::vector<Token> seen = tokens;
        seen.insert(seen.end(), drafts.begin(), drafts.end());
        const at::Tensor logits = whole(net, seen, prompt);
        for (int i = -1; i < 3 && dtype == Precision::f32; ++i)
          DOCTEST_CHECK(distance(own.at(i, first + i + 1), logits[logits.size(0) - 4 + i + 1]) <
                        1e-4);
        for (int i = 0; i < accepted; ++i) tokens.push_back(drafts[i]);
        tokens.push_back(18);
        for (auto i = static_cast<std::size_t>(first); i < tokens.size(); ++i)
          canvas.commit(static_cast<std::int32_t>(i), tokens[i]);
      }
      // An answer whose row is cached already costs that row again, and is the same.
      const Question again = path(static_cast<std::int32_t>(tokens.size()), {}, length);
      const Answer once = ask(*cached, *a, again);
      const Counts before = a->counts();
      DOCTEST_CHECK(same_bits(once, ask(*cached, *a, again), again));
      DOCTEST_CHECK(a->counts()[Kind::verify].positions - before[Kind::verify].positions == 1);
    }
  }
}

DOCTEST_TEST_CASE("several paths in one forward, and several sequences, answer as each alone") {
  at::set_num_threads(1);
  const Folder folder;
  for (const std::string& family : kFamilies) {
    for (const Precision dtype : {Precision::f32, Precision::bf16, Precision::q8, Precision::q4}) {
      DOCTEST_INFO(family << " " << word(dtype));
      random_net(family, 5).save(folder.path.string(), false);
      const auto model = make(folder.path, {}, dtype);
      const Canvas canvas = prompted(16, {1, 5, 6}), other = prompted(12, {1, 8, 8, 2, 9});
      // 4 -> {5, 6 -> 7}, 8: three paths, the first child is the line.
      Question tree{.kind = Kind::verify,
                    .view = View::causal,
                    .nodes = {{kRoot, 3, 4}, {0, 4, 5}, {0, 4, 6}, {2, 5, 7}, {kRoot, 3, 8}},
                    .asks = {{kRoot, {3}}, {0, {4}}, {1, {5}}, {2, {5}}, {3, {6}}, {4, {4}}}};
      const auto alone = model->open(canvas), together = model->open(canvas),
                 beside = model->open(other);
      const Question besides = path(5, {1, 2}, 12);
      Answer answers[2];
      Pending batch[] = {{beside.get(), &besides, &answers[0]},
                         {together.get(), &tree, &answers[1]}};
      model->answer(batch);
      DOCTEST_CHECK(same_bits(answers[1], ask(*model, *alone, tree), tree));
      DOCTEST_CHECK(alone->counts()[Kind::verify].rows == 3);
      const std::vector<std::pair<std::vector<int>, std::vector<Token>>> paths{
          {{0, 1}, {4, 5}}, {{0, 2, 3}, {4, 6, 7}}, {{4}, {8}}};
      for (const auto& [nodes, tokens] : paths) {
        const auto fresh = model->open(canvas);
        const Answer chain = ask(*model, *fresh, path(3, tokens, 16));
        for (std::size_t i = 0; i < nodes.size(); ++i) {
          const auto next = static_cast<std::int32_t>(4 + i);
          DOCTEST_CHECK(
              same_bits(chain.at(static_cast<int>(i), next), answers[1].at(nodes[i], next)));
        }
      }
      const auto fresh = model->open(other);
      DOCTEST_CHECK(same_bits(answers[0], ask(*model, *fresh, besides), besides));
    }
  }
}

DOCTEST_TEST_CASE("prediction heads by hand, d = 2, k = 2, one filter a head") {
  PredictionHeads heads = PredictionHeads::random({2, 1, 2}, 1, 0.1);
  DOCTEST_CHECK(heads.project.abs().max().item<double>() == 0);  // They begin as the base.
  heads.hidden.copy_(at::tensor({1.f, 0.f, 0.f, -1.f}).view({2, 2}));
  heads.hidden_bias.copy_(at::tensor({0.5f, 1.f}));
  heads.project.copy_(at::tensor({1.f, 0.f, 2.f, 0.f, 0.f, 3.f, -1.f, 4.f}).view({4, 2}));
  heads.project_bias.copy_(at::tensor({0.f, 0.f, 0.25f, 0.f}));
  // h = (1, 0.5): relu(1 + 0.5, -0.5 + 1) = (1.5, 0.5). Head 1: h + (1.5, 3). Head 2: h + (1.5 +
  // 0.25, -1.5 + 2).
  const at::Tensor states = heads.states(at::tensor({1.f, 0.5f}), 0, 2, false);
  DOCTEST_CHECK(states.equal(at::tensor({2.5f, 3.5f, 2.75f, 1.f}).view({2, 2})));
  // h = (1, 3): the second filter is shut. Head 2: h + (0.25, -1.5).
  DOCTEST_CHECK(heads.states(at::tensor({1.f, 3.f}), 1, 1, false)
                    .equal(at::tensor({1.25f, 1.5f}).view({1, 2})));
}

DOCTEST_TEST_CASE("head i answers the position i after the next, at every node of one question") {
  at::set_num_threads(1);
  const Folder folder;
  for (const std::string& family : kFamilies) {
    DOCTEST_INFO(family);
    fs::remove_all(folder.path);
    const Transformer net = random_net(family, 7);
    const PredictionHeads heads = random_heads(3, 8);
    const std::string base = (folder.path / "base").string(),
                      beside = (folder.path / "heads").string();
    net.save(base, false);
    heads.save(beside, false, weights_digest(base));
    AutoregressiveOptions options;
    options.heads = beside;
    const auto model = make(base, options);
    DOCTEST_CHECK(model->facts().parameters ==
                  make(base)->facts().parameters + 3 * 5 * (24 + 1) + 3 * 24 * (3 * 5 + 1));
    const Canvas canvas = prompted(9, {1, 2, 3});
    const auto sequence = model->open(canvas);
    const std::vector<Token> drafts{5, 6, 7, 8};
    const Question question = path(3, drafts, 9, 3);
    const Answer answer = ask(*model, *sequence, question);
    DOCTEST_CHECK(sequence->counts()[Kind::verify].calls == 1);
    for (int head = 0; head < 3; ++head) {
      const at::Tensor logits = whole(net, {1, 2, 3, 5, 6, 7, 8}, 3, heads, head);
      for (int node = -1; node < 4; ++node) {
        const std::int32_t position = 4 + node + head;
        if (position >= 9) continue;
        DOCTEST_CHECK(distance(answer.at(node, position), logits[logits.size(0) - 5 + node + 1]) <
                      1e-4);
      }
    }
    // Asked for itself, the next position has the same answer, bit for bit.
    const auto fresh = model->open(canvas);
    DOCTEST_CHECK(same_bits(ask(*model, *fresh, path(3, {}, 9)).at(kRoot, 3), answer.at(kRoot, 3)));

    // Left to the base, head 1 tells what the base tells without heads; the others stay.
    options.first_head = FirstHead::base;
    const auto left = make(base, options), plain = make(base);
    const auto left_open = left->open(canvas), plain_open = plain->open(canvas);
    const Answer mixed = ask(*left, *left_open, path(3, {}, 9, 3));
    DOCTEST_CHECK(
        same_bits(mixed.at(kRoot, 3), ask(*plain, *plain_open, path(3, {}, 9)).at(kRoot, 3)));
    DOCTEST_CHECK_FALSE(same_bits(mixed.at(kRoot, 3), answer.at(kRoot, 3)));
    DOCTEST_CHECK(same_bits(mixed.at(kRoot, 4), answer.at(kRoot, 4)));

    // In the checkpoint's own folder they need not be named; made for another base they are
    // refused.
    heads.save(base, true, weights_digest(base));
    const auto own = make(base);
    const auto owned = own->open(canvas);
    DOCTEST_CHECK(ask(*own, *owned, path(3, {}, 9, 3)).find(kRoot, 5) != nullptr);
    const std::string another = (folder.path / "another").string();
    random_net(family, 9).save(another, false);
    DOCTEST_CHECK_THROWS_AS(make(another, options), DataError);
  }
}

DOCTEST_TEST_CASE(
    "a shallow question is answered by the first layers; its rows go on from there when they are "
    "verified") {
  at::set_num_threads(1);
  const Folder folder;
  for (const std::string& family : kFamilies) {
    for (const Precision dtype : {Precision::f32, Precision::bf16, Precision::q8, Precision::q4}) {
      DOCTEST_INFO(family << " " << word(dtype));
      Transformer net = random_net(family, 3);
      net.save((folder.path / "whole").string(), false);
      net.layers.resize(2);
      net.config.num_hidden_layers = 2;
      net.save((folder.path / "first").string(), false);
      AutoregressiveOptions options;
      options.exit_layers = 2;
      const auto model = make(folder.path / "whole", options, dtype),
                 first = make(folder.path / "first", {}, dtype),
                 plain = make(folder.path / "whole", {}, dtype);
      Canvas canvas = prompted(12, {1, 2, 4});
      const auto sequence = model->open(canvas), alone = first->open(canvas),
                 fresh = plain->open(canvas);
      const auto round = [&](std::int32_t at, const std::vector<Token>& drafts) {
        for (std::size_t i = 0; i < drafts.size(); ++i) {  // Drafted one by one.
          Question question =
              path(at, {drafts.begin(), drafts.begin() + static_cast<std::ptrdiff_t>(i)}, 12, 1,
                   Kind::draft);
          question.asks.erase(question.asks.begin(), question.asks.end() - 1);
          const Answer expected = ask(*first, *alone, question);
          question.shallow = true;
          const std::int64_t before = sequence->counts()[Kind::draft].positions;
          DOCTEST_CHECK(same_bits(ask(*model, *sequence, question), expected, question));
          if (at > 3) DOCTEST_CHECK(sequence->counts()[Kind::draft].positions == before + 1);
        }
        const Question question = path(at, drafts, 12);
        DOCTEST_CHECK(
            same_bits(ask(*model, *sequence, question), ask(*plain, *fresh, question), question));
      };
      round(3, {5, 6, 7});
      canvas.commit(3, 5);  // The second draft is rejected.
      canvas.commit(4, 9);
      round(5, {7, 8});
      // What is known in full is asked shallowly, and then in full again.
      Question again = path(5, {}, 12);
      again.shallow = true;
      const Question deep = path(5, {}, 12);
      DOCTEST_CHECK(same_bits(ask(*model, *sequence, again), ask(*first, *alone, deep), deep));
      DOCTEST_CHECK(same_bits(ask(*model, *sequence, deep), ask(*plain, *fresh, deep), deep));
    }
  }
}

DOCTEST_TEST_CASE("what cannot be answered is refused in one sentence") {
  const Folder folder;
  random_net("qwen3", 3).save(folder.path.string(), false);
  const auto model = make(folder.path);
  const Canvas canvas = prompted(8, {1, 2}),
               masked(8, std::vector<std::pair<std::int32_t, Token>>{{1, 3}});
  const auto sequence = model->open(canvas);
  const auto complaint = [&](const Question& question) -> std::string {
    try {
      ask(*model, *sequence, question);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  DOCTEST_CHECK(complaint(path(2, {}, 8, 2))
                    .find("asks 2 positions ahead of a token, but the model answers 1") !=
                std::string::npos);
  Question question = path(2, {}, 8);
  question.shallow = true;
  DOCTEST_CHECK(complaint(question).find("exit_layers is 0") != std::string::npos);
  question = path(2, {}, 8);
  question.view = View::bidirectional;
  DOCTEST_CHECK(complaint(question).find("bidirectionally") != std::string::npos);
  DOCTEST_CHECK_THROWS_AS(model->open(masked), ConfigError);
  AutoregressiveOptions deep;
  deep.exit_layers = 3;
  DOCTEST_CHECK_THROWS_AS(make(folder.path, deep), ConfigError);
  // Given tokens behind masked ones are passed over until they are reached.
  const Canvas infill(6, std::vector<std::pair<std::int32_t, Token>>{{0, 1}, {2, 7}});
  const auto gapped = model->open(infill);
  const Question past{.kind = Kind::verify,
                      .view = View::causal,
                      .nodes = {{kRoot, 1, 4}},
                      .asks = {{kRoot, {1}}, {0, {3}}}};
  const Answer answer = ask(*model, *gapped, past);
  const Canvas filled = prompted(6, {1, 4, 7});
  const auto straight = model->open(filled);
  DOCTEST_CHECK(same_bits(answer.at(0, 3), ask(*model, *straight, path(3, {}, 6)).at(kRoot, 3)));
}

DOCTEST_TEST_CASE("GPT-2, an encoder and learned positions are saved and read back") {
  const Folder folder;
  for (const std::string family : {"gpt2", "encoder", "positions"}) {
    const Transformer net = random_net(family, 2);
    net.save(folder.path.string(), false);
    const auto before = net.named_parameters(),
               after = Transformer::load(folder.path.string()).named_parameters();
    DOCTEST_REQUIRE(before.size() == after.size());
    for (std::size_t i = 0; i < before.size(); ++i)
      DOCTEST_CHECK(before[i].second.equal(after[i].second));
  }
}

DOCTEST_TEST_CASE("longest bounds the canvases, and learned vectors of positions bound it") {
  const Folder folder;
  AutoregressiveOptions options;
  for (const std::string family : {"gpt2", "positions"}) {
    const Transformer net = random_net(family, 2);
    const std::int64_t own = net.config.max_position_embeddings;
    net.save(folder.path.string(), false);
    options.longest = 0;
    DOCTEST_CHECK(make(folder.path, options)->facts().longest == own);
    options.longest = own - 1;
    DOCTEST_CHECK(make(folder.path, options)->facts().longest == own - 1);
    options.longest = own + 1;
    std::string complaint;
    try {
      make(folder.path, options);
    } catch (const ConfigError& error) {
      complaint = error.what();
    }
    DOCTEST_CHECK(complaint == "longest = " + std::to_string(own + 1) + " is more than the " +
                                   std::to_string(own) +
                                   " positions ('max_position_embeddings') of which " +
                                   folder.path.string() + "/config.json has learned vectors");
  }
}

}  // namespace draftlab
