// What a Llama's config.json may say, and what is refused by name. The scaling of Llama 3.1 by
// hand.
#include "plugins/models/nn/transformer/llama_config.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "tests/complaint.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;

using testing::says;

// TinyLlama's keys, with these in addition or in their place.
TransformerConfig read_with(const Json& more) {
  const testing::Folder folder;
  Json json = {{"architectures", {"LlamaForCausalLM"}},
               {"model_type", "llama"},
               {"hidden_act", "silu"},
               {"hidden_size", 2048},
               {"intermediate_size", 5632},
               {"num_hidden_layers", 22},
               {"num_attention_heads", 32},
               {"num_key_value_heads", 4},
               {"rms_norm_eps", 1e-5},
               {"rope_scaling", nullptr},
               {"vocab_size", 32000},
               {"eos_token_id", 2}};
  if (!more.is_null()) json.update(more);
  std::ofstream(folder.path / "config.json") << json.dump();
  return TransformerConfig::read(folder.path.string());
}

std::string config_complaint(const Json& more) {
  return testing::complaint([&] { read_with(more); });
}

const Json kLlama31 = {{"factor", 8.0},
                       {"low_freq_factor", 1.0},
                       {"high_freq_factor", 4.0},
                       {"original_max_position_embeddings", 8192},
                       {"rope_type", "llama3"}};

}  // namespace

TEST_CASE("llama: config.json with the keys of TinyLlama") {
  const TransformerConfig config = read_with({});
  CHECK(config.llama());
  CHECK(config.right_shifted());
  CHECK(!config.qk_norm());
  CHECK(!config.qkv_bias());
  CHECK(config.head_dim == 64);
  CHECK(config.rope.theta == 1e4);
  CHECK(config.mask_token_id == -1);
  CHECK(config.sliding_window == 0);
  CHECK(read_with({{"attention_bias", true}}).qkv_bias());
  CHECK(read_with({{"model_type", nullptr}}).model_type == "llama");
}

TEST_CASE("llama: where the base of rotary positions stands") {
  CHECK(read_with({{"rope_theta", 5e5}}).rope.theta == 5e5);
  const Json newer = {{"rope_theta", 1e5}, {"rope_type", "default"}};
  CHECK(read_with({{"rope_parameters", newer}}).rope.theta == 1e5);
  Json both = kLlama31;
  both["rope_theta"] = 5e5;
  const Rope rope = read_with({{"rope_parameters", both}}).rope;
  CHECK(rope.theta == 5e5);
  CHECK(rope.scaling.kind == RopeKind::llama3);
  // Another family reads the base there, too, and knows no scaling.
  const Json qwen = {{"model_type", "qwen3"}, {"rope_parameters", newer}};
  CHECK(read_with(qwen).rope.theta == 1e5);
  CHECK(says(config_complaint({{"model_type", "qwen3"}, {"rope_parameters", both}}),
             "'rope_parameters' asks for the scaling 'llama3', which qwen3 has not"));
}

TEST_CASE("llama: the scaling of Llama 3.1 by hand") {
  const TransformerConfig config =
      read_with({{"rope_theta", 1e4}, {"rope_scaling", kLlama31}, {"head_dim", 8}});
  // The wavelengths are 2 pi times 1, 10, 100 and 1000; those up to 8192 / 4 are kept, and those
  // beyond 8192 are divided by 8.
  const std::vector<double> divisors = rope_divisors(config.rope, 8);
  REQUIRE(divisors.size() == 4);
  CHECK(divisors[0] == 1);
  CHECK(divisors[1] == 1);
  CHECK(divisors[2] == 1);
  // 8192 positions are 1.30380 turns of 6283.19: a share of (1.30380 - 1) / 3 is kept whole.
  CHECK(divisors[3] == doctest::Approx(1 / (0.898734 / 8 + 0.101266)).epsilon(1e-5));
  Rope longer = config.rope;
  longer.theta = 1e8;
  CHECK(rope_divisors(longer, 8)[3] == 8);
  const Json linear = {{"type", "linear"}, {"factor", 4.0}};
  CHECK(rope_divisors(read_with({{"rope_scaling", linear}}).rope, 4) == std::vector<double>{4, 4});
  CHECK(rope_divisors(read_with({}).rope, 4) == std::vector<double>{1, 1});
}

TEST_CASE("llama: what is not implemented is refused by name") {
  for (const char* const kind : {"yarn", "dynamic", "longrope"})
    CHECK(says(config_complaint({{"rope_scaling", {{"rope_type", kind}, {"factor", 2}}}}),
               "'rope_type' is '" + std::string(kind) + "'"));
  CHECK(says(config_complaint({{"rope_scaling", 4}}), "'rope_scaling' is 4, it must be an object"));
  CHECK(says(config_complaint({{"rope_scaling", {{"type", "linear"}}}}),
             "'factor' is missing, it must be a positive number"));
  Json wrong = kLlama31;
  wrong["low_freq_factor"] = 4;
  CHECK(says(config_complaint({{"rope_scaling", wrong}}),
             "it must be less than 'high_freq_factor', 4"));
  wrong = kLlama31;
  wrong.erase("original_max_position_embeddings");
  CHECK(says(config_complaint({{"rope_scaling", wrong}}),
             "has no 'original_max_position_embeddings'"));
  CHECK(
      says(config_complaint({{"mlp_bias", true}}), "'mlp_bias' is true, only false is supported"));
  CHECK(says(config_complaint({{"rope_interleaved", true}}), "'rope_interleaved' is true"));
  CHECK(says(config_complaint({{"partial_rotary_factor", 0.5}}), "'partial_rotary_factor' is 0.5"));
  CHECK(says(config_complaint({{"hidden_act", "gelu"}}), "'hidden_act' is \"gelu\""));
  // Mixtures of experts, and networks that only look alike, are other families.
  for (const char* const other : {"mixtral", "qwen3_moe", "qwen2_moe", "smollm3", "gemma2", "phi3"})
    CHECK(says(config_complaint({{"model_type", other}}),
               "another family, model_type '" + std::string(other) + "'"));
  CHECK(says(config_complaint({{"model_type", "qwen2"}, {"use_sliding_window", true}}),
             "'use_sliding_window' is true, only false is supported"));
}

TEST_CASE("mistral: the window is what config.json says, 4096 rows, or none") {
  CHECK(read_with({{"model_type", "mistral"}}).sliding_window == 4096);
  CHECK(read_with({{"model_type", "mistral"}, {"sliding_window", 128}}).sliding_window == 128);
  CHECK(read_with({{"model_type", "mistral"}, {"sliding_window", nullptr}}).sliding_window == 0);
  CHECK(says(config_complaint({{"model_type", "mistral"}, {"sliding_window", 0}}),
             "'sliding_window' is 0, outside [1, 1048576]"));
}

}  // namespace draftlab
