#include "plugins/models/rwkv/rwkv_weights.h"

#include <set>

#include "core/base/error.h"
#include "plugins/models/rwkv/rwkv_tensors.h"

namespace draftlab {
namespace {

constexpr std::int64_t kMostColumns = 1 << 14;

// Hands tensors out by name, and knows in the end which ones nobody asked for.
class TensorReader {
 public:
  explicit TensorReader(RwkvTensors tensors) : read_(std::move(tensors)) {}

  const std::string& path() const { return read_.path; }
  bool has(const std::string& name) const { return read_.tensors.contains(name); }
  const RwkvTensor& look(const std::string& name) const {
    const auto found = read_.tensors.find(name);
    if (found == read_.tensors.end()) throw DataError("{}: has no tensor '{}'", path(), name);
    return found->second;
  }
  // Takes `count` numbers, whatever their shape.
  std::vector<float> vector(const std::string& name, std::int64_t count) {
    const RwkvTensor& tensor = look(name);
    if (static_cast<std::int64_t>(tensor.numbers.size()) != count)
      throw DataError("{}: tensor '{}' has {} numbers, and must have {}", path(), name,
                      tensor.numbers.size(), count);
    taken_.insert(name);
    parameters_ += count;
    return tensor.numbers;
  }
  // Takes a matrix of any number of outputs where `out` is 0.
  RwkvProduct matrix(const std::string& name, std::int64_t out, std::int64_t in) {
    const RwkvTensor& tensor = look(name);
    if (tensor.shape.size() != 2 || tensor.shape[1] != in || (out != 0 && tensor.shape[0] != out))
      throw DataError("{}: tensor '{}' is not a matrix of {} outputs and {} inputs", path(), name,
                      out != 0 ? std::to_string(out) : "some", in);
    const std::int64_t outputs = tensor.shape[0];
    return {vector(name, outputs * in), outputs, in};
  }
  RwkvNorm norm(const std::string& name, std::int64_t width) {
    return {vector(name + ".weight", width), vector(name + ".bias", width)};
  }
  // A published checkpoint of version 7 has a mix of the first layer's value in that layer itself,
  // which nothing reads.
  void finish() const {
    const std::set<std::string> unread = {"blocks.0.att.v0", "blocks.0.att.v1", "blocks.0.att.v2"};
    for (const auto& [name, tensor] : read_.tensors)
      if (!taken_.contains(name) && !unread.contains(name))
        throw DataError("{}: has a tensor '{}', which a model of this version has not", path(),
                        name);
  }
  std::int64_t parameters() const { return parameters_; }
  const std::string& digest() const { return read_.digest; }

