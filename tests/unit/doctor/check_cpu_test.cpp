// SPDX-License-Identifier: MIT
#include "doctor/checks/kmp_affinity.hpp"
#include "tests/unit/doctor/one_check.hpp"

using namespace ddlrun::doctor;
using namespace ddlrun::tests;

namespace {

FactTable cores(const char* count, const char* threads) {
  return {{"cpu.usable_cores", count}, {"cpu.usable_threads", threads}};
}
FactTable governors(const char* list, const char* percent = "100") {
  return {{"cpu.governors", list}, {"cpu.capped_percent", percent}};
}
FactTable load(const char* hogs, const char* threads = "8") {
  return {{"load.one", "120"}, {"cpu.usable_threads", threads}, {"process.hogs", hogs}};
}
Job affinity(const std::string& value) { return with({}, "KMP_AFFINITY", value); }

}  // namespace

TEST_CASE("processors: verdicts at both sides of each threshold") {
  const Job no_job;
  check_rows({
      {"CPU-04", "pass", cores("68", "272"), with(job_of(1), "OMP_NUM_THREADS", "60")},
      {"CPU-04", "pass", cores("8", "8"), with(job_of(4), "OMP_NUM_THREADS", "2")},
      {"CPU-04", "fail", cores("8", "8"), with(job_of(4), "OMP_NUM_THREADS", "3")},
      {"CPU-04", "warn", cores("8", "16"), with(job_of(4), "OMP_NUM_THREADS", "4")},
      {"CPU-04", "fail", cores("8", "16"), with(job_of(4), "OMP_NUM_THREADS", "5")},
      {"CPU-04", "fail", cores("2", "2"), with(no_job, "OMP_NUM_THREADS", "60")},
      {"CPU-04", "pass", cores("8", "8"), job_of(4)},
      {"CPU-04", "pass", cores("8", "8"), with(job_of(4), "OMP_NUM_THREADS", "2,4")},
      {"CPU-04", "warn", cores("8", "8"), with(job_of(4), "OMP_NUM_THREADS", "two")},
      {"CPU-04", "warn", cores("8", "8"), with(job_of(4), "OMP_NUM_THREADS", "0")},
      {"CPU-04", "skip", {}, with(job_of(4), "OMP_NUM_THREADS", "2")},
      {"CPU-05", "pass", cores("8", "8"), no_job},
      {"CPU-05", "pass", cores("8", "16"), affinity("granularity=fine,compact,1,0")},
      {"CPU-05", "fail", cores("8", "16"),
       affinity("verbose,granularity=fine,compact=1")},  // a published script's
      {"CPU-05", "warn", cores("8", "16"), affinity("granularity=fine,compact")},
      {"CPU-05", "pass", cores("8", "8"), affinity("granularity=fine,compact")},
      {"CPU-05", "warn", cores("8", "8"), with(affinity("scatter"), "OMP_PLACES", "cores")},
      {"CPU-05", "warn", cores("8", "8"), with(affinity("scatter"), "GOMP_CPU_AFFINITY", "0-7")},
      {"CPU-05", "pass", cores("8", "8"),
       with(with(no_job, "OMP_PLACES", "cores"), "OMP_PROC_BIND", "close")},
      {"CPU-05", "warn", cores("8", "8"), with(no_job, "KMP_BLOCKTIME", "soon")},
      {"CPU-05", "pass", cores("8", "8"), with(no_job, "KMP_BLOCKTIME", "infinite")},
      {"CPU-07", "pass", governors("performance acpi-cpufreq"), no_job},
      {"CPU-07", "pass", governors("powersave intel_pstate"), no_job},
      {"CPU-07", "pass", governors("powersave amd-pstate-epp"), no_job},
      {"CPU-07", "pass", governors("schedutil intel_cpufreq"), no_job},
      {"CPU-07", "warn", governors("performance acpi-cpufreq\npowersave acpi-cpufreq"), no_job},
      {"CPU-07", "pass", governors("performance acpi-cpufreq", "95"), no_job},
      {"CPU-07", "warn", governors("performance acpi-cpufreq", "94"), no_job},
      {"CPU-07", "warn", governors("performance acpi-cpufreq", "70"), no_job},
      {"CPU-07", "fail", governors("performance acpi-cpufreq", "69"), no_job},
      {"CPU-07", "skip", {}, no_job},
      {"CPU-08", "pass", {{"cpu.clocksource", "tsc"}}, no_job},
      {"CPU-08", "pass", {{"cpu.clocksource", "kvm-clock"}}, no_job},
      {"CPU-08", "warn", {{"cpu.clocksource", "hpet"}, {"cpu.clocksources", "hpet\nacpi_pm"}}, no_job},
      {"CPU-08", "skip", {}, no_job},
      {"CPU-09", "pass", load(""), no_job},
      {"CPU-09", "warn", load("812 1000 400 python3"), no_job},
      {"CPU-09", "fail", load("812 1000 401 python3"), no_job},
      {"CPU-09", "fail", load("812 1000 300 python3\n813 1000 101 python3"), no_job},
      {"CPU-09", "skip", {}, no_job},
      {"CPU-11", "pass", {{"process.zombies", "99"}, {"process.stuck", ""}}, no_job},
      {"CPU-11", "warn", {{"process.zombies", "100"}, {"process.stuck", ""}}, no_job},
      {"CPU-11", "warn", {{"process.zombies", "0"}, {"process.stuck", "77 cp"}}, no_job},
      {"CPU-11", "skip", {}, no_job},
  });
}

