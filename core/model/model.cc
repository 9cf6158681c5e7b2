#include "core/model/model.h"

#include <chrono>

#include "core/base/error.h"

namespace draftlab {

namespace {

constexpr std::array kForwards = {Kind::prefill, Kind::draft, Kind::verify, Kind::commit};

}  // namespace

std::int64_t Counts::nfe() const {
  std::int64_t sum = 0;
  for (const Kind kind : kForwards) sum += (*this)[kind].calls;
  return sum;
}

std::int64_t Counts::ns() const {
  std::int64_t sum = 0;
  for (const Kind kind : kForwards) sum += (*this)[kind].ns;
  return sum;
}

void Sequence::restart() {
  throw Fault("a model declares that its memory does not go back, and cannot restart it either");
}

void Model::answer(std::span<Pending> batch) {
  if (batch.empty()) return;
  const Question& first = *batch.front().question;
  for (const Pending& pending : batch) {
    if (mixes() || pending.question->alike(first)) continue;
    throw Fault("one forward was given questions of two kinds, views or depths: {}/{} and {}/{}",
                name(first.kind), name(first.view), name(pending.question->kind),
                name(pending.question->view));
  }

  const auto begin = std::chrono::steady_clock::now();
  evaluate(batch);
  const auto ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin)
          .count();

  std::int64_t positions = 0;
  for (const Pending& pending : batch) {
    positions += pending.positions;
    pending.sequence->counts_.layers += pending.layers;
    pending.sequence->counts_.kept_bytes += pending.kept_bytes;
    pending.sequence->counts_.rerun += pending.rerun;
    Count& count = pending.sequence->counts_[pending.question->kind];
    ++count.calls;
    count.rows += pending.rows;
    count.positions += pending.positions;
    count.ns += ns / static_cast<std::int64_t>(batch.size());
  }
  if (watcher_) watcher_(positions, ns);
}

void Model::count_aux(Sequence& sequence) { ++sequence.counts_[Kind::aux].calls; }

}  // namespace draftlab
