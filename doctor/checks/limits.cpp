// SPDX-License-Identifier: MIT
// LIM: what the kernel lets one process, and all of this user's, have.
#include "base/text/text.hpp"
#include "doctor/checks/system.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {

namespace {

// If the job itself requires RDMA, a device need not be seen.
bool asks_for_rdma(const Job& job) {
  const auto value = [&](const char* name) {
    const auto found = job.environment.find(name);
    return found == job.environment.end() ? std::string() : found->second;
  };
  const std::string transports = value("UCX_TLS"), btl = value("OMPI_MCA_btl");
  for (const std::string_view word : split(transports, ',')) {
    if (word == "rc" || word == "rc_x" || word == "rc_v" || word == "dc" || word == "dc_x" || word == "ud" ||
        word == "ud_x" || word == "ib")
      return true;
  }
  return (btl.find("openib") != std::string::npos && !btl.starts_with('^')) || !value("NCCL_IB_HCA").empty();
}

std::optional<std::uint64_t> limit_number(const Facts& facts, std::string_view name) {
  const auto text = facts.text(name);
  if (text && *text == "unlimited") return UINT64_MAX;
  return facts.number(name);
}

std::string soft_and_hard(const Facts& facts, std::string_view name, bool is_bytes) {
  const std::string fact = fmt::format("limit.{}", name);
  const std::string soft = render_limit(facts.text(fact + ".soft").value_or("?"), is_bytes);
  const std::string hard = render_limit(facts.text(fact + ".hard").value_or("?"), is_bytes);
  return soft == hard ? fmt::format("{} {}", name, soft) : fmt::format("{} {} (hard {})", name, soft, hard);
}

struct NeededFiles {
  std::uint64_t least, good;
};
// A rank may hold a connection to every other, over two interfaces; 128 for libraries, pipes and data.
NeededFiles needed_files(const Job& job) {
  const std::uint64_t ranks = std::max<std::uint64_t>(job.ranks, 1);
  return {std::max<std::uint64_t>(512, 128 + ranks), std::max<std::uint64_t>(1024, 128 + 2 * ranks)};
}

CheckResult evaluate_processes(const CheckInput& input, const HostReport& host) {
  const auto own = limit_number(host.facts, "limit.nproc.soft");
  if (!own) return skip_missing(host.facts, "limit.nproc.soft");
  const RanksHere here = ranks_here(input.job, host.host);
  const std::uint64_t least = here.ranks * (here.cores_per_rank + 8);
  const std::uint64_t good = here.ranks * (2 * here.cores_per_rank + 16) + 256;
  std::uint64_t room = *own;
  std::string seen =
      fmt::format("{} processes and threads", render_limit(*host.facts.text("limit.nproc.soft"), false));
  const auto group = host.facts.number("cgroup.pids.max");
  bool is_group = false;
  if (group) {
    const std::uint64_t used = host.facts.number("cgroup.pids.used").value_or(0);
    const std::uint64_t left = *group - std::min(*group, used);
    is_group = left < room;
    if (is_group)
      seen = fmt::format("room for {} processes and threads (pids.max {}, {} in use)", left, *group, used);
    room = std::min(room, left);
  }
  if (room >= good) return pass(is_group ? fmt::format("pids.max {}", *group) : seen);
  CheckResult result;
  result.verdict = room < least ? Verdict::fail : Verdict::warn;
  result.observed = seen;
  result.expected =
      fmt::format("at least {} for {} rank{} of {} core{}", room < least ? least : good, here.ranks,
                  here.ranks == 1 ? "" : "s", here.cores_per_rank, here.cores_per_rank == 1 ? "" : "s");
  result.why =
      "threads cannot be started: \"fork: Resource temporarily unavailable\", \"libgomp: Thread creation "
      "failed\"";
  if (is_group) {
    const std::string unit(host.facts.text("limit.daemon.unit").value_or("ssh.service"));
    result.remedy = {{fmt::format("systemctl set-property {} TasksMax=infinity", quote_shell(unit)),
                      "systemctl set-property user.slice TasksMax=infinity"},
                     true,
                     false,
                     "a batch system sets pids.max for the job: request more tasks, or its administrator"};
  } else {
    result.remedy = plan_limit_remedy(host, "nproc", std::to_string(std::max<std::uint64_t>(4096, 2 * good)));
  }
  return result;
}

CheckResult evaluate_stack(const CheckInput&, const HostReport& host) {
  const auto soft = limit_number(host.facts, "limit.stack.soft");
  if (!soft) return skip_missing(host.facts, "limit.stack.soft");
  const std::string seen = soft_and_hard(host.facts, "stack", true);
  const bool has_gpus = host.facts.number("devices.nvidia").value_or(0) > 0;
  CheckResult result;
  result.observed = seen;
  result.expected = "8 MiB";
  if (*soft == UINT64_MAX) {
    if (!has_gpus) return pass(seen);
    result.verdict = Verdict::warn;
    result.why =
        "with an unlimited stack the C library gives NCCL's threads only 2 MiB, on which it can crash";
    result.remedy = {{"ulimit -s 8192"}, false, true, "in the job's script, before mpirun"};
    return result;
  }
  if (*soft >= 8 * mib) return pass(seen);
  result.verdict = *soft < 2 * mib ? Verdict::fail : Verdict::warn;
  result.why =
      "threads get a stack of this size; deep calls and large local arrays end in a segmentation fault";
  result.remedy = plan_limit_remedy(host, "stack", std::to_string(8 * mib));
  return result;
}

CheckResult evaluate_core_files(const CheckInput& input, const HostReport& host) {
  const auto soft = limit_number(host.facts, "limit.core.soft");
  if (!soft) return skip_missing(host.facts, "limit.core.soft");
  const std::string seen = soft_and_hard(host.facts, "core", true);
  const auto pattern = host.facts.text("kernel.core_pattern");
  const auto memory = host.facts.number("mem.total_bytes"), free = host.facts.number("disk.work.free_bytes");
  const bool to_file = pattern && !pattern->starts_with('|');
  if (*soft != UINT64_MAX || !to_file || !ranks_here(input.job, host.host).reported || !memory || !free)
    return pass(seen);
  if (*free >= *memory / 2) return pass(seen);
  CheckResult result;
  result.verdict = Verdict::warn;
  result.observed = fmt::format("core files without bound, {} free in the working directory, {} of memory",
                                render_bytes(*free), render_bytes(*memory));
  result.expected = "0, or a bound";
  result.why = "when the job crashes, each rank writes its memory there and fills the disk";
  result.remedy = {{"ulimit -c 0"}, false, true, "in the job's script, before mpirun"};
  return result;
}

bool by_slurm(const CheckInput& input) {
  const auto is_srun = [](const HostReport& host) { return host.reach.via == Via::srun; };
  return input.job.allocation_source.starts_with("SLURM") ||
         std::any_of(input.hosts.begin(), input.hosts.end(), is_srun) ||
         std::any_of(input.other_paths.begin(), input.other_paths.end(),
                     [&](const auto& path) { return std::any_of(path.begin(), path.end(), is_srun); });
}

std::vector<Finding> check_propagation(const CheckInput& input) {
  if (!by_slurm(input)) return single_finding("LIM-02", skip("not a job of Slurm"));
  const Facts& driver_host = input.driver_host.facts;
  const auto memlock = limit_number(driver_host, "limit.memlock.soft"),
             files = limit_number(driver_host, "limit.nofile.soft");
  if (!memlock || !files) return single_finding("LIM-02", skip_missing(driver_host, "limit.memlock.soft"));
  const bool rdma = asks_for_rdma(input.job) ||
                    std::any_of(input.hosts.begin(), input.hosts.end(), [](const HostReport& host) {
                      return host.facts.number("devices.rdma").value_or(0) > 0;
                    });
  const bool short_memlock = *memlock <= 64 * kib || (rdma && *memlock != UINT64_MAX);
  const bool short_files = *files < needed_files(input.job).least;
  const std::string seen = fmt::format("here: {}, {}", soft_and_hard(driver_host, "memlock", true),
                                       soft_and_hard(driver_host, "nofile", false));
  if (!short_memlock && !short_files) return single_finding("LIM-02", pass(seen));
  CheckResult result;
  result.verdict = Verdict::fail;
  result.observed = seen;
  result.expected = fmt::format("{}nofile {} or more", short_memlock ? "memlock unlimited, " : "",
                                needed_files(input.job).least);
  result.why =
      "Slurm gives the job the soft limits of the shell that submits it, whatever the compute hosts allow";
  result.remedy = {
      {}, false, true, "or `sbatch --propagate=NONE`, which takes the compute hosts' own limits"};
  if (short_memlock) result.remedy.commands.push_back("ulimit -S -l \"$(ulimit -H -l)\"");
  if (short_files) result.remedy.commands.push_back("ulimit -S -n \"$(ulimit -H -n)\"");
  return single_finding("LIM-02", std::move(result));
}

}  // namespace