TEST_CASE("CPU-04 says how many threads fit") {
  const Finding finding = judge_one("CPU-04", cores("8", "8"), with(job_of(3), "OMP_NUM_THREADS", "8"));
  CHECK(finding.observed == "3 ranks x OMP_NUM_THREADS=8 = 24 threads on 8 usable cores");
  CHECK(finding.remedy.commands == std::vector<std::string>{"export OMP_NUM_THREADS=2"});
  CHECK(finding.remedy.on_head);
  // Carried out, it passes.
  CHECK(verdict_of("CPU-04", cores("8", "8"), with(job_of(3), "OMP_NUM_THREADS", "2")) == "pass");
}

// What LLVM's OpenMP runtime 14 itself said about each (KMP_WARNINGS=1 on a 2-core machine): nothing, or a
// warning that it ignores a part. Warnings about levels that the machine lacks do not count.
TEST_CASE("KMP_AFFINITY is well formed where the runtime says nothing") {
  struct Row {
    const char* text;
    bool well_formed;
  };
  for (const Row& row : {Row{"granularity=fine,compact,1,0", true},
                         Row{"verbose,granularity=fine,compact=1", false},
                         Row{"compact=1", false},
                         Row{"compact,1,0,3", false},
                         Row{"compct", false},
                         Row{"granularity=fine", true},
                         Row{"scatter", true},
                         Row{"balanced", true},
                         Row{"explicit", false},
                         Row{"granularity=fine,proclist=[0,1],explicit", true},
                         Row{"proclist=[0-1],explicit", true},
                         Row{"compact,scatter", false},
                         Row{"granularity=bogus,compact", false},
                         Row{"1,compact", true},
                         Row{"none", true},
                         Row{"disabled", true},
                         Row{"logical", true},
                         Row{"physical", true},
                         Row{"respect,compact", true},
                         Row{"Compact,1", true},
                         Row{" compact , 1 , 0", true},
                         Row{"compact,,1", false},
                         Row{"compact,1,a", false},
                         Row{"tile,compact", false},
                         Row{"granularity=tile,compact", true},
                         Row{"granularity=tid,compact", false},
                         Row{"granularity=numa_domain,compact", true},
                         Row{"granularity=thread,compact", true},
                         Row{"granularity=ll_cache,compact", true},
                         Row{"gran=fine,compact", true},
                         Row{"verbose", true},
                         Row{"compact 1", false},
                         Row{"compact:1", false},
                         Row{"granularity:fine,compact", false},
                         Row{"proclist={0,1},explicit", false},
                         Row{"proclist=0,explicit", false},
                         Row{"initial,compact", false},
                         Row{"none,1", false},
                         Row{"noduplicates,compact", true},
                         Row{"compact,-1,0", false}}) {
    CAPTURE(row.text);
    const KmpAffinity parsed = parse_kmp_affinity(row.text);
    CAPTURE(parsed.problem);
    CHECK(parsed.problem.empty() == row.well_formed);
  }
  const KmpAffinity parsed = parse_kmp_affinity("granularity=fine,compact,1,0");
  CHECK(parsed.type == "compact");
  CHECK(parsed.granularity == "fine");
  CHECK(parsed.permute == 1u);
  CHECK(parsed.offset == 0u);
  CHECK(judge_one("CPU-05", cores("68", "272"), affinity("compact=1")).observed.find("=1") !=
        std::string::npos);
}
