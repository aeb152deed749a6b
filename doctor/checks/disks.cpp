// SPDX-License-Identifier: MIT
// DISK: the file systems that the job writes to.
#include "base/text/text.hpp"
#include "doctor/checks/folder_remedy.hpp"
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

// Applies `judge` to each folder of a host and keeps the worst; equal ones are told together.
template <typename Judge>
Judgement judge_folders(const HostReport& host, const Judge& judge) {
  Judgement worst = pass("");
  bool any = false;
  std::string told;
  for (const std::string_view role : roles) {
    const Disk disk{host.facts, fmt::format("disk.{}.", role)};
    if (disk.text("path").empty()) continue;
    any = true;
    Judgement judgement = judge(disk, role);
    if (judgement.verdict == Verdict::pass) {
      if (told.find(judgement.observed) == std::string::npos)
        told += (told.empty() ? "" : "; ") + judgement.observed;
    } else if (worst.verdict == Verdict::pass || judgement.verdict == Verdict::fail) {
      worst = std::move(judgement);
    }
  }
  if (!any) return skip_missing(host.facts, "disk.tmp.path");
  if (worst.verdict == Verdict::pass) worst.observed = told;
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
  const std::string folder = quote_shell(mount.empty() ? disk.text("path") : std::string_view(mount));
  remedy.commands.push_back(few_inodes ? fmt::format("du --inodes -x {} 2>/dev/null | sort -n | tail", folder)
                                       : fmt::format("du -xah {} 2>/dev/null | sort -h | tail", folder));
  remedy.note = "delete what is not needed";
  if (role == "tmp") remedy.note += ", or export TMPDIR=/var/tmp";
  if (role == "checkpoint") remedy.note += ", or write the checkpoints elsewhere";
  return remedy;
}

Judgement judge_space(const Disk& disk, std::string_view role) {
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
  Judgement judgement;
  judgement.observed =
      few_inodes ? fmt::format("{}, {} of {} inodes free", space, free_inodes, inodes) : space;
  judgement.remedy = space_remedy(disk, role, few_inodes);
  judgement.why =
      "\"No space left on device\": " +
      std::string(role == "tmp"    ? "mpirun cannot make its session folder"
                  : role == "work" ? "output is lost"
                                   : "a checkpoint is cut off, and the work since the last one lost");
  if (*free < least || few_inodes) {
    judgement.verdict = Verdict::fail;
    judgement.expected = few_inodes ? "1000 inodes" : render_bytes(least) + " free";
    return judgement;
  }
  const bool is_tight = (used > 97 && *free < 10 * gib) || (used > 90 && *free < gib);
  if (!is_tight) return pass(disk.path() + " has room");
  judgement.verdict = Verdict::warn;
  judgement.expected = used > 97 ? "10 GiB free, or at most 97 % used" : "1 GiB free, or at most 90 % used";
  return judgement;
}

Judgement judge_writable(const Disk& disk, std::string_view role) {
  Judgement judgement;
  judgement.verdict = Verdict::fail;
  const std::string mount(disk.text("mount")), existing(disk.text("existing"));
  const std::string point = quote_shell(mount.empty() ? existing : mount);
  if (disk.text("state") == "hung") {
    judgement.observed = fmt::format("{} does not answer within 2 s", disk.path());
    judgement.expected = "an answer";
    judgement.why = "every process that touches it hangs, and cannot be ended";
    const std::string fs(disk.text("fs"));
    judgement.remedy = {
        {"umount -l " + point}, true, false, "then mount it anew, when its server answers again"};
    if (mount.empty() || mount == "/")
      judgement.remedy = {{"cat /proc/self/mounts"}, false, false, "find the mount and umount -l it"};
    return judgement;
  }
  if (existing.empty()) return pass(disk.path() + " unknown");
  if (disk.text("read_only") == "yes") {
    judgement.observed = fmt::format("{} is mounted read-only at {}", disk.path(), printable(mount, 100));
    judgement.expected = "writable";
    judgement.why = "\"Read-only file system\" when the first file is written";
    judgement.remedy = {{"mount -o remount,rw " + point},
                        true,
                        false,
                        "a disk that the kernel made read-only has errors: dmesg says which"};
    return judgement;
  }
  const bool missing = disk.text("state") == "missing";
  if (role != "work" && (disk.text("writable") == "no" || (missing && role == "tmp"))) {
    judgement.observed = disk.path() + (missing ? " is not there" : " is not writable for this user");
    judgement.expected = "a folder that this user can write";
    judgement.why =
        role == "tmp" ? "mpirun cannot make its session folder there" : "no checkpoint can be written";
    judgement.remedy = plan_folder_remedy(disk.facts, role);
    const std::string other =
        role == "tmp" ? "or export TMPDIR=/var/tmp" : "or write the checkpoints elsewhere";
    judgement.remedy.note += (judgement.remedy.note.empty() ? "" : "; ") + other;
    return judgement;
  }
  if (role == "work" && !missing && disk.text("writable") == "no")
    return pass(disk.path() + " is not writable for this user");
  if (missing)
    return pass(disk.path() +
                (role == "work" ? " is not there: see DIR-01" : " is not there, but can be made"));
  const std::uint64_t milliseconds = disk.number("milliseconds").value_or(0);
  if (milliseconds <= 1000) return pass(disk.path() + " is writable");
  judgement.verdict = Verdict::warn;
  judgement.observed = fmt::format("{} took {} ms to answer", disk.path(), milliseconds);
  judgement.expected = "less than 1000 ms";
  judgement.why = "starting and writing checkpoints will be slow on this host";
  judgement.remedy = {
      {fmt::format("df {}", quote_shell(disk.text("path")))}, false, false, "look at the load of its server"};
  return judgement;
}

