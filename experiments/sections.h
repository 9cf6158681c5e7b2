// The sections of a config that commands own: [certify], [reference], [distill], [report] and
// [slurm].
#pragma once

namespace draftlab {

struct Registries;

void register_sections(Registries& registries);

}  // namespace draftlab
