// SPDX-License-Identifier: MIT
#include "doctor/checks/threads_remedy.hpp"
#include "tests/unit/doctor/one_check.hpp"

using namespace ddlrun::doctor;
using namespace ddlrun::tests;

namespace {

FactTable usable_cores(const char* count, const char* threads) {
  return {{"cpu.usable_cores", count}, {"cpu.usable_threads", threads}};
}
FactTable governors(const char* list, const char* percent = "100") {
  return {{"cpu.governors", list}, {"cpu.capped_percent", percent}};
}
// A host of 64 threads, of which 8 may be used.
FactTable load_alone(const char* hundredths) {
  return {
      {"load.one", hundredths}, {"cpu.usable_threads", "8"}, {"cpu.online", "0-63"}, {"process.hogs", ""}};
}
FactTable load(const char* hogs, const char* threads = "8") {
  return {{"load.one", "120"}, {"cpu.usable_threads", threads}, {"process.hogs", hogs}};
}
Job affinity(const std::string& value) { return with({}, "KMP_AFFINITY", value); }

}  // namespace

TEST_SUITE_BEGIN("doctor/checks/check_cpu");

TEST_CASE("processors: verdicts at both sides of each threshold") {
  const Job no_job;
  check_rows({
      {"CPU-04", "pass", usable_cores("68", "272"), with(job_of(1), "OMP_NUM_THREADS", "60")},
      {"CPU-04", "pass", usable_cores("8", "8"), with(job_of(4), "OMP_NUM_THREADS", "2")},
      {"CPU-04", "fail", usable_cores("8", "8"), with(job_of(4), "OMP_NUM_THREADS", "3")},
      {"CPU-04", "warn", usable_cores("8", "16"), with(job_of(4), "OMP_NUM_THREADS", "4")},
      {"CPU-04", "fail", usable_cores("8", "16"), with(job_of(4), "OMP_NUM_THREADS", "5")},
      {"CPU-04", "fail", usable_cores("2", "2"), with(no_job, "OMP_NUM_THREADS", "60")},
      {"CPU-04", "pass", usable_cores("8", "8"), job_of(4)},
      {"CPU-04", "pass", usable_cores("8", "8"), with(job_of(4), "OMP_NUM_THREADS", "2,4")},
      {"CPU-04", "warn", usable_cores("8", "8"), with(job_of(4), "OMP_NUM_THREADS", "two")},
      {"CPU-04", "warn", usable_cores("8", "8"), with(job_of(4), "OMP_NUM_THREADS", "0")},
      {"CPU-04", "skip", {}, with(job_of(4), "OMP_NUM_THREADS", "2")},
      {"CPU-05", "pass", usable_cores("8", "8"), no_job},
      {"CPU-05", "pass", usable_cores("8", "16"), affinity("granularity=fine,compact,1,0")},
      {"CPU-05", "fail", usable_cores("8", "16"),
       affinity("verbose,granularity=fine,compact=1")},  // a published script's
      {"CPU-05", "warn", usable_cores("8", "16"), affinity("granularity=fine,compact")},
      {"CPU-05", "pass", usable_cores("8", "8"), affinity("granularity=fine,compact")},
      {"CPU-05", "warn", usable_cores("8", "8"), with(affinity("scatter"), "OMP_PLACES", "cores")},
      {"CPU-05", "warn", usable_cores("8", "8"), with(affinity("scatter"), "GOMP_CPU_AFFINITY", "0-7")},
      {"CPU-05", "pass", usable_cores("8", "8"),
       with(with(no_job, "OMP_PLACES", "cores"), "OMP_PROC_BIND", "close")},
      {"CPU-05", "warn", usable_cores("8", "8"), with(no_job, "KMP_BLOCKTIME", "soon")},
      {"CPU-05", "pass", usable_cores("8", "16"),
       with(with(with(no_job, "OMP_NUM_THREADS", "8"), "OMP_PLACES", "cores"), "OMP_PROC_BIND", "close")},
      {"CPU-05", "warn", usable_cores("8", "16"),
       with(with(with(no_job, "OMP_NUM_THREADS", "8"), "OMP_PLACES", "threads"), "OMP_PROC_BIND", "close")},
      {"CPU-05", "warn", usable_cores("8", "16"),
       with(with(no_job, "OMP_NUM_THREADS", "8"), "OMP_PROC_BIND", "true")},
      {"CPU-05", "pass", usable_cores("8", "8"),
       with(with(no_job, "OMP_NUM_THREADS", "8"), "OMP_PROC_BIND", "true")},
      {"CPU-05", "warn", usable_cores("8", "8"),
       with(with(no_job, "OMP_NUM_THREADS", "8"), "MKL_NUM_THREADS", "1")},
      {"CPU-05", "pass", usable_cores("8", "8"), with(no_job, "KMP_BLOCKTIME", "infinite")},
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
      {"CPU-09", "pass", load_alone("12800"), no_job},  // the other 56 threads are others'
      {"CPU-09", "warn", load_alone("12801"), no_job},
      {"CPU-09", "pass", load("", "1"), no_job},  // 1.20 on 1 thread
      {"CPU-09", "skip", {}, no_job},
      {"CPU-11", "pass", {{"process.zombies", "99"}, {"process.stuck", ""}}, no_job},
      {"CPU-11", "warn", {{"process.zombies", "100"}, {"process.stuck", ""}}, no_job},
      {"CPU-11", "warn", {{"process.zombies", "0"}, {"process.stuck", "77 cp"}}, no_job},
      {"CPU-11", "skip", {}, no_job},
  });
}

