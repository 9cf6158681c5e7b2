// The model block-diffusion: its answers against numbers that others computed, and against whole
// recomputation.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <random>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/base/words.h"
#include "plugins/models/block_diffusion/block_diffusion.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/models/nn/transformer/transformer_torch.h"
#include "tests/core/model/ask.h"
#include "tests/plugins/models/recorded_torch.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

using testing::ask;

std::unique_ptr<Model> make(BlockDiffusionOptions options, const fs::path& checkpoint,
                            Precision dtype = Precision::f32) {
  options.checkpoint = checkpoint.string();
  std::unique_ptr<Model> model(draftlab_make_block_diffusion(&options));
  model->load({Device::cpu, dtype, 1});
  return model;
}

// Asks what is due, as the loop does; how many forwards that took.
int refresh(Model& model, Sequence& sequence, std::optional<Answer>* carry = nullptr) {
  int forwards = 0;
  while (const std::optional<Question> due = model.due(sequence)) {
    Answer answer = ask(model, sequence, *due);
    if (carry && !answer.empty()) *carry = std::move(answer);
    ++forwards;
  }
  return forwards;
}

// Log probabilities without the mask token against a row of logits: the largest difference beyond
// abs 1e-4 + rel 1e-4, as a share of it.
double share(const Distribution& distribution, const float* logits, Token mask) {
  double most = -1e30, sum = 0, largest = 0;
  for (Token t = 0; t < distribution.size(); ++t)
    if (t != mask) most = std::max<double>(most, logits[t]);
  for (Token t = 0; t < distribution.size(); ++t)
    if (t != mask) sum += std::exp(logits[t] - most);
  for (Token t = 0; t < distribution.size(); ++t) {
    if (t == mask) continue;
    const double expected = logits[t] - most - std::log(sum);
    largest = std::max(
        largest, std::abs(distribution.log_probability(t) - expected) /
                     (1e-4 + 1e-4 * std::max<double>(std::abs(expected), std::abs(logits[t]))));
  }
  return largest;
}

// The positions [first, first + tokens.size()) drafted one after another, each asked before it is
// known.
Question verify_path(std::int32_t first, const std::vector<Token>& tokens) {
  Question question{.kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {}};
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto position = first + static_cast<std::int32_t>(i);
    question.asks.push_back({static_cast<int>(i) - 1, {position}});
    question.nodes.push_back({static_cast<int>(i) - 1, position, tokens[i]});
  }
  return question;
}

struct Bundle {
  fs::path folder;
  SafetensorsFile io;
  Token mask;
  std::int32_t block, prefix;
  std::vector<Token> prompt;
  double worst = 0;
  int compared = 0;

  Bundle(const fs::path& folder, const char* meta)
      : folder(folder),
        io((folder / "io.safetensors").string()),
        mask(static_cast<Token>(TransformerConfig::read(folder.string()).mask_token_id)) {
    block = ids(meta)[0];
    prefix = ids(meta)[1];
    prompt = ids("prefill.input_ids");
  }
  std::vector<Token> ids(const std::string& name) const {
    const TensorBytes& stored = io.at(name);
    std::vector<std::int64_t> wide(stored.bytes.size() / 8);
    std::memcpy(wide.data(), stored.bytes.data(), stored.bytes.size());
    return {wide.begin(), wide.end()};
  }
  void compare(const Distribution& distribution, const std::string& name, std::int64_t row) {
    const TensorBytes& stored = io.at(name);
    const std::size_t bytes = stored.shape.back() * 4, rows = stored.bytes.size() / bytes;
    std::vector<float> logits(stored.shape.back());
    std::memcpy(logits.data(), stored.bytes.data() + (row < 0 ? rows + row : row) * bytes, bytes);
    DOCTEST_INFO(name << " row " << row);
    const double own = share(distribution, logits.data(), mask);
    DOCTEST_CHECK(own <= 1);
    worst = std::max(worst, own);
    ++compared;
  }
  // The prefix, and of the block after it what `tokens` has unmasked.
  Canvas canvas(const std::vector<Token>& tokens) const {
    std::vector<std::pair<std::int32_t, Token>> given;
    for (std::int32_t i = 0; i < prefix; ++i) given.emplace_back(i, prompt[i]);
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i] != mask) given.emplace_back(prefix + static_cast<std::int32_t>(i), tokens[i]);
    return Canvas(prefix + block, given);
  }
  std::vector<std::int32_t> whole_block() const {
    std::vector<std::int32_t> positions;
    for (std::int32_t i = 0; i < block; ++i) positions.push_back(prefix + i);
    return positions;
  }
};

