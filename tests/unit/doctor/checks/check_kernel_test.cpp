// SPDX-License-Identifier: MIT
#include "tests/unit/doctor/one_check.hpp"

using namespace ddlrun::doctor;
using namespace ddlrun::tests;

namespace {

std::string gib(double number) { return std::to_string(static_cast<std::uint64_t>(number * (1ull << 30))); }

FactTable swap(double total, double available, double swap_total, double swap_free) {
  return {{"mem.total_bytes", gib(total)},
          {"mem.available_bytes", gib(available)},
          {"mem.swap_bytes", gib(swap_total)},
          {"mem.swap_free_bytes", gib(swap_free)}};
}
FactTable limited_cores(const char* count, const char* threads, const char* quota = nullptr) {
  FactTable facts{{"cpu.usable_cores", count}, {"cpu.usable_threads", threads}};
  if (quota != nullptr) facts["cgroup.cpu.percent"] = quota;
  return facts;
}
FactTable remove_ipc(const char* uid, const char* gpus) {
  return {{"logind.remove_ipc", "yes"}, {"logind.runs", "yes"}, {"logind.lingers", "no"}, {"user.uid", uid},
          {"devices.nvidia", gpus},     {"user.name", "ddl"}};
}
Job sharing(Job job) {
  job.shares_cores = true;
  return job;
}
Job batch() {
  Job job;
  job.allocation_source = "PBS_NODEFILE";
  return job;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/checks/check_kernel");

TEST_CASE("kernel settings: verdicts at both sides of each threshold") {
  const Job no_job;
  check_rows({
      {"LIM-04",
       "pass",
       {{"kernel.file_max", "9223372036854775807"}, {"kernel.files_open", "2000"}},
       job_of(8)},
      {"LIM-04",
       "pass",
       {{"kernel.file_max", "10000"}, {"kernel.files_open", "4752"}},
       job_of(8)},  // 8*(128+16)+4096
      {"LIM-04", "warn", {{"kernel.file_max", "10000"}, {"kernel.files_open", "4753"}}, job_of(8)},
      {"LIM-04", "skip", {}, no_job},
      {"LIM-08", "pass", {{"logind.remove_ipc", "no"}}, batch()},
      {"LIM-08", "warn", remove_ipc("1000", "4"), batch()},
      {"LIM-08", "pass", remove_ipc("999", "4"), batch()},
      {"LIM-08", "pass", remove_ipc("1000", "0"), batch()},
      {"LIM-08", "pass", remove_ipc("1000", "4"), no_job},
      {"LIM-08", "skip", {}, no_job},
      {"LIM-09", "pass", limited_cores("8", "16"), job_of(4, 2)},
      {"LIM-09", "fail", limited_cores("7", "14"), job_of(4, 2)},
      {"LIM-09", "pass", limited_cores("2", "2"), no_job},
      {"LIM-09", "pass", limited_cores("8", "8", "800"), job_of(4, 2)},
      {"LIM-09", "warn", limited_cores("8", "8", "799"), job_of(4, 2)},
      {"LIM-09", "skip", {}, job_of(4, 2)},
      {"LIM-09", "pass", limited_cores("3", "3"), sharing(job_of(4))},
      {"LIM-09", "warn", limited_cores("3", "3", "299"), sharing(job_of(4))},
      {"LIM-09", "fail", limited_cores("4", "4"), sharing(job_of(4, 2))},  // no rank has to share a core
      {"LIM-10", "skip", {{"mem.huge_pages", "0"}, {"mem.huge_pages_free", "0"}}, no_job},
      {"LIM-10",
       "fail",
       {{"mem.huge_pages", "0"}, {"mem.huge_pages_free", "0"}},
       with(job_of(2), "HUGETLB_MORECORE", "yes")},
      {"LIM-10",
       "warn",
       {{"mem.huge_pages", "1"}, {"mem.huge_pages_free", "1"}},
       with(job_of(2), "HUGETLB_MORECORE", "yes")},
      {"LIM-10",
       "pass",
       {{"mem.huge_pages", "2"}, {"mem.huge_pages_free", "2"}},
       with(job_of(2), "HUGETLB_MORECORE", "yes")},
      {"LIM-11", "pass", {{"kernel.thp.enabled", "always"}, {"kernel.thp.defrag", "madvise"}}, no_job},
      {"LIM-11", "warn", {{"kernel.thp.enabled", "madvise"}, {"kernel.thp.defrag", "always"}}, no_job},
      {"LIM-11", "pass", {{"kernel.thp.enabled", "never"}, {"kernel.thp.defrag", "always"}}, no_job},
      {"LIM-11", "skip", {}, no_job},
      {"LIM-12", "pass", {}, no_job},
      {"LIM-12", "pass", {{"kernel.numa_balancing", "1"}, {"kernel.numa_nodes", "2"}}, no_job},
      {"LIM-12",
       "warn",
       {{"kernel.numa_balancing", "1"}, {"kernel.numa_nodes", "2"}, {"devices.nvidia", "4"}},
       no_job},
      {"LIM-12",
       "pass",
       {{"kernel.numa_balancing", "1"}, {"kernel.numa_nodes", "1"}, {"devices.nvidia", "4"}},
       no_job},
      {"LIM-12",
       "pass",
       {{"kernel.numa_balancing", "0"}, {"kernel.numa_nodes", "2"}, {"devices.nvidia", "4"}},
       no_job},
      {"LIM-13", "pass", {{"kernel.ptrace_scope", "1"}}, job_of(4)},
      {"LIM-13", "warn", {{"kernel.ptrace_scope", "2"}}, job_of(4)},
      {"LIM-13", "pass", {{"kernel.ptrace_scope", "2"}}, job_of(1)},
      {"LIM-13", "pass", {}, job_of(4)},
      {"LIM-14", "pass", swap(100, 90, 0, 0), no_job},
      {"LIM-14", "pass", swap(100, 90, 20, 10), no_job},
      {"LIM-14", "warn", swap(100, 90, 20, 9.9), no_job},
      {"LIM-14", "warn", swap(100, 10, 20, 9.9), no_job},
      {"LIM-14", "fail", swap(100, 9.9, 20, 9.9), no_job},
      {"LIM-14", "skip", {}, no_job},
      {"CPU-10", "pass", swap(64, 1, 0, 0), job_of(4)},
      {"CPU-10", "warn", swap(64, 0.99, 0, 0), job_of(4)},
      {"CPU-10", "warn", swap(64, 0.25, 0, 0), job_of(4)},
      {"CPU-10", "fail", swap(64, 0.24, 0, 0), job_of(4)},
      {"CPU-10", "pass", swap(64, 0.01, 0, 0), no_job},
      {"CPU-10", "skip", {}, no_job},
  });
}

TEST_CASE("a control group's bound counts as memory") {
  FactTable facts = swap(64, 60, 0, 0);
  facts["cgroup.memory.bytes"] = gib(1);
  facts["cgroup.memory.used"] = gib(0.5);
  CHECK(verdict_of("CPU-10", facts, job_of(4)) == "warn");
  facts["cgroup.memory.used"] = gib(2);  // over its bound: no room, not a huge one
  CHECK(verdict_of("CPU-10", facts, job_of(4)) == "fail");
}

TEST_CASE("remedies of settings name the setting and keep it") {
  const Finding finding = evaluate_one("LIM-13", {{"kernel.ptrace_scope", "3"}}, job_of(4));
  CHECK(finding.remedy.needs_root);
  CHECK(finding.remedy.commands ==
        std::vector<std::string>{
            "sysctl -w kernel.yama.ptrace_scope=1",
            "echo kernel.yama.ptrace_scope=1 > /etc/sysctl.d/90-ddlrun-kernel.yama.ptrace_scope.conf"});
  const Finding few = evaluate_one("LIM-09", limited_cores("7", "14"), job_of(4, 2));
  CHECK(few.observed == "7 cores usable (14 hardware threads)");
  CHECK(few.expected == "8 for 4 ranks of 2 cores");
  CHECK(few.remedy.note.find("plan 3 ranks here") != std::string::npos);
  // A request can help where the host has more cores than the job got.
  FactTable small = limited_cores("2", "2");
  small["cores.map"] = "0: 0;1;2;3";
  CHECK(evaluate_one("LIM-09", small, job_of(4)).remedy.note.find("--oversubscribe") == std::string::npos);
  CHECK(evaluate_one("LIM-09", small, job_of(5))
            .remedy.note.ends_with("; or --oversubscribe, to try it on shared cores"));
}

TEST_SUITE_END();
