// SPDX-License-Identifier: MIT
// The gatherers of the system subject on hosts made of tables.
#include "doctor/gather/process_stat.hpp"
#include "doctor/gather/system.hpp"
#include "tests/support/fake_host.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::doctor;
using ddlrun::tests::FakeHost;

namespace {

// One line of /proc/PID/stat as the kernel writes it.
std::string stat_line(int pid, const std::string& command, char state, int parent, int user_ticks = 0,
                      int started = 100) {
  return std::to_string(pid) + " (" + command + ") " + state + " " + std::to_string(parent) +
         " 1 1 0 -1 4194560 1 2 3 4 " + std::to_string(user_ticks) + " 0 0 0 20 0 1 0 " +
         std::to_string(started) + " 1000 200 18446744073709551615 0 0 0\n";
}

void add_process(FakeHost& host, int pid, const std::string& command, char state, int parent,
                 int user_ticks = 0, int started = 100, unsigned uid = 0) {
  const std::string dir = "/proc/" + std::to_string(pid);
  host.put(dir + "/stat", stat_line(pid, command, state, parent, user_ticks, started));
  host.kernel.infos[dir].uid = uid;
}

// sh, started over ssh: sshd (1) -> sshd for this login (40) -> sshd of the user (41) -> sh (42) -> ours (43)
FakeHost over_ssh() {
  FakeHost host;
  host.kernel.pid = 43;
  add_process(host, 1, "init", 'S', 0);
  add_process(host, 30, "sshd", 'S', 1);
  add_process(host, 40, "sshd", 'S', 30);
  add_process(host, 41, "sshd", 'S', 40);
  add_process(host, 42, "a) b (sh", 'S', 41);
  add_process(host, 43, "ddlrun", 'R', 42);
  return host;
}

Facts gather_system(FakeHost& host, std::string_view name) { return host.gather(system_gatherers(), name); }

}  // namespace

TEST_SUITE_BEGIN("doctor/gather/gather_system");

TEST_CASE("a line of /proc/PID/stat") {
  const auto stat = parse_process_stat(stat_line(77, "a) b (c", 'D', 5, 1234, 99));
  REQUIRE(stat);
  CHECK(stat->pid == 77);
  CHECK(stat->command == "a) b (c");
  CHECK(stat->state == 'D');
  CHECK(stat->parent == 5);
  CHECK(stat->busy_ticks == 1234);
  CHECK(stat->started_ticks == 99);
  for (const char* bad :
       {"", "77", "77 (x", "77 (x) S", "x (y) S 1 1 1 0 -1 4 1 2 3 4 5 0 0 0 20 0 1 0 9", ") 77 ("}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_process_stat(bad));
  }
}

TEST_CASE("limits: ours, and those of the daemon that started us") {
  FakeHost host = over_ssh();
  host.kernel.limits["memlock"] = {65536, 8388608};
  host.kernel.limits["nofile"] = {1024, Limit::unlimited};
  host.put("/proc/30/limits",
           "Limit                     Soft Limit           Hard Limit           Units     \n"
           "Max cpu time              unlimited            unlimited            seconds   \n"
           "Max open files            1024                 524288               files     \n"
           "Max locked memory         65536                8388608              bytes     \n");
  host.put("/proc/30/cgroup", "0::/system.slice/ssh.service\n");
  host.put("/run/sshd.pid", "30\n");
  host.system.environment.variables = {{"PATH", "/usr/bin:/bin"}};
  host.kernel.disks["/dev/shm"] = {1u << 30, 1u << 29, 0, 0, 0x01021994, false};
  host.kernel.add("/sys/class/infiniband/mlx5_0");
  host.kernel.add("/dev/nvidia0");
  host.kernel.add("/dev/nvidia17");
  host.kernel.add("/dev/nvidiactl");
  const Facts facts = gather_system(host, "limits");
  CHECK(facts.is("limit.memlock.soft", "65536"));
  CHECK(facts.is("limit.memlock.hard", "8388608"));
  CHECK(facts.is("limit.nofile.hard", "unlimited"));
  CHECK(facts.why_missing("limit.core.soft") == "getrlimit failed");
  CHECK(facts.is("limit.daemon", "sshd"));
  CHECK(facts.number("limit.daemon.pid") == 30);
  CHECK(facts.is("limit.daemon.memlock.soft", "65536"));
  CHECK(facts.is("limit.daemon.nofile.hard", "524288"));
  CHECK(facts.is("limit.daemon.unit", "ssh.service"));
  CHECK(facts.is("limit.daemon.pid_file", "/run/sshd.pid"));
  CHECK(facts.number("shm.free_bytes") == 1u << 29);
  CHECK(facts.number("devices.rdma") == 1);
  CHECK(facts.number("devices.nvidia") == 2);
  CHECK(facts.is("start.path", "/usr/bin:/bin"));
  CHECK(facts.is("start.tmpdir", ""));
  CHECK(facts.text("limit.container") == std::nullopt);
  host.put("/run/sshd.pid", "31\n");  // another sshd's
  host.put("/.dockerenv", "");
  const Facts again = gather_system(host, "limits");
  CHECK(again.text("limit.daemon.pid_file") == std::nullopt);
  CHECK(again.is("limit.container", "yes"));
}