// Position-aligned models; of LLaDA2, whose code has no AR caching, only what the block cache
// answers is recorded.
void compare_aligned(Bundle& bundle) {
  const bool sdar = bundle.io.tensors().contains("ar1_causalcache.logits");
  const std::vector<SeenRows> masks = sdar
                                          ? std::vector<SeenRows>{SeenRows::block, SeenRows::causal}
                                          : std::vector<SeenRows>{SeenRows::block};
  for (const SeenRows cache : masks) {
    const std::string suffix = cache == SeenRows::causal ? "_causalcache" : "";
    for (const SeenRows draft_mask : masks) {
      BlockDiffusionOptions options;
      options.cache = cache;
      options.draft_mask = draft_mask;
      const auto model = make(options, bundle.folder);
      const Canvas canvas = bundle.canvas(bundle.ids("denoise.input_ids"));
      const auto sequence = model->open(canvas, {bundle.block, 0});
      DOCTEST_CHECK(refresh(*model, *sequence) == 1);
      const Answer answer = ask(*model, *sequence,
                                {.kind = Kind::draft,
                                 .view = View::bidirectional,
                                 .nodes = {},
                                 .asks = {{kRoot, bundle.whole_block()}}});
      const std::string name = "denoise" +
                               std::string(draft_mask == SeenRows::causal ? "_draft_ver" : "") +
                               suffix + ".logits";
      for (std::int32_t i = 0; i < bundle.block; ++i)
        bundle.compare(answer.at(kRoot, bundle.prefix + i), name, i);
    }
    std::vector<Token> drafted = bundle.ids("verify2l.input_ids");
    drafted.resize(bundle.block);
    for (const VerifiedRows verify_rows : {VerifiedRows::span, VerifiedRows::block}) {
      BlockDiffusionOptions options;
      options.cache = cache;
      options.verify_rows = verify_rows;
      const auto model = make(options, bundle.folder);
      const Canvas canvas = bundle.canvas({});
      const auto sequence = model->open(canvas, {bundle.block, 0});
      refresh(*model, *sequence);
      const Answer answer = ask(*model, *sequence, verify_path(bundle.prefix, drafted));
      for (std::int32_t i = 0; i < bundle.block; ++i) {
        bundle.compare(answer.at(i - 1, bundle.prefix + i), "verify2l" + suffix + ".q_logits", i);
        if (cache == SeenRows::causal)
          bundle.compare(answer.at(i - 1, bundle.prefix + i), "ar1_causalcache.logits", i);
      }
      DOCTEST_CHECK(sequence->counts()[Kind::verify].positions ==
                    (verify_rows == VerifiedRows::block ? 2 * bundle.block : 2 * bundle.block - 1));
    }
    if (cache == SeenRows::block) continue;
    // Plain autoregressive decoding of the same tokens: at block size 1, and at the bundle's with
    // the causal cache.
    for (const std::int32_t size : {1, static_cast<int>(bundle.block)}) {
      for (const BlockCommit commit : {BlockCommit::separate, BlockCommit::ride}) {
        BlockDiffusionOptions options;
        options.cache = cache;
        options.commit = commit;
        const auto model = make(options, bundle.folder);
        Canvas canvas = bundle.canvas({});
        const auto sequence = model->open(canvas, {size, 0});
        for (std::int32_t i = 0; i < bundle.block; ++i) {
          const std::int32_t position = bundle.prefix + i;
          refresh(*model, *sequence);
          const Answer answer = ask(*model, *sequence,
                                    {.kind = Kind::draft,
                                     .view = View::causal,
                                     .nodes = {},
                                     .asks = {{kRoot, {position}}}});
          bundle.compare(answer.at(kRoot, position), "ar1_causalcache.logits", i);
          canvas.commit(position, drafted[i]);
        }
        refresh(*model, *sequence);
        // The authors' baseline pays two forwards a token.
        DOCTEST_CHECK(sequence->counts().nfe() ==
                      1 + bundle.block + (commit == BlockCommit::ride ? 0 : bundle.block / size));
      }
    }
  }
}

