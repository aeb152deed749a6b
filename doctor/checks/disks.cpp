// SPDX-License-Identifier: MIT
// DISK: the file systems that the job writes to.
#include "base/text/text.hpp"
#include "doctor/checks/dir_remedy.hpp"
#include "doctor/checks/system.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {

namespace {

constexpr std::array<std::string_view, 3> roles{"tmp", "work", "checkpoint"};

struct Disk {
  const Facts& facts;
  std::string prefix;

  std::string_view text(std::string_view name) const {
    return facts.text(prefix + std::string(name)).value_or("");
  }
  std::optional<std::uint64_t> number(std::string_view name) const {
    return facts.number(prefix + std::string(name));
  }
  std::string path() const { return printable(text("path"), 200); }
};

// Applies `evaluate` to each directory of a host and keeps the worst; equal ones are reported together.
template <typename Evaluate>
CheckResult evaluate_dirs(const HostReport& host, const Evaluate& evaluate) {
  CheckResult worst = pass("");
  bool any = false;
  std::string reported;
  for (const std::string_view role : roles) {
    const Disk disk{host.facts, fmt::format("disk.{}.", role)};
    if (disk.text("path").empty()) continue;
    any = true;
    CheckResult result = evaluate(disk, role);
    if (result.verdict == Verdict::pass) {
      if (reported.find(result.observed) == std::string::npos)
        reported += (reported.empty() ? "" : "; ") + result.observed;
    } else if (worst.verdict == Verdict::pass || result.verdict == Verdict::fail) {
      worst = std::move(result);
    }
  }
  if (!any) return skip_missing(host.facts, "disk.tmp.path");
  if (worst.verdict == Verdict::pass) worst.observed = reported;
  return worst;
}

Remedy space_remedy(const Disk& disk, std::string_view role, bool few_inodes) {
  const std::string mount(disk.text("mount"));
  Remedy remedy;
  if (disk.text("fs") == "tmpfs" && !mount.empty()) {
    const std::string_view more = few_inodes ? "nr_inodes=1m" : "size=50%";
    remedy.commands.push_back(fmt::format("mount -o remount,{} {}", more, quote_shell(mount)));
    remedy.needs_root = true;
  }
  const std::string dir = quote_shell(mount.empty() ? disk.text("path") : std::string_view(mount));
  remedy.commands.push_back(few_inodes ? fmt::format("du --inodes -x {} 2>/dev/null | sort -n | tail", dir)
                                       : fmt::format("du -xah {} 2>/dev/null | sort -h | tail", dir));
  remedy.note = "delete what is not needed";
  if (role == "tmp") remedy.note += ", or export TMPDIR=/var/tmp";
  if (role == "checkpoint") remedy.note += ", or write the checkpoints elsewhere";
  return remedy;
}

CheckResult evaluate_space(const Disk& disk, std::string_view role) {
  const auto total = disk.number("total_bytes"), free = disk.number("free_bytes");
  if (!total || !free || *total == 0) return pass(disk.path() + " unknown");
  const std::uint64_t inodes = disk.number("inodes").value_or(0),
                      free_inodes = disk.number("free_inodes").value_or(0);
  const std::uint64_t used = 100 - *free * 100 / *total;
  const std::uint64_t least = role == "checkpoint" ? 256 * mib : 64 * mib;
  // The percentage is rough: blocks kept for root are counted as used.
  const std::string space =
      fmt::format("{}: {} free of {} ({} % used)", disk.path(), render_bytes(*free / mib * mib),
                  render_bytes(*total / mib * mib), used);
  const bool few_inodes = inodes > 0 && free_inodes < 1000;
  CheckResult result;
  result.observed = few_inodes ? fmt::format("{}, {} of {} inodes free", space, free_inodes, inodes) : space;
  result.remedy = space_remedy(disk, role, few_inodes);
  result.why =
      "\"No space left on device\": " +
      std::string(role == "tmp"    ? "mpirun cannot make its session directory"
                  : role == "work" ? "output is lost"
                                   : "a checkpoint is cut off, and the work since the last one lost");
  if (*free < least || few_inodes) {
    result.verdict = Verdict::fail;
    result.expected = few_inodes ? "1000 inodes" : render_bytes(least) + " free";
    return result;
  }
  const bool is_tight = (used > 97 && *free < 10 * gib) || (used > 90 && *free < gib);
  if (!is_tight) return pass(disk.path() + " has room");
  result.verdict = Verdict::warn;
  result.expected = used > 97 ? "10 GiB free, or at most 97 % used" : "1 GiB free, or at most 90 % used";
  return result;
}

CheckResult evaluate_writable(const Disk& disk, std::string_view role) {
  CheckResult result;
  result.verdict = Verdict::fail;
  const std::string mount(disk.text("mount")), existing(disk.text("existing"));
  const std::string point = quote_shell(mount.empty() ? existing : mount);
  if (disk.text("state") == "hung") {
    result.observed = fmt::format("{} does not answer within 2 s", disk.path());
    result.expected = "an answer";
    result.why = "every process that touches it hangs, and cannot be ended";
    const std::string fs(disk.text("fs"));
    result.remedy = {
        {"umount -l " + point}, true, false, "then mount it again, when its server answers again"};
    if (mount.empty() || mount == "/")
      result.remedy = {{"cat /proc/self/mounts"}, false, false, "find the mount and umount -l it"};
    return result;
  }
  if (existing.empty()) return pass(disk.path() + " unknown");
  if (disk.text("read_only") == "yes") {
    result.observed = fmt::format("{} is mounted read-only at {}", disk.path(), printable(mount, 100));
    result.expected = "writable";
    result.why = "\"Read-only file system\" when the first file is written";
    result.remedy = {{"mount -o remount,rw " + point},
                     true,
                     false,
                     "a disk that the kernel made read-only has errors: dmesg names them"};
    return result;
  }
  const bool missing = disk.text("state") == "missing";
  if (role != "work" && (disk.text("writable") == "no" || (missing && role == "tmp"))) {
    result.observed = disk.path() + (missing ? " is not there" : " is not writable for this user");
    result.expected = "a directory that this user can write";
    result.why =
        role == "tmp" ? "mpirun cannot make its session directory there" : "no checkpoint can be written";
    result.remedy = plan_dir_remedy(disk.facts, role);
    const std::string other =
        role == "tmp" ? "or export TMPDIR=/var/tmp" : "or write the checkpoints elsewhere";
    result.remedy.note += (result.remedy.note.empty() ? "" : "; ") + other;
    return result;
  }
  if (role == "work" && !missing && disk.text("writable") == "no")
    return pass(disk.path() + " is not writable for this user");
  if (missing)
    return pass(disk.path() +
                (role == "work" ? " is not there: see DIR-01" : " is not there, but can be made"));
  const std::uint64_t milliseconds = disk.number("milliseconds").value_or(0);
  if (milliseconds <= 1000) return pass(disk.path() + " is writable");
  result.verdict = Verdict::warn;
  result.observed = fmt::format("{} took {} ms to answer", disk.path(), milliseconds);
  result.expected = "less than 1000 ms";
  result.why = "starting and writing checkpoints will be slow on this host";
  result.remedy = {
      {fmt::format("df {}", quote_shell(disk.text("path")))}, false, false, "look at the load of its server"};
  return result;
}

CheckResult evaluate_tmpdir(const CheckInput& input, const HostReport& host) {
  const auto asked = input.job.environment.find("TMPDIR");
  const bool by_job = asked != input.job.environment.end();
  const auto theirs = host.facts.text("start.tmpdir");
  if (!by_job && !theirs) return skip_missing(host.facts, "start.tmpdir");
  const std::string path = by_job ? asked->second : std::string(*theirs);
  if (path.empty()) return pass("TMPDIR is not set: /tmp");
  const std::string seen = fmt::format("TMPDIR of {} characters", path.size());
  if (path.size() <= 60) return pass(seen);
  CheckResult result;
  result.verdict = path.size() > 75 ? Verdict::fail : Verdict::warn;
  result.observed = fmt::format("{}{}: {}", seen, by_job ? " (the job's)" : "", printable(path, 60));
  result.expected = "at most 60";
  result.why =
      "the path of a UNIX socket has at most 107 characters, and 32 and more come behind TMPDIR: \"AF_UNIX "
      "path too long\" in Python's workers (from 76 on), \"File name too long\" in launchers";
  result.remedy = {{"export TMPDIR=/tmp"},
                   false,
                   by_job,
                   by_job ? "" : "in ~/.bashrc of that host, above the line for interactive shells"};
  return result;
}

bool is_below(const std::string& path, const std::string& dir) {
  return path == dir || path.starts_with(dir + "/");
}

// KISTI's Neuron and Nurion take jobs from /scratch/$USER only.
std::vector<Finding> check_site_directory(const CheckInput& input) {
  const std::string name = input.driver_host.facts.is("site.kisti", "yes") ? "KISTI" : "";
  if (name.empty()) return single_finding("DISK-04", skip("no rule is known for this site"));
  const std::string user(input.driver_host.facts.text("user.name").value_or(""));
  const std::string dir = "/scratch/" + user, &here = input.job.workdir;
  if (here.empty()) return single_finding("DISK-04", skip("the working directory is unknown"));
  if (is_below(here, dir)) return single_finding("DISK-04", pass(here));
  return single_finding(
      "DISK-04",
      {Verdict::fail,
       printable(here, 200),
       dir + " or below",
       "KISTI's batch systems refuse jobs from other directories",
       {{fmt::format("cd {}", quote_shell(dir))}, false, true, "and copy what the job needs there"}});
}

}  // namespace