TEST_CASE("control groups of both versions, the narrowest bound on the way up") {
  FakeHost host;
  SUBCASE("version 2") {
    host.put("/proc/self/cgroup", "0::/job.slice/step\n");
    host.put("/sys/fs/cgroup/job.slice/step/cpu.max", "max 100000\n");
    host.put("/sys/fs/cgroup/job.slice/cpu.max", "250000 100000\n");
    host.put("/sys/fs/cgroup/job.slice/memory.max", "1073741824\n");
    host.put("/sys/fs/cgroup/job.slice/memory.current", "4096\n");
    host.put("/sys/fs/cgroup/job.slice/step/memory.max", "max\n");
    host.put("/sys/fs/cgroup/job.slice/step/pids.max", "500\n");
    host.put("/sys/fs/cgroup/job.slice/step/pids.current", "20\n");
    host.put("/sys/fs/cgroup/job.slice/pids.max", "600\n");
    host.put("/sys/fs/cgroup/job.slice/pids.current", "400\n");
    host.put("/sys/fs/cgroup/job.slice/cpuset.cpus.effective", "0-3\n");
    const Facts facts = gather_system(host, "cgroup");
    CHECK(facts.number("cgroup.cpu.percent") == 250);
    CHECK(facts.number("cgroup.memory.bytes") == 1u << 30);
    CHECK(facts.number("cgroup.memory.used") == 4096);
    CHECK(facts.number("cgroup.pids.max") == 600);  // less room: 200
    CHECK(facts.number("cgroup.pids.used") == 400);
    CHECK(facts.is("cgroup.cpuset", "0-3"));
  }
  SUBCASE("version 1") {
    host.put("/proc/self/cgroup", "8:pids:/a\n4:memory:/a\n3:cpuset:/a\n1:cpu,cpuacct:/a\n0::/a\n");
    host.put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
    host.put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    host.put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
    host.put("/sys/fs/cgroup/pids/a/pids.max", "100\n");
    host.put("/sys/fs/cgroup/cpuset/a/cpuset.effective_cpus", "0,2\n");
    const Facts facts = gather_system(host, "cgroup");
    CHECK(facts.number("cgroup.cpu.percent") == std::nullopt);
    CHECK(facts.number("cgroup.memory.bytes") == std::nullopt);
    CHECK(facts.number("cgroup.pids.max") == 100);
    CHECK(facts.is("cgroup.cpuset", "0,2"));
  }
  SUBCASE("none") { CHECK(gather_system(host, "cgroup").all().empty()); }
}