Judgement judge_tmpdir(const CheckInput& input, const HostReport& host) {
  const auto asked = input.job.environment.find("TMPDIR");
  const bool by_job = asked != input.job.environment.end();
  const auto theirs = host.facts.text("start.tmpdir");
  if (!by_job && !theirs) return skip_missing(host.facts, "start.tmpdir");
  const std::string path = by_job ? asked->second : std::string(*theirs);
  if (path.empty()) return pass("TMPDIR is not set: /tmp");
  const std::string seen = fmt::format("TMPDIR of {} characters", path.size());
  if (path.size() <= 60) return pass(seen);
  Judgement judgement;
  judgement.verdict = path.size() > 75 ? Verdict::fail : Verdict::warn;
  judgement.observed = fmt::format("{}{}: {}", seen, by_job ? " (the job's)" : "", printable(path, 60));
  judgement.expected = "at most 60";
  judgement.why =
      "the path of a UNIX socket has at most 107 characters, and 32 and more come behind TMPDIR: \"AF_UNIX "
      "path too long\" in Python's workers (from 76 on), \"File name too long\" in launchers";
  judgement.remedy = {{"export TMPDIR=/tmp"},
                      false,
                      by_job,
                      by_job ? "" : "in ~/.bashrc of that host, above the line for interactive shells"};
  return judgement;
}

bool is_below(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

// KISTI's Neuron and Nurion take jobs from /scratch/$USER only.
std::vector<Finding> check_site_folder(const CheckInput& input) {
  const std::string name = input.head.facts.is("site.kisti", "yes") ? "KISTI" : "";
  if (name.empty()) return judge_once("DISK-04", skip("no rule is known for this site"));
  const std::string user(input.head.facts.text("user.name").value_or(""));
  const std::string folder = "/scratch/" + user, &here = input.job.working_folder;
  if (here.empty()) return judge_once("DISK-04", skip("no working folder was told"));
  if (is_below(here, folder)) return judge_once("DISK-04", pass(here));
  return judge_once(
      "DISK-04",
      {Verdict::fail,
       printable(here, 200),
       folder + " or below",
       "KISTI's batch systems refuse jobs from other folders",
       {{fmt::format("cd {}", quote_shell(folder))}, false, true, "and copy what the job needs there"}});
}

}  // namespace

std::span<const Check> disk_checks() {
  static const std::array<Check, 4> table{{
      {"DISK-01", "space", Level::quick, Place::host,
       "A full disk ends a job when it writes: its first session folder, or the checkpoint of the last hour.",
       "statvfs of TMPDIR (the job's, else the host's, else /tmp), working folder, checkpoint folder. "
       "fail: less than 64 MiB free (256 MiB for checkpoints), or fewer than 1000 inodes. warn: over 97 % "
       "used and less than 10 GiB free; over 90 % and less than 1 GiB. pass: all else.",
       "Delete what is not needed; write elsewhere.",
       [](const CheckInput& input) {
         return judge_hosts(
             input, "DISK-01",
             [](const CheckInput&, const HostReport& host) { return judge_folders(host, judge_space); },
             "disks");
       }},
      {"DISK-02", "mounts", Level::quick, Place::host,
       "A mount whose server is gone hangs every process that touches it; one that is read-only fails at "
       "the first write.",
       "stat of the same folders, each in a child with 2 s, and the flags of their file systems. fail: no "
       "answer, read-only, TMPDIR or checkpoint folder not writable, no TMPDIR. warn: more than 1 s. pass: "
       "all else.",
       "umount -l and mount anew; mount -o remount,rw.",
       [](const CheckInput& input) {
         return judge_hosts(
             input, "DISK-02",
             [](const CheckInput&, const HostReport& host) { return judge_folders(host, judge_writable); },
             "disks");
       }},
      {"DISK-03", "length of TMPDIR", Level::quick, Place::host,
       "Sockets are made below TMPDIR, and the path of a socket is short.",
       "TMPDIR of the job, else of the host. pass: at most 60 characters. warn: at most 75. fail: more "
       "(measured: Python's multiprocessing fails from 76 on; Open MPI 4.1 itself runs with 400).",
       "export TMPDIR=/tmp.",
       [](const CheckInput& input) { return judge_hosts(input, "DISK-03", judge_tmpdir, "limits"); }},
      {"DISK-04", "the site's rule", Level::quick, Place::head,
       "Some centres take jobs only from their scratch file system.",
       "The domain of this host's name. KISTI: the working folder lies below /scratch/$USER, else fail. "
       "skip: other sites.",
       "cd /scratch/$USER.", check_site_folder},
  }};
  return table;
}

}  // namespace ddlrun::doctor