void compare_fast(Bundle& bundle) {
  for (const SeenRows cache : {SeenRows::block, SeenRows::causal}) {
    BlockDiffusionOptions options;
    options.cache = cache;
    const auto model = make(options, bundle.folder);
    if (cache == SeenRows::block) {
      const Canvas canvas = bundle.canvas(bundle.ids("denoise.input_ids"));
      const auto sequence = model->open(canvas, {bundle.block, 0});
      refresh(*model, *sequence);
      const Answer answer = ask(*model, *sequence,
                                {.kind = Kind::draft,
                                 .view = View::bidirectional,
                                 .nodes = {},
                                 .asks = {{kRoot, bundle.whole_block()}}});
      bundle.compare(answer.at(kRoot, bundle.prefix), "prefill.logits", -1);
      for (std::int32_t i = 1; i < bundle.block; ++i) {
        bundle.compare(answer.at(kRoot, bundle.prefix + i), "denoise.logits", i - 1);
        bundle.compare(answer.at(kRoot, bundle.prefix + i), "denoise.shifted_logits", i);
      }
    }
    // The first ask computes the block, the second the rows of its second part, after tokens of the
    // first have changed. A part's first position is left out: the row before it answers.
    for (const PartCache sub_block_cache : {PartCache::masked, PartCache::once}) {
      if (cache == SeenRows::causal) break;
      options.sub_block_cache = sub_block_cache;
      const auto keeping = make(options, bundle.folder);
      const std::vector<Token> before = bundle.ids("blockcache.input_ids0"),
                               after = bundle.ids("blockcache.input_ids1");
      const std::int32_t part = bundle.ids("meta.block_size_prefix_sub")[2];
      Canvas canvas = bundle.canvas(before);
      const auto sequence = keeping->open(canvas, {bundle.block, 0, part});
      refresh(*keeping, *sequence);
      // Fast-dLLM v2 recomputes the block while the part's first position is masked, which is not
      // what is recorded.
      const bool recomputed = sub_block_cache == PartCache::masked && before[part] == bundle.mask;
      for (const std::int32_t first : {0, static_cast<int>(part)}) {
        Question question{
            .kind = Kind::draft, .view = View::bidirectional, .nodes = {}, .asks = {{kRoot, {}}}};
        for (std::int32_t i = first + 1; i < first + part; ++i)
          question.asks[0].positions.push_back(bundle.prefix + i);
        const Answer answer = ask(*keeping, *sequence, question);
        for (const std::int32_t position : question.asks[0].positions) {
          if (first > 0 && recomputed) break;
          const std::int32_t row = position - 1 - bundle.prefix;
          bundle.compare(answer.at(kRoot, position),
                         first == 0 ? "blockcache.full_logits" : "blockcache.sub_logits",
                         row - first);
        }
        for (std::int32_t i = 0; i < part && first == 0; ++i)
          if (before[i] != after[i]) canvas.commit(bundle.prefix + i, after[i]);
      }
      DOCTEST_CHECK(sequence->counts()[Kind::draft].positions ==
                    bundle.block + (recomputed ? bundle.block : part));
    }
    const std::vector<Token> drafted = bundle.ids("verify.input_ids");
    const Canvas canvas = bundle.canvas({});
    const auto sequence = model->open(canvas, {bundle.block, 0});
    std::optional<Answer> carry;
    DOCTEST_CHECK(refresh(*model, *sequence, &carry) == 1);
    DOCTEST_REQUIRE(carry);
    if (cache == SeenRows::block)
      bundle.compare(carry->at(kRoot, bundle.prefix), "prefill.logits", -1);
    const Answer answer = ask(*model, *sequence, verify_path(bundle.prefix, drafted));
    for (std::int32_t i = 1; i < bundle.block; ++i) {
      if (cache == SeenRows::block)
        bundle.compare(answer.at(i - 1, bundle.prefix + i), "verify.shifted_logits", i);
      bundle.compare(answer.at(i - 1, bundle.prefix + i),
                     cache == SeenRows::block ? "verify.logits" : "verify_causalcache.logits",
                     i - 1);
    }
  }
}

// What a question should be answered, by a forward of everything at once for each asked position.
struct Reference {
  const Transformer& net;
  Blocks blocks;
  bool causal_cache, causal_draft, shifted;

  struct Line {
    std::int32_t position;
    Token token;
    std::vector<char> sees;  // Whether the line before it and its own are seen.
  };

  double worst(const Canvas& canvas, const Question& question, const Answer& answer) const {
    double largest = 0;
    for (const Ask& ask : question.asks) {
      for (const std::int32_t position : ask.positions) {
        const at::Tensor logits = row(canvas, question, ask.node, position).contiguous();
        largest = std::max(largest, share(answer.at(ask.node, position), logits.data_ptr<float>(),
                                          static_cast<Token>(net.config.mask_token_id)));
      }
    }
    return largest;
  }

  at::Tensor row(const Canvas& canvas, const Question& question, int node,
                 std::int32_t position) const {
    const auto mask = static_cast<Token>(net.config.mask_token_id);
    const bool bidirectional = question.view == View::bidirectional;
    // Positions whose blocks are finished, then the block or the path.
    std::int32_t finished = 0;
    for (std::int32_t i = 0; i < canvas.length() && !canvas.masked(i) && !canvas.tentative(i);) {
      if (++i == canvas.length() || blocks.first(i) == i) finished = i;
    }
    std::vector<Token> tokens(finished);
    std::vector<std::int32_t> positions(finished);
    for (std::int32_t i = 0; i < finished; ++i) tokens[i] = canvas.token(i), positions[i] = i;
    std::size_t wanted = 0;
    std::int32_t first_mask = canvas.length();
    if (bidirectional) {
      const std::int32_t end = blocks.size == 1
                                   ? question.asks.back().positions.back() + (shifted ? 0 : 1)
                                   : blocks.end(position, canvas.length());
      for (std::int32_t i = finished; i < end; ++i) {
        if (canvas.masked(i)) first_mask = std::min(first_mask, i);
        tokens.push_back(canvas.masked(i) ? mask : canvas.token(i));
        positions.push_back(i);
      }
      wanted = shifted ? position - 1 : position;
    } else {
      std::vector<Token> drafted(canvas.tokens());
      for (int at = node; at != kRoot; at = question.nodes[at].parent)
        drafted[question.nodes[at].position] = question.nodes[at].token;
      for (std::int32_t i = finished; i < position; ++i) {
        if (drafted[i] == kNoToken) continue;
        tokens.push_back(drafted[i]);
        positions.push_back(i);
      }
      if (!shifted) tokens.push_back(mask), positions.push_back(position);
      wanted = tokens.size() - 1;
    }
    const auto count = static_cast<std::int64_t>(tokens.size());
    at::Tensor ids = at::empty({1, count}, at::kLong), places = at::empty({1, count}, at::kLong),
               allowed = at::zeros({count, count}, at::kBool);
    for (std::int64_t i = 0; i < count; ++i) {
      ids.data_ptr<std::int64_t>()[i] = tokens[i];
      places.data_ptr<std::int64_t>()[i] = positions[i];
      for (std::int64_t j = 0; j < count; ++j) {
        const bool together = i < finished
                                  ? !causal_cache
                                  : bidirectional && !(causal_draft && positions[i] < first_mask);
        allowed.data_ptr<bool>()[i * count + j] =
            j <= i ||
            (together &&
             (i < finished ? blocks.index(positions[j]) == blocks.index(positions[i]) : true));
      }
    }
    return transformer_logits(net, {ids, places, allowed})[0][static_cast<std::int64_t>(wanted)];
  }
};