TEST_CASE("kernel settings and memory") {
  FakeHost host;
  host.put("/proc/meminfo",
           "MemTotal:       24684084 kB\nMemAvailable:   23000000 kB\nSwapTotal:       1024 kB\n"
           "SwapFree:        1000 kB\nHugePages_Total:      12\nHugePages_Free:        3\n");
  host.put("/proc/sys/fs/file-max", "2466170\n");
  host.put("/proc/sys/fs/file-nr", "1952\t0\t2466170\n");
  host.put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  host.put("/sys/devices/system/node/online", "0-1,3\n");
  host.put("/etc/systemd/logind.conf", "[Login]\n#RemoveIPC=no\n");
  host.kernel.who.user = "ddl";
  Facts facts = gather_system(host, "kernel");
  CHECK(facts.number("mem.total_bytes") == 24684084ull * 1024);
  CHECK(facts.number("mem.swap_free_bytes") == 1024000);
  CHECK(facts.number("mem.huge_pages_free") == 3);
  CHECK(facts.number("kernel.files_open") == 1952);
  CHECK(facts.is("kernel.thp.enabled", "madvise"));
  CHECK(facts.why_missing("kernel.thp.defrag") == "the kernel does not offer it");
  CHECK(facts.number("kernel.numa_nodes") == 3);
  CHECK(facts.is("logind.remove_ipc", "yes"));  // the line is a comment
  CHECK(facts.is("logind.runs", "no"));
  CHECK(facts.is("logind.lingers", "no"));
  host.put("/etc/systemd/logind.conf.d/ipc.conf", "[Login]\nRemoveIPC=no\n");
  host.kernel.add_directory("/run/systemd/seats");
  host.put("/var/lib/systemd/linger/ddl", "");
  facts = gather_system(host, "kernel");
  CHECK(facts.is("logind.remove_ipc", "no"));
  CHECK(facts.is("logind.runs", "yes"));
  CHECK(facts.is("logind.lingers", "yes"));
}

TEST_CASE("processors: threads, cores, frequencies, load") {
  FakeHost host;
  host.kernel.cpus = {0, 1, 4, 5};
  for (const int cpu : {0, 1, 4, 5}) {
    host.put("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
             cpu % 4 == 0 ? "0,4\n" : "1,5\n");
  }
  const std::string policy = "/sys/devices/system/cpu/cpufreq/policy0/";
  host.put(policy + "scaling_governor", "powersave\n");
  host.put(policy + "scaling_driver", "intel_pstate\n");
  host.put(policy + "scaling_max_freq", "1800000\n");
  host.put(policy + "cpuinfo_max_freq", "3600000\n");
  host.put("/proc/loadavg", "12.34 5.60 0.07 1/234 5678\n");
  Facts facts = gather_system(host, "cpu");
  CHECK(facts.is("cpu.usable", "0-1,4-5"));
  CHECK(facts.number("cpu.usable_threads") == 4);
  CHECK(facts.number("cpu.usable_cores") == 2);
  CHECK(facts.is("cpu.governors", "powersave intel_pstate"));
  CHECK(facts.number("cpu.capped_percent") == 50);
  CHECK(facts.number("load.one") == 1234);
  CHECK(facts.number("load.five") == 560);
  CHECK(facts.number("load.running") == 1);
  host.put("/proc/loadavg", "much\n");
  host.remove("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list");
  facts = gather_system(host, "cpu");
  CHECK(facts.number("load.one") == std::nullopt);
  CHECK(facts.number("cpu.usable_cores") == 3);
}

TEST_CASE("who else computes: long runners only, not we, not the kernel") {
  FakeHost host = over_ssh();
  host.kernel.cpus = {0, 1, 2, 3};
  host.put("/proc/uptime", "1000.50 3000.00\n");
  host.put("/proc/loadavg", "2.00 1.00 1.00 1/234 5678\n");
  add_process(host, 200, "train", 'R', 1, 45000, 10000, 2000);  // 450 s in 900 s
  add_process(host, 201, "idle", 'S', 1, 44000, 10000, 2000);   // a little less than half
  add_process(host, 202, "fresh", 'R', 1, 5900, 94001);         // 59.99 s old
  add_process(host, 203, "kworker", 'R', 2, 90000, 0);
  add_process(host, 204, "two", 'R', 1, 180000, 10000, 2001);           // two threads
  host.put("/proc/42/stat", stat_line(42, "sh", 'S', 41, 99000, 100));  // our parent
  CHECK(gather_system(host, "processes").is("process.hogs", "204 2001 200 two\n200 2000 50 train"));
  host.put("/proc/loadavg", "0.99 1.00 1.00 1/234 5678\n");
  CHECK(gather_system(host, "processes").is("process.hogs", ""));  // quick, and the host is idle
  host.request.level = Level::full;
  CHECK(gather_system(host, "processes").list("process.hogs").size() == 2);
  host.remove("/proc/uptime");
  CHECK(gather_system(host, "processes").text("process.hogs") == std::nullopt);
}