CheckResult evaluate_memlock(const CheckInput& input, const HostReport& host) {
  const auto soft = limit_number(host.facts, "limit.memlock.soft");
  if (!soft) return skip_missing(host.facts, "limit.memlock.soft");
  const std::string seen = soft_and_hard(host.facts, "memlock", true);
  const std::uint64_t devices = host.facts.number("devices.rdma").value_or(0);
  const bool rdma = devices > 0 || asks_for_rdma(input.job);
  if (*soft == UINT64_MAX) return pass(seen);
  if (*soft > 64 * kib && !rdma) return pass(seen + ", enough without RDMA");
  CheckResult result;
  result.verdict = Verdict::fail;
  result.observed =
      seen + (devices > 0 ? fmt::format(", {} RDMA device{}", devices, devices == 1 ? "" : "s") : "");
  result.expected = rdma ? "unlimited" : "more than 64 KiB, best unlimited";
  result.why = rdma ? "verbs pin their queues and buffers: \"Failed to create a completion queue (CQ)\", "
                      "\"ibv_reg_mr failed: Cannot allocate memory\""
                    : "no room to pin buffers or rings: mlock, io_uring and registered memory fail with "
                      "\"Cannot allocate memory\"";
  result.remedy = plan_limit_remedy(host, "memlock", "unlimited");
  const auto driver_host = input.driver_host.facts.text("limit.memlock.soft");
  if (host.reach.via == Via::srun && driver_host == host.facts.text("limit.memlock.soft")) {
    result.remedy = {{"ulimit -S -l \"$(ulimit -H -l)\""},
                     false,
                     true,
                     "Slurm hands this shell's soft limit on; or " + result.remedy.note};
  }
  return result;
}