struct Checkpoint {
  fs::path path;
  Transformer net;
  explicit Checkpoint(const std::string& family, int layers = 3)
      : path(fs::temp_directory_path() /
             ("draftlab-block-diffusion-" + std::to_string(::getpid()))),
        net(Transformer::random(config(family, layers), 11, 0.2)) {
    net.save(path.string(), false);
  }
  ~Checkpoint() { fs::remove_all(path); }
  static TransformerConfig config(const std::string& family, int layers) {
    TransformerConfig config;
    config.model_type = family;
    config.vocab_size = 29;
    config.hidden_size = 36;
    config.num_hidden_layers = layers;
    config.num_attention_heads = 6;
    config.num_key_value_heads = 2;
    config.head_dim = 18;
    config.intermediate_size = 50;
    config.mask_token_id = 7;
    if (config.llada2()) {
      config.rotary_dim = 10;
      config.experts = {.count = 8,
                        .chosen = 3,
                        .shared = 1,
                        .inner = 20,
                        .first_layer = 1,
                        .groups = 4,
                        .best_groups = 2,
                        .scale = 2.5};
    }
    return config;
  }
};

struct Random {
  std::mt19937 engine{17};
  int below(int bound) { return static_cast<int>(engine() % bound); }
  Token token() {
    const int drawn = below(28);
    return drawn < 7 ? drawn : drawn + 1;
  }
};

// Positions of the first block with masks; where blocks have one position, those of several, which
// are denoised as one longer block.
std::vector<std::int32_t> open_positions(const Canvas& canvas, const Blocks& blocks) {
  std::vector<std::int32_t> open;
  for (const std::int32_t i : canvas.masked_positions())
    if (open.empty() || blocks.first(i) == blocks.first(open.front()) ||
        (blocks.size == 1 && open.size() < 5))
      open.push_back(i);
  return open;
}

// Some paths through the block's first masked positions, each position asked before it is known;
// the last may ask one more.
Question drafts(const Canvas& canvas, const Blocks& blocks, Random& random) {
  const std::vector<std::int32_t> open = open_positions(canvas, blocks);
  const int length = 1 + random.below(static_cast<int>(open.size()));
  Question question{
      .kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {{kRoot, {open.front()}}}};
  for (int paths = 1 + random.below(3); paths > 0; --paths) {
    int parent = kRoot;
    for (int i = 0; i < length; ++i) {
      question.nodes.push_back({parent, open[i], random.token()});
      parent = static_cast<int>(question.nodes.size()) - 1;
      if (i + 1 < length) question.asks.push_back({parent, {open[i + 1]}});
    }
    const std::int32_t bonus = open[length - 1] + 1;
    if (bonus < canvas.length() && canvas.masked(bonus) && random.below(2))
      question.asks.push_back({parent, {bonus}});
  }
  return question;
}

}  // namespace

DOCTEST_TEST_CASE("parity: block diffusion, denoising and verification over the cache") {
  at::set_num_threads(1);
  for (const auto& [folder, name, family] :
       bundles_of({"sdar", "llada2_moe", "Fast_dLLM_Qwen"}, "block diffusion")) {
    const bool aligned = family != "Fast_dLLM_Qwen";
    DOCTEST_INFO(name);
    Bundle bundle(folder, aligned ? "meta.block_size_prefix_len" : "meta.block_size_prefix_sub");
    if (aligned)
      compare_aligned(bundle);
    else
      compare_fast(bundle);
    std::cout << "parity " << name << ": " << bundle.compared << " answers, " << bundle.worst
              << " of the tolerance\n";
    DOCTEST_CHECK(bundle.compared > 0);
  }
}