TEST_CASE("what hangs: in state D at both ends, without having run") {
  FakeHost host;
  add_process(host, 50, "cp", 'D', 1);
  add_process(host, 51, "dd", 'D', 1);
  add_process(host, 52, "flush", 'D', 2);  // the kernel's own
  add_process(host, 53, "gone", 'Z', 1);
  host.put("/proc/50/status", "Name:\tcp\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t1\n");
  host.put("/proc/51/status", "Name:\tdd\nvoluntary_ctxt_switches:\t8\n");
  host.put("/proc/52/status", "Name:\tflush\nvoluntary_ctxt_switches:\t8\n");
  host.system.processes.answer = [&](const Command&) {  // while we sleep, dd goes on
    host.put("/proc/51/status", "Name:\tdd\nvoluntary_ctxt_switches:\t9\n");
    return ProcessResult{};
  };
  const Facts facts = gather_system(host, "stuck");
  CHECK(facts.number("process.zombies") == 1);
  CHECK(facts.is("process.stuck", "50 cp"));
}

TEST_CASE("disks: the directory, or the nearest above it, and its mount") {
  FakeHost host;
  host.request.workdir = "/home/ddl/my run/today";
  host.request.temporary_dir = "/tmp";
  host.kernel.add_directory("/");
  host.kernel.add_directory("/tmp");
  host.kernel.add_directory("/home/ddl/my run");
  host.kernel.denied.insert({"/home/ddl/my run", Access::write});
  host.kernel.disks["/home/ddl/my run"] = {100, 50, 10, 5, 0x6969, true};
  host.put("/proc/self/mounts",
           "/dev/vda / ext4 rw 0 0\nnas:/home /home nfs4 rw 0 0\nnas:/r /home/ddl/my\\040run nfs4 ro 0 0\n"
           "x /home/ddl/my\\040runs nfs4 ro 0 0\n");
  const Facts facts = gather_system(host, "disks");
  CHECK(facts.is("disk.work.state", "missing"));
  CHECK(facts.is("disk.work.existing", "/home/ddl/my run"));
  CHECK(facts.is("disk.work.writable", "no"));
  CHECK(facts.is("disk.work.read_only", "yes"));
  CHECK(facts.number("disk.work.free_bytes") == 50);
  CHECK(facts.is("disk.work.mount", "/home/ddl/my run"));
  CHECK(facts.is("disk.work.source", "nas:/r"));
  CHECK(facts.is("disk.tmp.state", "ok"));
  CHECK(facts.is("disk.tmp.mount", "/"));
  CHECK(facts.text("disk.checkpoint.path") == std::nullopt);
}

TEST_CASE("a directory whose look hangs or dies costs that directory only") {
  FakeHost host;
  struct HangingChildren : ddlrun::tests::FakeProcesses {
    std::vector<ProcessResult> run_functions(
        std::span<const std::pair<ChildFunction, std::chrono::milliseconds>> functions) override {
      auto results = FakeProcesses::run_functions(functions);
      results[0] = ProcessResult{};
      results[0].timed_out = true;
      if (results.size() > 2) {
        results[2] = ProcessResult{};
        results[2].exit_status = 139;
      }
      return results;
    }
  } processes;
  host.kernel.add_directory("/work");
  host.request.temporary_dir = "/gone";
  host.request.workdir = "/work";
  host.request.checkpoint_dir = "/crash";
  System interfaces{processes, host.system.files, host.system.clock, host.system.environment, {}, {}};
  Facts facts;
  gather_disks({interfaces, host.kernel, host.request, ""}, facts);
  CHECK(facts.is("disk.tmp.state", "hung"));
  CHECK(facts.is("disk.work.state", "ok"));
  CHECK(facts.why_missing("disk.checkpoint.state") == "looking at it ended with status 139");
}

