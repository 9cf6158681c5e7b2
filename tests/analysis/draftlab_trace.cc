// Traces are read by others: h5py through our thin reader, and xarray with both of its engines.
// Skipped, in words, where the Python packages are not installed.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

// Exit status of a Python program; the interpreter of the system, which has the system's packages.
int python(const TraceFolder& folder, const std::string& program) {
  std::ofstream(folder / "program.py") << program;
  const std::string command = "PYTHONPATH='" DRAFTLAB_SOURCE_DIR
                              "/python' PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 '" +
                              folder / "program.py" + "'";
  return std::system(command.c_str());
}

bool skipped(const TraceFolder& folder, const std::string& modules) {
  const bool absent =
      python(folder,
             "import importlib.util, sys\nsys.exit(not all(map(importlib.util.find_spec, '" +
                 modules + "'.split())))\n") != 0;
  if (absent) MESSAGE("skipped: /usr/bin/python3 lacks one of ", modules);
  return absent;
}

}  // namespace

TEST_CASE("h5py reads a trace") {
  const TraceFolder folder("python");
  if (skipped(folder, "h5py numpy")) return;
  write_made(folder / "a.h5", 6);
  write_made(folder / "empty.h5", 0);
  const SampleRow sample = made_sample(1, 2, 0);
  const std::string program =
      "from draftlab.trace import Trace\n"
      "trace = Trace('" +
      folder / "a.h5" +
      "')\n"
      "assert len(trace) == 6 and [run['arm'] for run in trace.runs] == ['drafter=stepwise', "
      "'drafter=self']\n"
      "sample = trace.sample(5)\n"
      "assert sample['text'] == '" +
      sample.text +
      "' and len(sample['steps']) == 4\n"
      "assert [t['id'] for t in sample['steps'][1]['tokens']][0] == " +
      std::to_string(sample.steps[1].tokens[0].token) +
      "\n"
      "assert trace.meanings('step_stop')[1] == 'wrong_token'\n"
      "assert (trace.per_step('token_rank') == [n * (n - 1) // 2 for n in "
      "trace['step_n_tokens']]).all()\n"
      "assert abs(trace['token_p'][0] - " +
      std::to_string(made_sample(0, 0, 0).steps[0].tokens[0].p) +
      ") < 1e-6\n"
      "assert sum(len(s['steps']) for s in trace) == trace.rows['step'] == 24\n"
      "assert len(Trace('" +
      folder / "empty.h5" + "')) == 0\n";
  CHECK(python(folder, program) == 0);
}

TEST_CASE("pandas frames and an xarray dataset of a trace") {
  const TraceFolder folder("python");
  if (skipped(folder, "h5py pandas xarray")) return;
  write_made(folder / "a.h5", 6);
  const SampleRow sample = made_sample(1, 0, 0);
  const std::string program =
      "from draftlab.trace import Trace\n"
      "trace = Trace('" +
      folder / "a.h5" +
      "')\n"
      "steps = trace.frame('step', words=True)\n"
      "assert len(steps) == 24 and steps.index.name == 'step' and steps.stop.isin(['complete', "
      "'wrong_token']).all()\n"
      "samples = trace.samples()\n"
      "assert list(samples.drafter) == ['stepwise', 'self'] * 3 and samples.arm[1] == "
      "'drafter=self'\n"
      "assert samples.groupby('drafter').generated.sum()['self'] == "
      "trace['sample_generated'][1::2].sum()\n"
      "assert samples.text[1] == '" +
      sample.text +
      "' and samples.score_rouge_1.isna().sum() == 2\n"
      "data = trace.dataset()\n"
      "assert {'run': 2, 'sample': 6, 'step': 24, 'token': trace.rows['token'], 'draft': "
      "72}.items() <= dict(data.sizes).items()\n"
      "assert data.step_ns.attrs['units'] == 'ns' and data.token_p.dtype == 'float32' and "
      "data.attrs['magic'] == 'draftlab-trace'\n"
      "assert (data.step_committed.groupby(data.step_sample_index).sum() == "
      "data.sample_generated.values).all()\n";
  CHECK(python(folder, program) == 0);
}

TEST_CASE("xarray and netCDF4 read a trace") {
  const TraceFolder folder("python");
  if (skipped(folder, "xarray h5netcdf netCDF4")) return;
  write_made(folder / "a.h5", 6);
  write_made(folder / "empty.h5", 0);
  const std::string program =
      "import netCDF4, xarray\n"
      "for engine in 'h5netcdf', 'netcdf4':\n"
      "    data = xarray.open_dataset('" +
      folder / "a.h5" +
      "', engine=engine).load()\n"
      "    assert dict(data.sizes)['step'] == 24 and data.token_p.dims == ('token',) and "
      "data.token_p.dtype == 'float32'\n"
      "    assert set(data.sizes) == {'run', 'sample', 'step', 'token', 'draft', 'piece'}\n"
      "    assert data.run_arm.values[1] == 'drafter=self' and data.step_ns.attrs['units'] == "
      "'ns'\n"
      "    assert xarray.open_dataset('" +
      folder / "empty.h5" +
      "', engine=engine).load().sizes['token'] == 0\n"
      "data = netCDF4.Dataset('" +
      folder / "a.h5" +
      "')\n"
      "assert len(data.dimensions) == 6 and data['sample_prompt_id'][0] == 'prompt-0'\n";
  CHECK(python(folder, program) == 0);
}

}  // namespace draftlab