DOCTEST_TEST_CASE("cached answers equal whole recomputation, whatever is accepted and rejected") {
  const at::NoGradGuard no_grad;
  Random random;
  double largest = 0;
  int asked = 0;
  for (const std::string family : {"sdar", "Fast_dLLM_Qwen", "llada2_moe"}) {
    const Checkpoint checkpoint(family);
    const bool shifted = family == "Fast_dLLM_Qwen";
    for (int round = 0; round < 48; ++round) {
      BlockDiffusionOptions options;
      options.cache = round & 1 ? SeenRows::causal : SeenRows::block;
      options.draft_mask = round & 2 ? SeenRows::causal : SeenRows::block;
      options.commit = round & 4 ? BlockCommit::ride : BlockCommit::separate;
      options.verify_rows = round & 8 ? VerifiedRows::block : VerifiedRows::span;
      const auto model = make(options, checkpoint.path);
      const int length = 6 + random.below(16), prompt = 1 + random.below(length - 1);
      const std::int32_t sizes[] = {1, 3, 4, 5, 8, 0};
      Blocks blocks{sizes[random.below(6)], 0};
      if (blocks.size > 0) blocks.origin = random.below(2) * random.below(blocks.size);
      std::vector<std::pair<std::int32_t, Token>> given;
      for (std::int32_t i = 0; i < prompt; ++i) given.emplace_back(i, random.token());
      Canvas canvas(length, given);
      const Reference reference{checkpoint.net, blocks, options.cache == SeenRows::causal,
                                options.draft_mask == SeenRows::causal, shifted};
      const auto sequence = model->open(canvas, blocks);
      const auto compare = [&](const Question& question) {
        const double own = reference.worst(canvas, question, ask(*model, *sequence, question));
        DOCTEST_INFO(family << " round " << round << " block " << blocks.size << " origin "
                            << blocks.origin);
        DOCTEST_CHECK(own < 3);
        largest = std::max(largest, own);
        ++asked;
      };
      while (!canvas.masked_positions().empty()) {
        while (const std::optional<Question> due = model->due(*sequence)) compare(*due);
        const std::vector<std::int32_t> open = open_positions(canvas, blocks);
        if (random.below(3))
          compare({.kind = Kind::draft,
                   .view = View::bidirectional,
                   .nodes = {},
                   .asks = {{kRoot, open}}});
        std::vector<Node> drafted;
        if (random.below(3)) {
          const Question question = drafts(canvas, blocks, random);
          compare(question);
          drafted = question.nodes;
        }
        if (random.below(3))
          compare({.kind = Kind::draft,
                   .view = View::causal,
                   .nodes = {},
                   .asks = {{kRoot, {open.front()}}}});
        // Drafts are accepted, or other tokens, or positions are unmasked in any order.
        if (!drafted.empty() && random.below(2)) {
          std::size_t count = 1;
          while (count < drafted.size() && drafted[count].parent != kRoot && random.below(4))
            ++count;
          for (std::size_t i = 0; i < count; ++i)
            canvas.commit(drafted[i].position, drafted[i].token);
        } else if (random.below(2))
          for (int i = random.below(static_cast<int>(open.size())); i >= 0; --i)
            canvas.commit(open[i], random.token());
        else
          canvas.commit(open[random.below(static_cast<int>(open.size()))], random.token());
      }
    }
  }
  std::cout << "block diffusion: " << asked << " questions equal whole recomputation, " << largest
            << " of the tolerance\n";
}

DOCTEST_TEST_CASE("a batch of sequences is answered as each alone, bit for bit") {
  Random random;
  for (const std::string family : {"sdar", "Fast_dLLM_Qwen", "llada2_moe"}) {
    const Checkpoint checkpoint(family);
    for (const Precision dtype : {Precision::f32, Precision::bf16, Precision::q8, Precision::q4}) {
      const auto model = make({}, checkpoint.path, dtype);
      const Blocks blocks{4, 0};
      std::vector<std::unique_ptr<Canvas>> canvases;
      for (int i = 0; i < 8; ++i) {
        std::vector<std::pair<std::int32_t, Token>> given;
        const int prompt = 1 + random.below(30);
        for (std::int32_t p = 0; p < prompt; ++p) given.emplace_back(p, random.token());
        canvases.push_back(std::make_unique<Canvas>(40, given));
      }
      std::vector<std::unique_ptr<Sequence>> alone, together;
      for (const auto& canvas : canvases)
        alone.push_back(model->open(*canvas, blocks)),
            together.push_back(model->open(*canvas, blocks));
      const auto compare = [&](const std::vector<Question>& questions,
                               const std::vector<int>& who) {
        std::vector<Answer> answers(who.size());
        std::vector<Pending> batch;
        for (std::size_t i = 0; i < who.size(); ++i)
          batch.push_back({together[who[i]].get(), &questions[i], &answers[i]});
        model->answer(batch);
        for (std::size_t i = 0; i < who.size(); ++i) {
          const Answer expected = ask(*model, *alone[who[i]], questions[i]);
          for (const Ask& ask : questions[i].asks) {
            for (const std::int32_t position : ask.positions) {
              DOCTEST_CHECK((answers[i].at(ask.node, position).probabilities() ==
                             expected.at(ask.node, position).probabilities())
                                .all());
            }
          }
        }
      };
      for (int step = 0; step < 12; ++step) {
        for (const Kind kind : {Kind::prefill, Kind::commit}) {
          for (bool more = true; more;) {
            std::vector<Question> questions;
            std::vector<int> who;
            for (int i = 0; i < 8; ++i) {
              const std::optional<Question> due = model->due(*together[i]);
              if (due && due->kind == kind) questions.push_back(*due), who.push_back(i);
            }
            more = !who.empty();
            if (more) compare(questions, who);
          }
        }
        std::vector<Question> denoise, verify;
        std::vector<int> who;
        for (int i = 0; i < 8; ++i) {
          const std::vector<std::int32_t> open = open_positions(*canvases[i], blocks);
          if (open.empty()) continue;
          who.push_back(i);
          denoise.push_back({.kind = Kind::draft,
                             .view = View::bidirectional,
                             .nodes = {},
                             .asks = {{kRoot, open}}});
          verify.push_back(drafts(*canvases[i], blocks, random));
        }
        if (who.empty()) break;
        compare(denoise, who);
        compare(verify, who);
        for (const int i : who) {
          const std::vector<std::int32_t> open = open_positions(*canvases[i], blocks);
          for (int k = random.below(static_cast<int>(open.size())); k >= 0; --k)
            canvases[i]->commit(open[k], random.token());
        }
      }
    }
  }
}