TEST_CASE("data: a manifest for each path") {
  FakeHost host;
  host.put("/data/a", "12345");
  host.put("/data/b c", "1");
  host.request.data_paths = {"/data", "/none", "/data/a"};
  const Facts facts = gather_system(host, "data");
  CHECK(facts.is("data.0.state", "directory"));
  CHECK(facts.number("data.0.files") == 2);
  CHECK(facts.number("data.0.bytes") == 6);
  CHECK(facts.list("data.0.sample").size() == 2);
  CHECK(facts.is("data.1.state", "missing"));
  CHECK(facts.is("data.2.state", "file"));
  CHECK(facts.number("data.2.bytes") == 5);
}

TEST_CASE("the driver host's file: local directories are not waited for, those of a network are") {
  FakeHost host;
  CHECK(gather_system(host, "token").all().empty());
  host.request.token_file = "/run/here/.token";
  CHECK(gather_system(host, "token").is("dir.token.state", "no directory"));
  host.kernel.add_directory("/run/here");
  CHECK(gather_system(host, "token").is("dir.token.state", "not seen"));
  CHECK(host.system.processes.ran.empty());
  host.kernel.disks["/run/here"].type = 0x6969;
  host.system.processes.answer = [&](const Command&) {
    if (host.system.processes.ran.size() == 2) host.put("/run/here/.token", "");
    return ProcessResult{};
  };
  const Facts facts = gather_system(host, "token");
  CHECK(facts.is("dir.token.state", "seen"));
  CHECK(facts.number("dir.token.waits") == 2);
}

TEST_CASE("clock, user, loose files, listeners") {
  FakeHost host;
  host.kernel.clock = {true, 0.000123};
  host.kernel.add("/usr/lib/systemd/system/chrony.service");
  CHECK(gather_system(host, "clock").is("clock.synchronised", "yes"));
  CHECK(gather_system(host, "clock").number("clock.error_microseconds") == 123);
  CHECK(gather_system(host, "clock").is("clock.service", "chrony"));

  host.kernel.who = {2000, 2000, {2000, 27}, "ddl", "/home/ddl"};
  host.request.workdir = "/work";
  host.request.executable = "/apps/train";
  host.request.environment["LD_LIBRARY_PATH"] = "/apps/lib:relative::/none";
  FileInfo& work = host.kernel.add_directory("/work");
  work.mode = 01777;
  work.uid = 2000;
  host.kernel.add("/apps/train").mode = 0755;
  host.kernel.infos["/apps/train"].uid = 1234;
  host.kernel.add_directory("/apps/lib").mode = 0775;
  host.kernel.networks = {{"lo", true, true, true, 65536, {"127.0.0.1/8", "::1/128"}},
                          {"eth0", true, true, false, 1500, {"10.1.1.1/24", "fe80::1/64"}}};
  host.put(
      "/proc/net/tcp",
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 00000000:1776 00000000:0000 0A 00000000:00000000 00:00000000 00000000  2000        0 1 1\n"
      "   1: 0100007F:22B8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  2000        0 1 1\n"
      "   2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1\n"
      "   3: 00000000:6D7C 00000000:0000 01 00000000:00000000 00:00000000 00000000  2000        0 1 1\n");
  Facts facts = gather_system(host, "user");
  facts.merge(gather_system(host, "security"));
  CHECK(facts.number("user.uid") == 2000);
  CHECK(facts.is("user.groups", "2000\n27"));
  CHECK(facts.is(
      "loose.paths",
      "working-directory 1777 2000 0 /work\nexecutable 755 1234 0 /apps/train\nlibrary 775 0 0 /apps/lib"));
  CHECK(facts.is("listen.open", "6006 2000"));  // 0x1776; Jupyter's is on 127.0.0.1, 22 is not requested
  CHECK(facts.is("listen.public", "no"));
  CHECK(facts.text("site.kisti") == std::nullopt);
  host.kernel.networks[1].addresses.push_back("150.183.1.1/24");
  host.system.environment.host_name = "login01.ksc.re.kr";
  facts = gather_system(host, "user");
  CHECK(facts.is("listen.public", "yes"));
  CHECK(facts.is("site.kisti", "yes"));
}

TEST_SUITE_END();
