// SPDX-License-Identifier: MIT
// The files are those of Linux: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
#include "launch/rank/oom_kills.hpp"

#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::launch;

TEST_SUITE_BEGIN("launch/rank/oom_kills");

TEST_CASE("the file that counts OOM kills, by the cgroups of a process") {
  struct Row {
    const char* cgroups;
    const char* file;
  };
  const Row rows[] = {
      {"0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n",
       "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0/user/task_0/memory.events"},
      {"0::/\n", "/sys/fs/cgroup/memory.events"},
      {"9:name=systemd:/\n4:memory:/slurm/uid_0/job_7\n0::/\n",
       "/sys/fs/cgroup/memory/slurm/uid_0/job_7/memory.oom_control"},
      {"4:cpuset,memory:/pbs:7/x\n", "/sys/fs/cgroup/memory/pbs:7/x/memory.oom_control"},
      {"3:cpuset:/\n", ""},
      {"", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.cgroups);
    CHECK(find_oom_file(row.cgroups) == row.file);
  }
}

TEST_CASE("the count of OOM kills") {
  CHECK(parse_oom_kills("low 0\nhigh 0\nmax 12\noom 1\noom_kill 1\noom_group_kill 0\n") == 1);
  CHECK(parse_oom_kills("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n") == 3);
  CHECK_FALSE(parse_oom_kills("oom_kill_disable 0\nunder_oom 0\n"));  // before Linux 4.13
  CHECK_FALSE(parse_oom_kills("oom_kill x\n"));
}

TEST_CASE("a host that hides its cgroups has no count") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  CHECK_FALSE(read_oom_kills(system));
  fake.files.files["/proc/self/cgroup"] = "0::/job\n";
  CHECK_FALSE(read_oom_kills(system));
  fake.files.files["/sys/fs/cgroup/job/memory.events"] = "oom 2\noom_kill 2\n";
  const auto kills = read_oom_kills(system);
  REQUIRE(kills);
  CHECK(kills->count == 2);
  CHECK(kills->file == "/sys/fs/cgroup/job/memory.events");
}

TEST_CASE(
    "a kill counts beside an end by SIGKILL, where the count went up and the supervisor passed no signal "
    "on") {
  struct Row {
    int status, signal, forwarded;
    std::uint64_t before, now;
    bool counts;
  };
  for (const Row& row :
       {Row{137, 9, 0, 2, 3, true}, Row{137, 0, 0, 2, 3, true}, Row{137, 9, 0, 2, 2, false},
        Row{137, 9, 15, 2, 3, false}, Row{139, 11, 0, 2, 3, false}, Row{1, 0, 0, 2, 3, false}}) {
    CAPTURE(row.status);
    CAPTURE(row.signal);
    tests::FakeSystem fake;
    System system = fake.interfaces();
    fake.files.files["/proc/self/cgroup"] = "0::/job\n";
    fake.files.files["/sys/fs/cgroup/job/memory.events"] = "oom_kill " + std::to_string(row.now) + "\n";
    ProcessResult end;
    end.exit_status = row.status;
    end.signal = row.signal;
    end.forwarded_signal = row.forwarded;
    const auto file = find_oom_kill(system, OomKills{"", row.before}, end);
    CHECK(file ==
          (row.counts ? std::optional<std::string>("/sys/fs/cgroup/job/memory.events") : std::nullopt));
    CHECK_FALSE(find_oom_kill(system, std::nullopt, end));
  }
  CHECK(render_oom_kill(3, "h2", "").ends_with(" was used up\n"));
}

TEST_SUITE_END();
