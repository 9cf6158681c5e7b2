// A small any-subset model with random weights in a folder of its own, and how two computations of
// it are compared.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/model/model.h"
#include "plugins/models/xlnet/any_subset.h"
#include "plugins/models/xlnet/xlnet_torch.h"
#include "tests/core/model/ask.h"
#include "tests/plugins/models/rounding.h"

namespace draftlab::small_any_subset {

using testing::ask;

// How far the log probabilities of the checkpoint below, of up to 40, may be apart.
inline double most_apart(double positions) {
  return testing::rounding({.layers = 3, .width = 48, .inner = 50, .positions = positions}, 40);
}

// A checkpoint whose answers depend visibly on their context: weights ten times the usual spread.
struct Checkpoint {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("draftlab-any-subset-" + std::to_string(::getpid()));
  Checkpoint() {
    XlnetConfig config;
    config.vocab_size = 37;
    config.d_model = 48;
    config.n_layer = 3;
    config.n_head = 3;
    config.d_head = 12;
    config.d_inner = 50;
    const Xlnet net = Xlnet::random(config, 7);
    const at::NoGradGuard no_grad;
    for (auto& [name, tensor] : net.named_parameters())
      if (name.find("norm") == std::string::npos) tensor.mul_(10);
    net.save(path.string(), false);
  }
  ~Checkpoint() { std::filesystem::remove_all(path); }

  std::unique_ptr<Model> model(bool incremental, Precision dtype = Precision::f32,
                               Device device = Device::cpu) const {
    AnySubsetOptions options;
    options.checkpoint = path.string();
    options.incremental = incremental;
    std::unique_ptr<Model> model(draftlab_make_any_subset(&options));
    model->load({device, dtype, 1});
    return model;
  }
};

// The largest difference of log probabilities between two answers to a question.
inline double difference(const Question& question, const Answer& a, const Answer& b) {
  double largest = 0;
  for (const Ask& ask : question.asks) {
    for (const std::int32_t position : ask.positions) {
      const Distribution &p = a.at(ask.node, position), &q = b.at(ask.node, position);
      for (Token token = 0; token < p.size(); ++token) {
        if (token != 6)
          largest =
              std::max(largest, std::abs(p.log_probability(token) - q.log_probability(token)));
      }
    }
  }
  return largest;
}

inline Question draft(const Canvas& canvas, int count) {
  std::vector<std::int32_t> masked = canvas.masked_positions();
  masked.resize(std::min<std::size_t>(masked.size(), count));
  return {.kind = Kind::draft, .view = View::causal, .nodes = {}, .asks = {{kRoot, masked}}};
}

// Decodes canvases of every prompt length with both models, which are asked drafts and several
// paths at once, whatever is then accepted and rejected. `counted(sequence, reference)` is called
// when one is full. Returns the largest difference of their log probabilities.
template <class Counted>
double walked_difference(Model& model, Model& other, Counted counted) {
  constexpr int kLength = 14;
  std::mt19937 random(5);
  const auto below = [&](int bound) { return static_cast<int>(random() % bound); };
  const auto token = [&] {
    const int drawn = below(36);
    return drawn < 6 ? drawn : drawn + 1;
  };
  double largest = 0;
  for (int prompt = 1; prompt < kLength; ++prompt) {
    std::vector<std::int32_t> places(kLength);
    for (int i = 0; i < kLength; ++i) places[i] = i;
    std::shuffle(places.begin(), places.end(), random);
    std::vector<std::pair<std::int32_t, Token>> given;
    for (int i = 0; i < prompt; ++i) given.emplace_back(places[i], token());
    Canvas canvas(kLength, given);
    const auto sequence = model.open(canvas), reference = other.open(canvas);
    const auto compare = [&](const Question& question) {
      largest = std::max(largest, difference(question, ask(model, *sequence, question),
                                             ask(other, *reference, question)));
    };
    while (!canvas.masked_positions().empty()) {
      compare(draft(canvas, 4));
      // Several paths at once, in orders of their own; then some prefix of one of them is
      // committed, and a token of its own.
      std::vector<std::int32_t> masked = canvas.masked_positions();
      const int drafted = std::min<int>(4, static_cast<int>(masked.size())), paths = 1 + below(3);
      Question question{.kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {}};
      std::vector<std::vector<Node>> orders;
      for (int path = 0; path < paths; ++path) {
        std::vector<std::int32_t> order(masked.begin(), masked.begin() + drafted);
        if (path > 0) std::shuffle(order.begin(), order.end(), random);
        orders.emplace_back();
        for (int i = 0; i < drafted; ++i) {
          const int parent = i == 0 ? kRoot : static_cast<int>(question.nodes.size()) - 1;
          question.asks.push_back({parent, {order[i]}});
          orders.back().push_back({parent, order[i], token()});
          if (i + 1 < drafted)
            question.nodes.push_back(orders.back().back());
          else if (path > 0 || below(2) == 0)
            question.nodes.push_back(orders.back().back());  // A last draft that nobody attends.
        }
      }
      // One question may ask a position at the committed state only once.
      std::map<std::pair<int, std::int32_t>, bool> seen;
      std::erase_if(question.asks, [&](const Ask& one) {
        return !seen.emplace(std::pair(one.node, one.positions[0]), true).second;
      });
      compare(question);
      const auto& chosen = orders[below(paths)];
      const int accepted = below(drafted + 1);
      for (int i = 0; i < accepted; ++i) canvas.commit(chosen[i].position, chosen[i].token);
      if (accepted < drafted) canvas.commit(chosen[accepted].position, token());
    }
    counted(*sequence, *reference);
  }
  return largest;
}

}  // namespace draftlab::small_any_subset