TEST_CASE("CPU-09: a load whose processes are not visible") {
  FactTable busy = {
      {"load.one", "3500"}, {"cpu.usable_threads", "2"}, {"process.hogs", ""}, {"load.running", "3"}};
  CHECK(evaluate_one("CPU-09", busy, {})
            .observed.starts_with("load 35.00 on 2 hardware threads; processes not visible"));
  CHECK(evaluate_one("CPU-09", busy, {}).remedy.note.find("request whole hosts") != std::string::npos);
  Job alone;
  alone.has_whole_hosts = true;
  CHECK(evaluate_one("CPU-09", busy, alone).remedy.note.find("request whole hosts") == std::string::npos);
  busy["load.running"] = "2";  // the average is that of a job before
  CHECK(verdict_of("CPU-09", busy, {}) == "pass");
}

TEST_CASE("CPU-04: ranks that share cores have one thread each") {
  Job sharing = with(job_of(4), "OMP_NUM_THREADS", "1");
  FactTable two = usable_cores("2", "2");
  two["cores.map"] = "0: 0;1";
  CHECK(evaluate_one("CPU-04", two, sharing).remedy.note ==
        "and at most 2 ranks here; or --oversubscribe, to try it on shared cores");
  sharing.shares_cores = true;
  CHECK(verdict_of("CPU-04", two, sharing) == "pass");
  sharing.environment["OMP_NUM_THREADS"] = "2";
  CHECK(verdict_of("CPU-04", two, sharing) == "fail");
  CHECK(evaluate_one("CPU-04", two, sharing).expected == "at most 4 threads");
  CHECK(verdict_of("CPU-04", usable_cores("8", "8"), sharing) == "pass");
}

TEST_CASE("CPU-04 reports how many threads fit") {
  const Finding finding =
      evaluate_one("CPU-04", usable_cores("8", "8"), with(job_of(3), "OMP_NUM_THREADS", "8"));
  CHECK(finding.observed == "3 ranks x OMP_NUM_THREADS=8 = 24 threads on 8 usable cores");
  CHECK(finding.remedy.commands == std::vector<std::string>{"export OMP_NUM_THREADS=2"});
  CHECK(finding.remedy.on_driver_host);
  // Carried out, it passes.
  CHECK(verdict_of("CPU-04", usable_cores("8", "8"), with(job_of(3), "OMP_NUM_THREADS", "2")) == "pass");
}

TEST_CASE("what stands behind KMP_AFFINITY's type is named") {
  CHECK(evaluate_one("CPU-05", usable_cores("68", "272"), affinity("compact=1")).observed.find("=1") !=
        std::string::npos);
}

TEST_CASE("the remedy for too many threads is what the user can still type") {
  CHECK(threads_remedy({}, 2).commands == std::vector<std::string>{"export OMP_NUM_THREADS=2"});
  Job job;
  job.of_submit = true;
  const Remedy remedy = threads_remedy(job, 2);
  CHECK(remedy.commands == std::vector<std::string>{"ddlrun submit --threads 2 ..."});
  CHECK(remedy.note == "or threads: 2 in ddlrun.yaml");
}

TEST_SUITE_END();