 private:
  RwkvTensors read_;
  std::set<std::string> taken_;
  std::int64_t parameters_ = 0;
};

RwkvVersion version_of(const TensorReader& tensors) {
  if (tensors.has("blocks.0.att.r_k")) return RwkvVersion::v7;
  if (tensors.has("blocks.0.att.time_maa_x"))
    throw DataError("{}: is RWKV-6; only versions 5.2 and 7 are computed", tensors.path());
  if (tensors.has("blocks.0.att.gate.weight")) return RwkvVersion::v5_2;
  throw DataError(
      "{}: is no RWKV of version 5.2 or 7, which have blocks.0.att.gate.weight or "
      "blocks.0.att.r_k",
      tensors.path());
}

void read_v5_2(TensorReader& tensors, const std::string& block, const RwkvWeights& model,
               RwkvLayer& layer) {
  const std::int64_t width = model.width;
  const std::string att = block + "att.", ffn = block + "ffn.";
  layer.mix_k = tensors.vector(att + "time_mix_k", width);
  layer.mix_v = tensors.vector(att + "time_mix_v", width);
  layer.mix_r = tensors.vector(att + "time_mix_r", width);
  layer.mix_g = tensors.vector(att + "time_mix_g", width);
  layer.decay = tensors.vector(att + "time_decay", width);
  layer.bonus = tensors.vector(att + "time_faaaa", width);
  layer.gate = tensors.matrix(att + "gate.weight", width, width);
  layer.ffn_mix_k = tensors.vector(ffn + "time_mix_k", width);
  layer.ffn_mix_r = tensors.vector(ffn + "time_mix_r", width);
  layer.ffn_receptance = tensors.matrix(ffn + "receptance.weight", width, width);
}

void read_v7(TensorReader& tensors, const std::string& block, const RwkvWeights& model,
             RwkvLayer& layer) {
  const std::int64_t width = model.width;
  const std::string att = block + "att.";
  const auto pair = [&](const char* name, RwkvProduct& first, RwkvProduct& second) {
    first = tensors.matrix(att + name + "1", 0, width);
    second = tensors.matrix(att + name + "2", width, first.out());
  };
  layer.mixes = tensors.vector(att + "x_rwkvag", 6 * width);
  pair("w", layer.w1, layer.w2);
  pair("a", layer.a1, layer.a2);
  pair("g", layer.g1, layer.g2);
  layer.w0 = tensors.vector(att + "w0", width);
  layer.a0 = tensors.vector(att + "a0", width);
  if (!model.layers.empty()) {
    pair("v", layer.v1, layer.v2);
    layer.v0 = tensors.vector(att + "v0", width);
  }
  layer.k_k = tensors.vector(att + "k_k", width);
  layer.k_a = tensors.vector(att + "k_a", width);
  layer.r_k = tensors.vector(att + "r_k", width);
  layer.ffn_x_k = tensors.vector(block + "ffn.x_k", width);
}

RwkvLayer read_layer(TensorReader& tensors, const std::string& block, RwkvWeights& model) {
  const std::int64_t width = model.width;
  RwkvLayer layer;
  layer.ln1 = tensors.norm(block + "ln1", width);
  layer.ln2 = tensors.norm(block + "ln2", width);
  layer.ln_x = tensors.norm(block + "att.ln_x", width);
  layer.receptance = tensors.matrix(block + "att.receptance.weight", width, width);
  layer.key = tensors.matrix(block + "att.key.weight", width, width);
  layer.value = tensors.matrix(block + "att.value.weight", width, width);
  layer.output = tensors.matrix(block + "att.output.weight", width, width);
  layer.ffn_key = tensors.matrix(block + "ffn.key.weight", model.inner, width);
  model.inner = layer.ffn_key.out();
  layer.ffn_value = tensors.matrix(block + "ffn.value.weight", width, model.inner);
  (model.version == RwkvVersion::v7 ? read_v7 : read_v5_2)(tensors, block, model, layer);
  return layer;
}

}  // namespace

RwkvProduct::RwkvProduct(const std::vector<float>& weights, std::int64_t out, std::int64_t in)
    : out_(out), in_(in) {
  panels_.settle(Layout::f32, out, in);
  for (std::int64_t i = 0; i < out; ++i) panels_.set_output(0, i, weights.data() + i * in, in);
}

void RwkvProduct::apply(const float* x, std::int64_t rows, float* y) const {
  product(panels_.view(0, 0, out_, in_), {x, rows}, y);
}

RwkvWeights read_rwkv(const std::string& path) {
  TensorReader tensors(read_rwkv_tensors(path));
  RwkvWeights model;
  model.version = version_of(tensors);
  const RwkvTensor& embedding = tensors.look("emb.weight");
  if (embedding.shape.size() != 2 || embedding.numbers.empty() || embedding.shape[1] > kMostColumns)
    throw DataError("{}: 'emb.weight' is no matrix of 1 to {} columns", path, kMostColumns);
  model.vocabulary = embedding.shape[0];
  model.width = embedding.shape[1];
  const bool seven = model.version == RwkvVersion::v7;
  model.heads = tensors.look(seven ? "blocks.0.att.r_k" : "blocks.0.att.time_decay").shape[0];
  if (model.heads < 1 || model.width % model.heads != 0)
    throw DataError("{}: {} heads do not divide a width of {}", path, model.heads, model.width);
  model.embedding = tensors.vector("emb.weight", model.vocabulary * model.width);
  model.ln0 = tensors.norm("blocks.0.ln0", model.width);
  for (std::string block = "blocks.0."; tensors.has(block + "ln1.weight");
       block = "blocks." + std::to_string(model.layers.size()) + ".")
    model.layers.push_back(read_layer(tensors, block, model));
  model.ln_out = tensors.norm("ln_out", model.width);
  model.head = tensors.matrix("head.weight", model.vocabulary, model.width);
  tensors.finish();
  model.parameters = tensors.parameters();
  model.digest = tensors.digest();
  return model;
}

}  // namespace draftlab
