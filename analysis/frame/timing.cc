#include "analysis/frame/timing.h"

#include <algorithm>

namespace draftlab {

std::string times_refused(const Frame& frame, const std::set<int>& files) {
  if (files.empty()) return "";
  const Provenance& first = frame.files()[*files.begin()].provenance;
  for (const int f : files) {
    const Frame::File& file = frame.files()[f];
    const auto batch = file.config.find("run.batch");
    if (batch != file.config.end() && batch->second != "1")
      return "'" + file.path + "' was decoded at batch " + batch->second;
    if (file.gathered)
      return "'" + file.path +
             "' was gathered from the jobs of a sweep, which may have run side by side or "
             "elsewhere; time arms in one run";
    const Provenance& made = file.provenance;
    if (made.host != first.host || made.cpu != first.cpu)
      return "they come from several machines (" + first.host + ", " + made.host + ")";
    if (made.device != first.device || made.dtype != first.dtype || made.threads != first.threads)
      return "they were measured with different devices, precisions or threads";
    if (std::max(made.workers, 1) != std::max(first.workers, 1))
      return "some were decoded alone and others side by side";
    for (std::size_t o = 0; o < frame.files().size(); ++o) {
      const Provenance& other = frame.files()[o].provenance;
      if (static_cast<int>(o) == f || other.host != made.host) continue;
      if (other.started.empty() || made.started.empty()) continue;
      if (other.started < made.ended && made.started < other.ended) {
        return "'" + file.path + "' and '" + frame.files()[o].path + "' ran at the same time on " +
               made.host;
      }
    }
  }
  return "";
}

std::string times_refused(const Frame& frame) {
  std::set<int> files;
  for (const Frame::Sample& sample : frame.samples())
    if (sample.counts) files.insert(sample.file);
  return times_refused(frame, files);
}

std::string side_by_side_note(const Frame& frame) {
  int workers = 1;
  for (const Frame::File& file : frame.files())
    workers = std::max(workers, static_cast<int>(file.provenance.workers));
  if (workers == 1) return "";
  return "Seconds are those of " + std::to_string(workers) +
         " samples side by side, each on one thread; run --timed decodes each alone.";
}

std::string times_note(const std::string& reason) {
  return "Seconds are not compared: " + reason + ". Compare function evaluations.";
}

}  // namespace draftlab
