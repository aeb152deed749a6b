// SPDX-License-Identifier: MIT
#include "launch/run/rank_stdout.hpp"

#include "base/text/error.hpp"
#include "doctor/diagnose/log_analysis.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"
#include "doctor/site/site_signatures.hpp"
#include "launch/monitor/rank_files.hpp"

#include <string_view>
#include <utility>

namespace ddlrun::launch {

void complete_by_stdout(System& system, const LaunchRun& run, const RankReport& first,
                        const diagnose::RunStatus& end, const diagnose::JobContext& job,
                        diagnose::Diagnosis& found) {
  if (!run.spec.output.writes_files()) return;
  diagnose::LogAnalysis analysis(diagnose::read_known_signatures(system));
  analysis.set_host(first.rank, first.host);
  for (const RankStream stream : {RankStream::err, RankStream::out}) {
    const std::string path = rank_file(run.run_dir, first.rank, stream);
    if (!system.files.exists(path)) continue;
    analysis.begin_source(path.substr(run.run_dir.size() + 1));
    try {
      system.files.read_blocks(path, [&](std::string_view block) { analysis.take(block); });
    } catch (const Error&) {  // what stderr showed stands
      return;
    }
    analysis.end_source();
  }
  diagnose::Diagnosis both = analysis.diagnosis(end);
  if (diagnose::is_sure(both))
    found = diagnose::fit_to_job(std::move(both), job, *diagnose::builtin_signatures());
}

}  // namespace ddlrun::launch