std::span<const Check> disk_checks() {
  static const std::array<Check, 4> table{{
      {"DISK-01", "space", Level::quick, Place::host,
       "A full disk ends a job when it writes: its first session directory, or the checkpoint of the last "
       "hour.",
       "statvfs of TMPDIR (the job's, else the host's, else /tmp), working directory, checkpoint directory. "
       "fail: less than 64 MiB free (256 MiB for checkpoints), or fewer than 1000 inodes. warn: over 97 % "
       "used and less than 10 GiB free; over 90 % and less than 1 GiB. pass: all else.",
       "Delete what is not needed; write elsewhere.",
       [](const CheckInput& input) {
         return evaluate_hosts(
             input, "DISK-01",
             [](const CheckInput&, const HostReport& host) { return evaluate_dirs(host, evaluate_space); },
             "disks");
       }},
      {"DISK-02", "mounts", Level::quick, Place::host,
       "A mount whose server is gone hangs every process that touches it; one that is read-only fails at "
       "the first write.",
       "stat of the same directories, each in a child with 2 s, and the flags of their file systems. fail: "
       "no answer, read-only, TMPDIR or checkpoint directory not writable, no TMPDIR. warn: more than 1 s. "
       "pass: all else. A TMPDIR with PBS_JOBID in its name counts on this host only: on the others PBS "
       "makes "
       "it for its own tasks.",
       "umount -l and mount anew; mount -o remount,rw.",
       [](const CheckInput& input) {
         return evaluate_hosts(
             input, "DISK-02",
             [](const CheckInput&, const HostReport& host) { return evaluate_dirs(host, evaluate_writable); },
             "disks");
       }},
      {"DISK-03", "length of TMPDIR", Level::quick, Place::host,
       "Sockets are made below TMPDIR, and the path of a socket is short.",
       "TMPDIR of the job, else of the host. pass: at most 60 characters. warn: at most 75. fail: more "
       "(measured: Python's multiprocessing fails from 76 on; Open MPI 4.1 itself runs with 400).",
       "export TMPDIR=/tmp.",
       [](const CheckInput& input) { return evaluate_hosts(input, "DISK-03", evaluate_tmpdir, "limits"); }},
      {"DISK-04", "the site's rule", Level::quick, Place::driver_host,
       "Some centres take jobs only from their scratch file system.",
       "The domain of this host's name. KISTI: the working directory lies below /scratch/$USER, else fail. "
       "skip: other sites.",
       "cd /scratch/$USER.", check_site_directory},
  }};
  return table;
}

}  // namespace ddlrun::doctor
