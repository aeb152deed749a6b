// SPDX-License-Identifier: MIT
// DIR, DATA: what the job reads and where it starts must be the same on every host.
#include "base/text/text.hpp"
#include "doctor/checks/dir_remedy.hpp"
#include "doctor/checks/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ddlrun::doctor {

namespace {

bool is_seen(const HostReport& host) { return host.facts.is("dir.token.state", "seen"); }

// A mount like the driver host's, where the driver host has its directory from a server; what lies over it
// here is taken away.
Remedy mount_remedy(const CheckInput& input, const HostReport& host) {
  const std::string dir = quote_shell(input.job.workdir);
  const auto mount = input.driver_host.facts.text("disk.work.mount"),
             source = input.driver_host.facts.text("disk.work.source");
  const auto type = input.driver_host.facts.text("disk.work.fs");
  const bool from_server = mount && source && type && *mount != "/" &&
                           (type->starts_with("nfs") || *type == "lustre" || *type == "cifs" ||
                            *type == "ceph" || *type == "beegfs" || *type == "gpfs" || *type == "9p");
  if (from_server) {
    const std::string point = quote_shell(*mount);
    return {{fmt::format("mkdir -p {0} && mount -t {1} {2} {0}", point, quote_shell(*type),
                         quote_shell(*source))},
            true,
            false,
            "and a line in /etc/fstab, as on the driver host"};
  }
  const auto own = host.facts.text("disk.work.mount");
  if (mount && own && own->size() > mount->size() && own->starts_with(*mount)) {
    return {{"umount " + quote_shell(*own)},
            true,
            false,
            "another file system lies over the driver host's directory there"};
  }
  if (!host.facts.is("dir.token.state", "no directory")) {
    return {{"df " + dir},
            false,
            false,
            "mount what the driver host has there, or start from a directory that all hosts share"};
  }
  const Remedy made = plan_dir_remedy(host.facts, "work");
  return {
      host.facts.is("disk.work.state", "missing") ? made.commands
                                                  : std::vector{fmt::format("mkdir -p {}", dir)},
      made.needs_root && host.facts.is("disk.work.state", "missing"), false,
      "a directory of the host's own: what the job needs from the working directory must be copied there, "
      "and its output stays there. Better: start from a directory that all hosts share"};
}

// The driver host could write no file to look for, as it has no such directory either.
CheckResult missing_dir(const CheckInput& input, const HostReport& host) {
  return {Verdict::fail, printable(input.job.workdir, 200) + " is not there", "a directory on every host",
          "mpirun ends with \"could not change to the specified working directory\"",
          plan_dir_remedy(host.facts, "work")};
}

std::vector<Finding> check_workdir(const CheckInput& input) {
  if (input.job.workdir.empty()) return single_finding("DIR-01", skip("the working directory is unknown"));
  const auto shared = std::count_if(input.hosts.begin(), input.hosts.end(), [](const HostReport& host) {
    return host.reach.via != Via::local && is_seen(host);
  });
  return evaluate_each(
      input, "DIR-01",
      [&](const HostReport& host) {
        const auto state = host.facts.text("dir.token.state");
        if (!state && host.facts.is("disk.work.state", "missing")) return missing_dir(input, host);
        if (!state) return skip_missing(host.facts, "dir.token.state");
        const std::uint64_t waits = host.facts.number("dir.token.waits").value_or(0);
        const std::string dir = printable(input.job.workdir, 200);
        if (*state == "seen" && waits < 3) return pass(dir + " is the driver host's");
        CheckResult result;
        result.expected = "the driver host's directory";
        result.remedy = mount_remedy(input, host);
        if (*state == "seen") {
          result.verdict = Verdict::warn;
          result.observed = fmt::format("a new file in {} was seen after {} s", dir, waits);
          result.why = "a rank may not see yet what another has just written";
          result.remedy = {{fmt::format("nfsstat -m {}", quote_shell(input.job.workdir))},
                           false,
                           false,
                           "the server or the network is slow, or attributes are kept long (actimeo)"};
          return result;
        }
        result.verdict = Verdict::fail;
        if (*state == "no directory") {
          result.observed = dir + " is not there";
          result.why =
              "ranks start in your home directory instead, or not at all: relative paths lead elsewhere";
          return result;
        }
        if (shared == 0 && input.job.program.empty()) return pass(dir + " is there, each host has its own");
        result.observed = dir + " is another directory than the driver host's";
        result.why = "ranks there read other files and write to another place";
        return result;
      },
      "token");
}

// The facts of one data path on one host.
struct DataFacts {
  const Facts& facts;
  std::string prefix;