DOCTEST_TEST_CASE("forwards are counted as the authors count them") {
  const Checkpoint checkpoint("sdar");
  std::vector<std::pair<std::int32_t, Token>> given;
  for (std::int32_t i = 0; i < 6; ++i) given.emplace_back(i, i);
  for (const BlockCommit commit : {BlockCommit::separate, BlockCommit::ride}) {
    BlockDiffusionOptions options;
    options.commit = commit;
    const auto model = make(options, checkpoint.path);
    Canvas canvas(12, given);
    const auto sequence = model->open(canvas, {4, 0});
    DOCTEST_CHECK(refresh(*model, *sequence) == 1);  // One finished block of the prompt.
    DOCTEST_CHECK(sequence->counts()[Kind::prefill].positions == 4);
    const auto denoise = [&](std::vector<std::int32_t> positions) {
      ask(*model, *sequence,
          {.kind = Kind::draft,
           .view = View::bidirectional,
           .nodes = {},
           .asks = {{kRoot, std::move(positions)}}});
    };
    denoise({6, 7});
    DOCTEST_CHECK(sequence->counts()[Kind::draft].positions == 4);
    ask(*model, *sequence, verify_path(6, {1, 2}));
    DOCTEST_CHECK(sequence->counts()[Kind::verify].positions ==
                  2 + 1 + 2);  // Committed tokens of the block, a draft, two masks.
    canvas.commit(6, 1);
    canvas.commit(7, 2);
    DOCTEST_CHECK(refresh(*model, *sequence) == (commit == BlockCommit::ride ? 0 : 1));
    denoise({8, 9, 10, 11});
    DOCTEST_CHECK(sequence->counts()[Kind::draft].positions ==
                  4 + (commit == BlockCommit::ride ? 8 : 4));
    for (std::int32_t i = 8; i < 12; ++i) canvas.commit(i, 3);
    // The last block's forward is counted, too.
    DOCTEST_CHECK(refresh(*model, *sequence) == (commit == BlockCommit::ride ? 0 : 1));
    DOCTEST_CHECK(sequence->counts().nfe() == (commit == BlockCommit::ride ? 4 : 6));
  }
}

// Keys and values of a first layer know nothing of each other, so in a network of one layer kept
// rows are right as long as their tokens are.
DOCTEST_TEST_CASE(
    "kept rows of a block: which are computed, exact in one layer and approximate above") {
  const at::NoGradGuard no_grad;
  Random random;
  for (const std::string family : {"sdar", "Fast_dLLM_Qwen"}) {
    const bool shifted = family != "sdar";
    for (const int layers : {1, 3}) {
      const Checkpoint checkpoint(family, layers);
      for (const PartCache sub_block_cache : {PartCache::masked, PartCache::once}) {
        for (const SeenRows cache : {SeenRows::block, SeenRows::causal}) {
          DOCTEST_INFO(family << " " << layers << " layers, " << word(sub_block_cache) << ", "
                              << word(cache));
          BlockDiffusionOptions options;
          options.sub_block_cache = sub_block_cache;
          options.cache = cache;
          // With `ride`, verification caches the block's final tokens, too.
          options.commit = cache == SeenRows::causal ? BlockCommit::ride : BlockCommit::separate;
          const auto model = make(options, checkpoint.path);
          const std::pair<std::int32_t, Token> given[] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}};
          Canvas canvas(12, given);
          const Blocks blocks{8, 0, 4};  // Positions 0-7, in parts 0-3 and 4-7.
          const auto sequence = model->open(canvas, blocks),
                     undisturbed = model->open(canvas, blocks);
          const Reference reference{checkpoint.net, blocks, cache == SeenRows::causal, false,
                                    shifted};
          std::int64_t rows = 0;
          const auto denoise = [&](std::vector<std::int32_t> positions, std::int64_t computed) {
            const Question question{.kind = Kind::draft,
                                    .view = View::bidirectional,
                                    .nodes = {},
                                    .asks = {{kRoot, std::move(positions)}}};
            const Answer answer = ask(*model, *sequence, question),
                         same = ask(*model, *undisturbed, question);
            for (const std::int32_t i : question.asks[0].positions)
              DOCTEST_CHECK(
                  (answer.at(kRoot, i).probabilities() == same.at(kRoot, i).probabilities()).all());
            rows += computed;
            DOCTEST_CHECK(undisturbed->counts()[Kind::draft].positions == rows);
            return reference.worst(canvas, question, answer);
          };
          refresh(*model, *sequence);
          refresh(*model, *undisturbed);
          DOCTEST_CHECK(sequence->state().empty());
          DOCTEST_CHECK(denoise({5, 6, 7}, 8) < 3);
          // What is verified in between leaves the kept rows alone.
          for (int i = 0; i < 2; ++i) ask(*model, *sequence, drafts(canvas, blocks, random));
          canvas.commit(6, 9);
          const double after = denoise({5, 7}, 4);
          DOCTEST_CHECK((layers == 1 ? after < 3 : after > 100));
          DOCTEST_CHECK(sequence->state() == "0 1 2 3 4 5 7 7 7;4 5 7 9 7;");
          canvas.commit(5, 9);
          canvas.commit(7, 9);
          while (refresh(*model, *sequence) + refresh(*model, *undisturbed) > 0) {}
          // The next block, of one part whose first position is masked.
          std::vector<std::int32_t> open{8, 9, 10, 11};
          const bool riding = options.commit == BlockCommit::ride;
          DOCTEST_CHECK(denoise(open, riding ? 3 + 4 : 4) < 3);
        }
      }
    }
  }
}

