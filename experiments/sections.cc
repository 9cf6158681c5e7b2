#include "experiments/sections.h"

#include "analysis/report/report_options.h"
#include "core/config/plugin.h"
#include "experiments/certify/certify_options.h"
#include "experiments/certify/reference_options.h"
#include "experiments/distill/distill_options.h"
#include "experiments/sweep/slurm_options.h"

namespace draftlab {

void register_sections(Registries& registries) {
  registries.sections.add<CertifyOptions>("certify");
  registries.sections.add<ReferenceOptions>("reference");
  registries.sections.add<DistillOptions>("distill");
  registries.sections.add<ReportOptions>("report");
  // Where cells are computed does not belong into a trace.
  registries.sections.add<SlurmOptions>("slurm", Recorded::no);
}

}  // namespace draftlab