  std::string_view text(std::string_view name) const {
    return facts.text(prefix + std::string(name)).value_or("");
  }
  std::uint64_t number(std::string_view name) const {
    return facts.number(prefix + std::string(name)).value_or(0);
  }
  bool is_here() const { return text("state") == "file" || text("state") == "directory"; }
  // Equal on two hosts where the manifest is.
  std::string value() const {
    std::string all;
    for (const char* name : {"state", "files", "bytes", "names", "sizes"})
      all += std::string(text(name)) + " ";
    return all;
  }
  std::string summary() const {
    if (text("state") == "missing") return "missing";
    if (text("state") == "hung") return "no answer within 4 s";
    if (text("state") == "unreadable") return "not readable";
    const std::string bytes = text("bytes").empty() ? "" : ", " + render_bytes(number("bytes"));
    if (text("state") == "file") return "a file of " + render_bytes(number("bytes"));
    if (text("complete") == "no") return fmt::format("more than {}", count_of(number("files"), "file"));
    return count_of(number("files"), "file") + bytes;
  }
};

struct Reference {
  std::string host;  // "" = none has the data
  std::string value;
  bool is_driver_host = false;
  bool is_of_most = false;  // of at least three hosts that have data
};

// What most hosts have, if it is not empty; ties go to what the driver host has, then to the earlier host.
Reference find_reference(const CheckInput& input, const std::string& prefix) {
  struct Group {
    Reference reference;
    std::size_t hosts = 0;
  };
  std::map<std::string, Group> groups;
  std::size_t all = 0;
  const DataFacts driver_host{input.driver_host.facts, prefix};
  const auto is_candidate = [](const DataFacts& data) { return data.is_here() && data.number("files") > 0; };
  for (const HostReport& host : input.hosts) {
    const DataFacts data{host.facts, prefix};
    if (!host.reach.problem.empty() || !is_candidate(data)) continue;
    Group& group = groups.try_emplace(data.value(), Group{{host.host, data.value()}, 0}).first->second;
    ++group.hosts;
    ++all;
  }
  if (is_candidate(driver_host)) {
    Group& group =
        groups.try_emplace(driver_host.value(), Group{{input.driver_host.host, driver_host.value()}, 0})
            .first->second;
    group.reference.is_driver_host = true;
  }
  Reference best;
  std::size_t most = 0;
  for (const HostReport& host : input.hosts) {  // in the order of the hosts, so that ties are stable
    const auto found = groups.find(DataFacts{host.facts, prefix}.value());
    if (found == groups.end() || !host.reach.problem.empty()) continue;
    const bool better =
        found->second.hosts > most || (found->second.hosts == most && found->second.reference.is_driver_host);
    if (!better) continue;
    best = found->second.reference;
    most = found->second.hosts;
  }
  best.is_of_most = is_majority(most, all);
  if (best.value.empty() && is_candidate(driver_host)) best = groups.at(driver_host.value()).reference;
  return best;
}

// Copies over ssh, with tar, which is everywhere; "$h" stands for the host.
Remedy copy_remedy(const CheckInput& input, const Reference& reference, const std::string& path,
                   bool is_file) {
  const std::size_t slash = path.rfind('/');
  const std::string dir = !is_file ? path : slash == 0 ? "/" : path.substr(0, slash);
  const std::string what = is_file ? path.substr(slash + 1) : ".";
  const std::string pack = fmt::format("tar -C {} -cf - {}", quote_shell(dir), quote_shell(what));
  const std::string unpack = fmt::format("mkdir -p {0} && tar -C {0} -xf -", quote_shell(dir));
  const bool is_here = reference.is_driver_host || reference.host == input.driver_host.host;
  const std::string from =
      is_here ? pack : fmt::format("ssh {} {}", quote_shell(reference.host), quote_shell(pack));
  return {{fmt::format("{} | ssh \"$h\" {}", from, quote_shell(unpack))},
          false,
          true,
          is_file ? "" : "files that are there and should not be stay: delete them"};
}

// One line for all hosts of the finding. A person decides about data that only `doubtful` has.
void name_hosts(Finding& finding, std::string_view doubtful) {
  if (!finding.remedy.on_driver_host || finding.remedy.commands.size() != 1) return;
  std::string& command = finding.remedy.commands[0];
  const std::string place = " | ssh \"$h\" ";
  const std::size_t at = command.rfind(place);
  if (at == std::string::npos) return;
  std::vector<std::string> hosts;
  for (const std::string& host : finding.hosts) hosts.push_back(quote_shell(host));
  if (hosts.size() == 1) {
    command.replace(at, place.size(), fmt::format(" | ssh {} ", hosts[0]));
  } else {
    command = fmt::format("for h in {}; do {}; done", join(hosts, " "), command);
  }
  if (!doubtful.empty()) finding.remedy = as_advice(std::move(finding.remedy), doubtful);
}

// The first sampled file that differs, in words; "" if the sample has none.
std::string first_difference(const DataFacts& data, const DataFacts& wanted) {
  const auto sample = [](const DataFacts& one) {
    std::map<std::string_view, std::string_view> files;
    for (const std::string_view line : one.facts.list(one.prefix + "sample")) {
      const std::size_t blank = line.find(' ');
      if (blank != std::string_view::npos) files.emplace(line.substr(blank + 1), line.substr(0, blank));
    }
    return files;
  };
  const auto here = sample(data), there = sample(wanted);
  for (const auto& [name, size] : there) {
    const auto found = here.find(name);
    if (found == here.end() && data.number("files") < wanted.number("files"))
      return fmt::format("; {} is missing", name);
    if (found != here.end() && found->second != size)
      return fmt::format("; {} has {} bytes, not {}", name, found->second, size);
  }
  return {};
}

CheckResult evaluate_data(const CheckInput& input, const HostReport& host, const std::string& prefix,
                          const std::string& path, const Reference& reference) {
  const DataFacts data{host.facts, prefix};
  if (data.text("state").empty()) return skip_missing(host.facts, prefix + "state");
  const std::string name = printable(path, 200);
  const HostReport* const owner = [&]() -> const HostReport* {
    if (reference.is_driver_host) return &input.driver_host;
    const auto found = std::find_if(input.hosts.begin(), input.hosts.end(),
                                    [&](const HostReport& one) { return one.host == reference.host; });
    return found == input.hosts.end() ? nullptr : &*found;
  }();
  CheckResult result;
  result.verdict = Verdict::fail;
  result.observed = fmt::format("{}: {}", name, data.summary());
  if (data.text("state") == "hung") {
    result.expected = "an answer";
    result.why = "every process that touches it hangs, and cannot be ended";
    const std::string_view mount = data.text("mount");
    result.remedy = {
        {mount.empty() || mount == "/" ? "cat /proc/self/mounts" : "umount -l " + quote_shell(mount)},
        true,
        false,
        "then mount it again, when its server answers again"};
    return result;
  }
  if (owner == nullptr) {
    result.expected = "files";
    result.why = "there is nothing to read on any host";
    result.remedy = {{"ls -ld " + quote_shell(path)}, false, true, "put the data there, or correct the path"};
    return result;
  }
  const DataFacts wanted{owner->facts, prefix};
  if (data.text("complete") == "no" || wanted.text("complete") == "no") {
    if (data.is_here()) return pass(result.observed + ", too many to compare");
  }
  if (data.value() == reference.value) return pass(result.observed);
  if (data.is_here()) result.observed += first_difference(data, wanted);
  result.expected = fmt::format("{}, as on {}", wanted.summary(),
                                reference.is_driver_host ? "the driver host" : reference.host);
  result.why = data.is_here() ? "ranks there train on other data, or end early and make the others wait"
                              : "ranks there end at once: No such file or directory";
  result.remedy = copy_remedy(input, reference, path, wanted.text("state") == "file");
  if (data.text("state") == "unreadable")
    result.remedy = {{fmt::format("chmod a+rX {}", quote_shell(path))}, true, false, ""};
  return result;
}

std::vector<Finding> check_data_equal(const CheckInput& input) {
  if (input.job.data_paths.empty()) return single_finding("DATA-01", skip("no data path was given"));
  std::vector<Finding> all;
  for (std::size_t i = 0; i < input.job.data_paths.size() && i < 8; ++i) {
    const std::string prefix = fmt::format("data.{}.", i), &path = input.job.data_paths[i];
    const Reference reference = find_reference(input, prefix);
    auto findings = evaluate_each(
        input, "DATA-01",
        [&](const HostReport& host) { return evaluate_data(input, host, prefix, path, reference); }, "data");
    const bool trusted = reference.is_driver_host || reference.is_of_most;
    for (Finding& finding : findings) name_hosts(finding, trusted ? "" : reference.host);
    std::move(findings.begin(), findings.end(), std::back_inserter(all));
  }
  return all;
}

CheckResult evaluate_readable(const CheckInput& input, const HostReport& host) {
  for (std::size_t i = 0; i < input.job.data_paths.size() && i < 8; ++i) {
    const DataFacts data{host.facts, fmt::format("data.{}.", i)};
    const std::uint64_t denied = data.number("denied");
    if (denied == 0) continue;
    const std::string user = printable(host.facts.text("user.name").value_or("this user"), 40);
    return {
        Verdict::fail,
        fmt::format("{} in {} not readable by {}: {}", count_of(denied, "file"),
                    printable(input.job.data_paths[i], 200), user, printable(data.text("first_denied"), 200)),
        "all readable",
        "ranks there end with \"Permission denied\" when they come to it",
        {{fmt::format("chmod -R a+rX {}", quote_shell(input.job.data_paths[i]))}, true, false, ""}};
  }
  return pass("");
}

std::vector<Finding> check_user(const CheckInput& input) {
  const auto groups = group_by_value(input, [](const HostReport& host) -> std::optional<std::string> {
    const auto uid = host.facts.number("user.uid"), gid = host.facts.number("user.gid");
    if (!uid || !gid) return std::nullopt;
    return fmt::format("{}:{}", *uid, *gid);
  });
  const std::string most = groups.empty() ? "" : groups[0].value;
  return evaluate_each(
      input, "DATA-02",
      [&](const HostReport& host) -> CheckResult {
        const auto uid = host.facts.number("user.uid"), gid = host.facts.number("user.gid");
        if (!uid || !gid) return skip_missing(host.facts, "user.uid");
        const std::string user(host.facts.text("user.name").value_or(""));
        const std::string own = fmt::format("{}:{}", *uid, *gid);
        if (own == most) {
          CheckResult readable = evaluate_readable(input, host);
          if (readable.verdict != Verdict::pass) return readable;
          return pass(fmt::format("{} is {}", printable(user, 40), own));
        }
        const std::string wanted_uid = most.substr(0, most.find(':')),
                          wanted_gid = most.substr(most.find(':') + 1);
        CheckResult result;
        result.verdict = Verdict::fail;
        result.observed = fmt::format("{} is {} there", printable(user, 40), own);
        result.expected = fmt::format("{}, as on {}", most, count_of(groups[0].hosts.size(), "host"));
        result.why = "on a shared file system that is somebody else: files are not readable, or not writable";
        result.remedy.needs_root = true;
        result.remedy.note =
            "usermod refuses while that user has processes there; with LDAP or NIS mend it there";
        if (!has_majority(groups)) return result;
        if (std::to_string(*gid) != wanted_gid)
          result.remedy.commands.push_back(fmt::format("groupmod -g {} {}", wanted_gid, quote_shell(user)));
        result.remedy.commands.push_back(
            fmt::format("usermod -u {} -g {} {}", wanted_uid, wanted_gid, quote_shell(user)));
        return result;
      },
      "user");
}

}  // namespace

