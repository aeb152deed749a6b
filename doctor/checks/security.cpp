// SPDX-License-Identifier: MIT
// SEC: what others could change in the job, or connect to.
#include "base/text/text.hpp"
#include "doctor/checks/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace ddlrun::doctor {

namespace {

struct LooseEntry {
  std::string role, path;
  unsigned mode = 0;
  std::uint64_t uid = 0, gid = 0;
};

// "ROLE MODE UID GID PATH", the path with its blanks.
std::optional<LooseEntry> parse_loose(std::string_view line) {
  LooseEntry entry;
  std::array<std::string_view, 4> words;
  for (std::string_view& word : words) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    word = line.substr(0, blank);
    line.remove_prefix(blank + 1);
  }
  const auto [end, problem] =
      std::from_chars(words[1].data(), words[1].data() + words[1].size(), entry.mode, 8);
  const auto uid = parse_unsigned(words[2]), gid = parse_unsigned(words[3]);
  if (problem != std::errc() || end != words[1].data() + words[1].size() || !uid || !gid || line.empty())
    return std::nullopt;
  entry.role = words[0];
  entry.path = line;
  entry.uid = *uid;
  entry.gid = *gid;
  return entry;
}

// Others may write, and no sticky bit keeps them from replacing what is in it.
bool is_open_to_all(const LooseEntry& entry) { return (entry.mode & 02) != 0 && (entry.mode & 01000) == 0; }

// Code that a group may replace; directories that a group works in are meant so. A private group is no group.
bool is_open_to_group(const LooseEntry& entry, const HostReport& host) {
  const bool is_code = entry.role == "executable" || entry.role == "library" || entry.role == "file" ||
                       entry.role == "job-file";
  const bool is_private = entry.gid == 0 || host.facts.number("user.gid") == entry.gid;
  return is_code && (entry.mode & 020) != 0 && (entry.mode & 01000) == 0 && !is_private;
}

CheckResult evaluate_loose(const CheckInput&, const HostReport& host) {
  const auto looked = host.facts.number("loose.looked");
  if (!looked) return skip_missing(host.facts, "loose.looked");
  if (*looked == 0) return skip("no directory or program of the job was given");
  std::string all, group;
  Remedy for_all, for_group;
  const auto add = [](const LooseEntry& entry, std::string_view who, std::string& text, Remedy& remedy) {
    text += fmt::format("{}{} {} (mode {:o})", text.empty() ? "" : ", ", entry.role,
                        printable(entry.path, 120), entry.mode);
    remedy.commands.push_back(fmt::format("chmod {}-w {}", who, quote_shell(entry.path)));
  };
  for (const std::string_view line : host.facts.list("loose.paths")) {
    const auto entry = parse_loose(line);
    if (!entry) continue;
    if (is_open_to_all(*entry))
      add(*entry, "o", all, for_all);
    else if (is_open_to_group(*entry, host))
      add(*entry, "g", group, for_group);
  }
  if (all.empty() && group.empty())
    return pass(fmt::format("{} looked at, none that others can change", *looked));
  CheckResult result;
  result.verdict = all.empty() ? Verdict::warn : Verdict::fail;
  result.observed =
      fmt::format("{} can write: {}", all.empty() ? "a group" : "every user", all.empty() ? group : all);
  result.expected = "only you and root";
  result.why = "any user who may write there decides what your ranks run or read";
  result.remedy = all.empty() ? for_group : for_all;
  return result;
}

CheckResult evaluate_listeners(const CheckInput&, const HostReport& host) {
  const auto open = host.facts.text("listen.open");
  if (!open) return skip_missing(host.facts, "listen.open");
  if (open->empty()) return pass("none of the job's ports listens on every address");
  const bool is_public = host.facts.is("listen.public", "yes");
  std::string ports, first;
  bool any = false;
  for (const std::string_view line : host.facts.list("listen.open")) {
    const std::string port(line.substr(0, line.find(' ')));
    const auto number = parse_unsigned(port, 65535);
    if (!number) continue;
    any = true;
    if (*number < 1024) continue;  // the system's own services, not the job's
    if (first.empty()) first = port;
    ports += (ports.empty() ? "" : ", ") + port;
  }
  if (!any) return skip("the list of ports is malformed");
  if (first.empty()) return pass("none but the system's own services listen on every address");
  CheckResult result;
  result.verdict = is_public ? Verdict::fail : Verdict::warn;
  result.observed = fmt::format("port {} listens on every address{}", ports,
                                is_public ? ", and this host has a public one" : "");
  result.expected = "listening on one address of the fabric, or on 127.0.0.1";
  result.why =
      "these services have no password: any user who can connect can read your job or run code in it";
  result.remedy = {{fmt::format("ss -ltnp 'sport = :{}'", first)},
                   false,
                   false,
                   "end what it shows and start it with an address: tensorboard --host 127.0.0.1, "
                   "MASTER_ADDR of the fabric; read it through ssh -L"};
  return result;
}

// Every host, and on the driver host the files of the job itself.
std::vector<Finding> check_loose(const CheckInput& input) {
  std::vector<Finding> findings = evaluate_hosts(input, "SEC-02", evaluate_loose, "security");
  Facts own;
  std::vector<std::string> lines;
  for (const std::string_view line : input.driver_host.facts.list("loose.paths")) {
    if (line.starts_with("job-file ")) lines.emplace_back(line);
  }
  own.set("loose.looked", lines.size());
  own.set_list("loose.paths", lines);
  if (const auto gid = input.driver_host.facts.text("user.gid")) own.set("user.gid", *gid);
  CheckResult result = evaluate_loose(input, {input.driver_host.host, {}, std::move(own), {}});
  if (result.verdict != Verdict::warn && result.verdict != Verdict::fail) return findings;
  result.remedy.on_driver_host = true;
  for (Finding& finding : single_finding("SEC-02", std::move(result))) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace

std::span<const Check> security_checks() {
  static const std::array<Check, 2> table{{
      {"SEC-02", "who may change the job", Level::quick, Place::host,
       "A program, script or library directory that others may write lets them run code as you on every "
       "host.",
       "Mode and owner of working directory, checkpoint directory, executable, the files that the program's "
       "words name, and the entries of LD_LIBRARY_PATH; on the driver host also hostfile and rankfile. fail: "
       "every user may write (without sticky bit). warn: a group that is not your own may write a program "
       "or library directory. pass: all else; directories shared by a group are meant so.",
       "chmod o-w, chmod g-w.", check_loose},
      {"SEC-03", "open services", Level::quick, Place::host,
       "Rendezvous ports, TensorBoard, Jupyter and NCCL's RAS take commands from any user who connects.",
       "/proc/net/tcp and tcp6: do the job's ports, 6006, 8888, 28028 or 29500 listen on every address, "
       "and has the host a public one. pass: none. warn: on private networks. fail: on a public one.",
       "Bind them to one address; read them through ssh -L.",
       [](const CheckInput& input) { return evaluate_hosts(input, "SEC-03", evaluate_listeners, "user"); }},
  }};
  return table;
}

}  // namespace ddlrun::doctor
