// What `draftlab certify` says of one decoder, as a value that a copy of the process can hand over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/config/composition.h"

namespace draftlab {

// What a certificate says besides, whose law is sampled.
struct SampledFinding {
  // The largest Kolmogorov-Smirnov distance of an innovation from the normal law.
  double distance = 0;
  // The largest statistic of the law over its critical value; above 1 the law is another one.
  double share_of_critical = 0;
  double acceptance = 0, tokens_per_step = 0;
};

struct CertificateFinding {
  // The claim and the law that it is about, as a table shows them.
  std::string claim = {};
  // Whether all that the config claims holds.
  bool holds = false;
  double variation = 0, nfe = 0;
  // The worst case of evaluations; 0 where outcomes are sampled.
  std::int64_t worst = 0;
  std::optional<SampledFinding> sampled = {};
  // What is printed where no table is wanted.
  std::string text = {};
};

// Makes the certificate of a decoder that `name` names. Throws what certificate_of and
// certify_vectors throw.
CertificateFinding finding_of(const Composition& decoder, const std::string& name,
                              const Registries& registries);

// A finding as bytes, and back.
std::string to_bytes(const CertificateFinding& finding);
CertificateFinding finding_from(const std::string& bytes);

}  // namespace draftlab