DOCTEST_TEST_CASE(
    "a part's first position is answered by rows of the whole block, or as the port reads it") {
  const at::NoGradGuard no_grad;
  for (const std::string family : {"sdar", "Fast_dLLM_Qwen"}) {
    const Checkpoint checkpoint(family, 1);
    for (const PartCache sub_block_cache : {PartCache::masked, PartCache::once}) {
      BlockDiffusionOptions options;
      options.sub_block_cache = sub_block_cache;
      const auto model = make(options, checkpoint.path);
      const std::pair<std::int32_t, Token> given[] = {{0, 1}};
      Canvas canvas(4, given);
      const Blocks blocks{4, 0, 2};
      const auto sequence = model->open(canvas, blocks);
      const auto asking = [](std::int32_t position) {
        return Question{.kind = Kind::draft,
                        .view = View::bidirectional,
                        .nodes = {},
                        .asks = {{kRoot, {position}}}};
      };
      ask(*model, *sequence, asking(1));
      canvas.commit(1, 5);
      const Question second = asking(2);
      const Answer answer = ask(*model, *sequence, second);
      const bool whole = sub_block_cache == PartCache::masked, aligned = family == "sdar";
      DOCTEST_CHECK(sequence->counts()[Kind::draft].positions == 4 + (whole ? 4 : 2));
      // Not recomputed, the row of position 1 still holds a mask; and the port reads position 2 in
      // row 2, which is that of position 3.
      const double worst =
          Reference{checkpoint.net, blocks, false, false, !aligned}.worst(canvas, second, answer);
      DOCTEST_CHECK((whole ? worst < 3 : worst > 100));
      if (!whole && !aligned) {
        const Canvas before(4, given);
        Answer moved;
        moved.add(kRoot, 3, answer.at(kRoot, 2));
        DOCTEST_CHECK(Reference{checkpoint.net, blocks, false, false, true}.worst(before, asking(3),
                                                                                  moved) < 3);
      }
    }
  }
}

DOCTEST_TEST_CASE(
    "autoregressive decoding costs one forward a token, of one row where logits are shifted") {
  for (const std::string family : {"sdar", "Fast_dLLM_Qwen", "llada2_moe"}) {
    const Checkpoint checkpoint(family);
    const bool shifted = family == "Fast_dLLM_Qwen";
    for (const View view : {View::causal, View::bidirectional}) {
      BlockDiffusionOptions options;
      options.commit = BlockCommit::ride;
      const auto model = make(options, checkpoint.path);
      const std::pair<std::int32_t, Token> given[] = {{0, 1}, {1, 2}, {2, 3}};
      Canvas canvas(8, given);
      const auto sequence = model->open(canvas, {1, 0});
      std::optional<Answer> carry;
      refresh(*model, *sequence, &carry);
      DOCTEST_CHECK(carry.has_value() == shifted);  // The prompt's forward gives the first token.
      for (std::int32_t i = 3; i < 8; ++i) {
        if (i > 3 || !shifted) {
          const Question question{
              .kind = Kind::draft, .view = view, .nodes = {}, .asks = {{kRoot, {i}}}};
          DOCTEST_CHECK(!ask(*model, *sequence, question).at(kRoot, i).empty());
        }
        canvas.commit(i, i);
      }
      const Count& drafts = sequence->counts()[Kind::draft];
      DOCTEST_CHECK(drafts.calls == (shifted ? 4 : 5));
      // It is the token before, and where logits are aligned also a mask.
      DOCTEST_CHECK(drafts.positions == (shifted ? 4 : 2 * 5 - 1));
    }
  }
}