CheckResult evaluate_open_files(const CheckInput& input, const HostReport& host) {
  const auto soft = limit_number(host.facts, "limit.nofile.soft");
  if (!soft) return skip_missing(host.facts, "limit.nofile.soft");
  const NeededFiles needed = needed_files(input.job);
  const std::string seen = soft_and_hard(host.facts, "nofile", false);
  if (*soft >= needed.good) return pass(seen);
  CheckResult result;
  result.verdict = *soft < needed.least ? Verdict::fail : Verdict::warn;
  result.observed = seen;
  result.expected = fmt::format("at least {}", *soft < needed.least ? needed.least : needed.good);
  if (input.job.ranks > 0) result.expected += fmt::format(" for {} ranks", input.job.ranks);
  result.why =
      "connections and files share this limit: \"Too many open files\", and ranks that cannot connect";
  result.remedy =
      plan_limit_remedy(host, "nofile", std::to_string(std::max<std::uint64_t>(131'072, needed.good)));
  return result;
}

CheckResult evaluate_shared_memory(const CheckInput& input, const HostReport& host) {
  const auto total = host.facts.number("shm.total_bytes"), free = host.facts.number("shm.free_bytes");
  if (!total || !free) return skip_missing(host.facts, "shm.total_bytes");
  const RanksHere here = ranks_here(input.job, host.host);
  const std::uint64_t per_rank = host.facts.number("devices.nvidia").value_or(0) > 0 ? 64 * mib : 16 * mib;
  const std::uint64_t good = std::max(128 * mib, here.ranks * per_rank);
  const std::uint64_t least = std::max(16 * mib, here.ranks * 8 * mib);
  const std::string seen = fmt::format("/dev/shm {} free of {}", render_bytes(*free), render_bytes(*total));
  const bool too_small = *total <= 64 * mib || *free < least;
  if (!too_small && *free >= good) return pass(fmt::format("/dev/shm of {}", render_bytes(*total)));
  CheckResult result;
  result.verdict = too_small ? Verdict::fail : Verdict::warn;
  result.observed = seen;
  result.expected =
      fmt::format("{} free for {} rank{}", render_bytes(good), here.ranks, here.ranks == 1 ? "" : "s");
  result.why = "ranks of one host exchange data there: \"failed to extend /dev/shm/nccl-...\", bus errors";
  result.remedy = {{"ls -lS /dev/shm | head", "mount -o remount,size=50% /dev/shm"},
                   true,
                   false,
                   "what the first line shows may be left from dead jobs: delete your own. A container: "
                   "docker run --shm-size=1g, or --ipc=host"};
  return result;
}

std::span<const Check> limit_checks() {
  static const std::array<Check, 7> table{{
      {"LIM-01", "locked memory", Level::quick, Place::host,
       "RDMA, CUDA and io_uring pin memory. With the 64 KiB of old distributions a job dies in its first "
       "communication: \"Failed to create a completion queue (CQ) ... Cannot allocate memory\".",
       "getrlimit(RLIMIT_MEMLOCK) in a process that was started by the job's own path, and the number of "
       "devices in /sys/class/infiniband. pass: unlimited, or more than 64 KiB where there is no RDMA "
       "device and the job requests none (UCX_TLS, OMPI_MCA_btl, NCCL_IB_HCA). fail: 64 KiB or less "
       "anywhere; any bound with RDMA.",
       "ssh: a file in /etc/security/limits.d, and a new login. sshd without PAM, slurmd, pbs_mom: "
       "LimitMEMLOCK=infinity in their unit; prlimit on the running daemon acts at once. Containers: "
       "--ulimit memlock=-1.",
       [](const CheckInput& input) { return evaluate_hosts(input, "LIM-01", evaluate_memlock, "limits"); }},
      {"LIM-02", "limits that Slurm takes along", Level::quick, Place::driver_host,
       "Slurm copies the submitting shell's soft limits into the job (PropagateResourceLimits=ALL is its "
       "default), so a small limit on the login host reaches hosts that allow more.",
       "The soft memlock and nofile of the host where ddlrun runs, if the job is Slurm's. pass: memlock "
       "above 64 KiB (unlimited with RDMA) and as many open files as LIM-03 needs. fail: less.",
       "Raise the soft limits to the hard ones before sbatch, or sbatch --propagate=NONE.",
       check_propagation},
      {"LIM-03", "open files", Level::quick, Place::host,
       "Each connection is an open file; a rank may hold one to every other, and NCCL several. Beyond the "
       "limit connections fail with \"Too many open files\".",
       "getrlimit(RLIMIT_NOFILE), soft, started by the job's path. W = ranks of the job. pass: at least "
       "max(1024, 128 + 2*W). fail: less than max(512, 128 + W). warn: between.",
       "limits.d, the daemon's unit, or prlimit on the running daemon, with 131072.",
       [](const CheckInput& input) {
         return evaluate_hosts(input, "LIM-03", evaluate_open_files, "limits");
       }},
      {"LIM-05", "processes and threads", Level::quick, Place::host,
       "Every rank starts threads for OpenMP, the network and data; all of a user's count together.",
       "RLIMIT_NPROC and the room in pids.max of our control groups. L = ranks here, C = cores per rank (1 "
       "by default). pass: at least L*(2C+16)+256. fail: less than L*(C+8). warn: between.",
       "nproc in limits.d; TasksMax of the unit.",
       [](const CheckInput& input) { return evaluate_hosts(input, "LIM-05", evaluate_processes, "limits"); }},
      {"LIM-06", "stack", Level::quick, Place::host,
       "A small stack ends in segmentation faults; an unlimited one makes the C library give threads 2 "
       "MiB, on which NCCL can crash.",
       "RLIMIT_STACK, soft. pass: 8 MiB or more. warn: less; unlimited where an NVIDIA device is. fail: "
       "less than 2 MiB.",
       "ulimit -s 8192 in the job's script; limits.d.",
       [](const CheckInput& input) { return evaluate_hosts(input, "LIM-06", evaluate_stack, "limits"); }},
      {"LIM-07", "shared memory", Level::quick, Place::host,
       "Ranks of one host talk through /dev/shm. Too little of it gives \"failed to extend "
       "/dev/shm/nccl-...\" or a bus error in the first collective; Docker's default of 64 MiB is the "
       "usual cause.",
       "statvfs(/dev/shm). L = ranks here. pass: free at least max(128 MiB, 16 MiB*L), 64 MiB*L where an "
       "NVIDIA device is. fail: 64 MiB or less in all, or free less than max(16 MiB, 8 MiB*L). warn: "
       "between.",
       "mount -o remount,size=50% /dev/shm; --shm-size for containers; files left by dead jobs deleted.",
       [](const CheckInput& input) {
         return evaluate_hosts(input, "LIM-07", evaluate_shared_memory, "limits");
       }},
      {"LIM-15", "core files", Level::quick, Place::host,
       "When a large job crashes, every rank may write its whole memory to the working directory.",
       "RLIMIT_CORE, /proc/sys/kernel/core_pattern, memory, free space of the working directory. warn: "
       "unlimited, written to a plain file, and less space than half of the memory. pass: all else.",
       "ulimit -c 0 in the job's script.",
       [](const CheckInput& input) {
         return evaluate_hosts(input, "LIM-15", evaluate_core_files, "limits");
       }},
  }};
  return table;
}

}  // namespace ddlrun::doctor