std::span<const Check> data_checks() {
  static const std::array<Check, 3> table{{
      {"DIR-01", "working directory", Level::quick, Place::host,
       "Ranks start in the directory from which the job is started. Where it is missing, or is another one "
       "than on the driver host, relative paths lead elsewhere.",
       "A file that the driver host has just written there is looked for on every host; on a file system of "
       "the "
       "network up to 4 s long. pass: seen; also where each host has its own and no program was given. "
       "warn: seen after 3 s or more. fail: no such directory, or another one than the driver host's.",
       "Mount the shared file system; start from a directory that all hosts share.", check_workdir},
      {"DATA-01", "the data", Level::quick, Place::host,
       "Each rank reads its part of the data from its own host. A path that is missing on one ends the "
       "job; data that differ go unnoticed.",
       "Number of files, bytes, and a fingerprint of all names and sizes (above 2,000 files: of 64 chosen "
       "by name) below each data path; at most 20,000 names and 2 s (a million at level full). pass: as on "
       "most hosts. fail: missing, empty, or different. Times of change are not compared: a copy has "
       "others.",
       "Copy it from a host that has it, to the same path.", check_data_equal},
      {"DATA-02", "the user", Level::quick, Place::host,
       "On a shared file system the number counts, not the name. With another number on one host files are "
       "not readable there.",
       "Effective uid and gid on every host, and whether the data that DATA-01 requested can be opened. "
       "pass: equal and readable. fail: another number, or a file that may not be read. Supplementary "
       "groups may differ.",
       "usermod -u, or the directory service; chmod -R a+rX.", check_user},
  }};
  return table;
}

}  // namespace ddlrun::doctor