DOCTEST_TEST_CASE("in blocks of one, masks are drafted as a block; accepted drafts stay cached") {
  for (const std::string family : {"sdar", "Fast_dLLM_Qwen"}) {
    const Checkpoint checkpoint(family);
    const bool shifted = family == "Fast_dLLM_Qwen";
    BlockDiffusionOptions options;
    options.commit = BlockCommit::ride;
    const auto model = make(options, checkpoint.path);
    const std::pair<std::int32_t, Token> given[] = {{0, 1}, {1, 2}, {2, 3}};
    Canvas canvas(16, given);
    const auto sequence = model->open(canvas, {1, 0});
    refresh(*model, *sequence);
    const auto draft = [&](const std::vector<std::int32_t>& positions) {
      ask(*model, *sequence,
          {.kind = Kind::draft,
           .view = View::bidirectional,
           .nodes = {},
           .asks = {{kRoot, positions}}});
      return sequence->counts()[Kind::draft].positions;
    };
    // The row of the prompt's last token answers the first position where logits are shifted.
    const std::int64_t masks = shifted ? 2 : 3;
    DOCTEST_CHECK(draft({3, 4, 5}) == masks);
    Question verify = verify_path(3, {4, 5, 6});
    verify.asks.push_back({2, {6}});
    ask(*model, *sequence, verify);
    DOCTEST_CHECK(sequence->counts()[Kind::verify].positions == (shifted ? 3 : 3 + 4));
    // Two drafts are accepted, and the third is replaced: its row alone is computed.
    canvas.commit(3, 4), canvas.commit(4, 5), canvas.commit(5, 9);
    DOCTEST_CHECK(draft({6, 7, 8}) == 2 * masks + 1);
    verify = verify_path(6, {4, 5, 6});
    verify.asks.push_back({2, {9}});
    ask(*model, *sequence, verify);
    // All are accepted, and one token more is drawn.
    for (std::int32_t i = 6; i < 9; ++i) canvas.commit(i, i - 2);
    canvas.commit(9, 1);
    DOCTEST_CHECK(draft({10, 11}) == 3 * masks + 1);
    // Of two paths the second goes on where the first ends, over another token.
    ask(*model, *sequence,
        {.kind = Kind::verify,
         .view = View::causal,
         .nodes = {{kRoot, 10, 4}, {kRoot, 10, 5}, {1, 11, 6}},
         .asks = {{0, {11}}, {2, {12}}}});
    canvas.commit(10, 4), canvas.commit(11, 6);
    DOCTEST_CHECK(draft({12, 13}) == 4 * masks + 1);
    if (shifted) continue;
    // A row behind a gap is none that the cache wants, though the same token comes to stand in it.
    ask(*model, *sequence,
        {.kind = Kind::verify,
         .view = View::causal,
         .nodes = {{kRoot, 13, 4}},
         .asks = {{0, {14}}}});
    canvas.commit(12, 4);
    DOCTEST_CHECK(draft({13, 14}) == 5 * masks + 1);
  }
}

DOCTEST_TEST_CASE("what cannot be answered is said") {
  const Checkpoint aligned("sdar");
  const auto model = make({}, aligned.path);
  const std::pair<std::int32_t, Token> given[] = {{0, 1}};
  Canvas canvas(12, given);
  const auto sequence = model->open(canvas, {4, 0});
  const auto fault = [&](const Question& question) {
    try {
      ask(*model, *sequence, question);
    } catch (const Fault& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  DOCTEST_CHECK(
      fault({.kind = Kind::draft, .view = View::bidirectional, .nodes = {}, .asks = {{kRoot, {5}}}})
          .find("before the blocks left of it were finished") != std::string::npos);
  DOCTEST_CHECK(fault({.kind = Kind::draft,
                       .view = View::bidirectional,
                       .nodes = {},
                       .asks = {{kRoot, {1, 5}}}})
                    .find("of two blocks") != std::string::npos);
  DOCTEST_CHECK(fault({.kind = Kind::verify,
                       .view = View::bidirectional,
                       .nodes = {{kRoot, 1, 2}},
                       .asks = {{0, {2}}}})
                    .find("in the causal view") != std::string::npos);

  BlockDiffusionOptions keeping;
  keeping.sub_block_cache = PartCache::masked;
  DOCTEST_CHECK_THROWS_WITH_AS(
      static_cast<void>(make(keeping, aligned.path)->open(canvas, {4, 0})),
      "model.block-diffusion.sub_block_cache = masked needs sub-blocks; decode.sub_block is 0",
      ConfigError);

  const Checkpoint shifted("Fast_dLLM_Qwen");
  const auto right = make({}, shifted.path);
  DOCTEST_CHECK_THROWS_AS(static_cast<void>(right->open(
                              Canvas(4, std::span<const std::pair<std::int32_t, Token>>{}), {})),
                          ConfigError);
  const auto own = right->open(canvas, {4, 0});
  DOCTEST_CHECK_THROWS_AS(
      ask(*right, *own,
          {.kind = Kind::draft, .view = View::causal, .nodes = {}, .asks = {{kRoot, {1, 2}}}}),
      Fault);
}

}  // namespace draftlab
