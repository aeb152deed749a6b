// SPDX-License-Identifier: MIT
// Whether every host can be reached by ssh as mpirun will, and what stands in the way.
#include "base/text/text.hpp"
#include "doctor/checks/name.hpp"
#include "doctor/checks/software.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace ddlrun::doctor {

namespace {

constexpr std::uint64_t much_noise_bytes = 4096;
constexpr const char* relayed_text = "reached through another host";

bool is_key_kind(std::string_view kind) { return kind == "unknown-host-key" || kind == "changed-host-key"; }

// `line` with HOST in it, for one host or as a loop over many.
std::string for_hosts(std::string line, const std::vector<std::string>& hosts) {
  const bool many = hosts.size() > 1;
  const std::string name = many ? "\"$h\"" : quote_shell(hosts.front());
  for (auto at = line.find("HOST"); at != std::string::npos; at = line.find("HOST", at + name.size()))
    line.replace(at, 4, name);
  if (!many) return line;
  return fmt::format("for h in {}; do {}; done", render_shell(hosts), line);
}

Remedy key_remedy(const CheckInput& input, const std::vector<std::string>& hosts) {
  std::vector<std::string> commands;
  const auto key = text_of(input.driver_host, "ssh.key");
  if (!key) commands.push_back("ssh-keygen -t ed25519 -N '' -f ~/.ssh/id_ed25519");
  const std::string public_key = key ? quote_shell(*key + ".pub") : "~/.ssh/id_ed25519.pub";
  commands.push_back(for_hosts(fmt::format("ssh-copy-id -i {} HOST", public_key), hosts));
  return driver_host_commands(
      std::move(commands),
      fmt::format("ssh-copy-id asks for the password once a host; where none is accepted, "
                  "the line of {0} is added to ~/.ssh/authorized_keys "
                  "there by other means, with a home directory that all hosts share: cat {0} "
                  ">> ~/.ssh/authorized_keys. A key with a passphrase "
                  "needs ssh-agent: ssh-add",
                  public_key));
}

std::string name_note(const CheckInput& input, const std::vector<std::string>& hosts) {
  std::string note;
  for (const std::string& host : hosts) {
    if (const auto near = similar_name(input, host))
      note += fmt::format("did you mean {}, not {}? ", *near, host);
  }
  return note +
         "Mend the name in the host list, or add it with its address to DNS or to /etc/hosts of every host";
}

struct ProblemWords {
  std::string why;
  Remedy remedy;
};

// What a scheduler's launcher can be tried with; mpirun goes by ssh, and ssh's own words have their own
// remedy.
ProblemWords launcher_words(Via via, const std::vector<std::string>& hosts) {
  const std::string why =
      fmt::format("{} starts nothing there: no rank, and no daemon of mpirun's", via_name(via));
  if (via == Via::srun) {
    return {why, driver_host_commands(
                     {for_hosts("scontrol show node HOST", hosts),
                      for_hosts("srun --overlap --nodes=1 --ntasks=1 --nodelist=HOST true", hosts)},
                     "its slurmd is down, or the network between it and the controller: systemctl status "
                     "slurmd on the host; it must be one of this allocation's")};
  }
  if (via == Via::pbsdsh) {
    return {why, driver_host_commands({for_hosts("pbsnodes HOST", hosts)},
                                      "its pbs_mom is down, or it is none of this job's hosts")};
  }
  return {why, driver_host_commands({for_hosts("mpirun -n 1 --host HOST --bind-to none true", hosts)})};
}

// ssh passes such a key over and then asks for a password: no other key is wanted.
bool has_loose_key(const HostReport& driver_host) {
  const auto lines = driver_host.facts.list("ssh.mode.keys");
  return std::any_of(lines.begin(), lines.end(),
                     [](std::string_view line) { return line.size() > 2 && !line.ends_with("00"); });
}

bool is_launchers_own(Via via, std::string_view kind) {
  if (via == Via::srun || via == Via::pbsdsh) return true;
  return via == Via::mpirun && (kind == "other" || kind == "hung" || kind == "missing-program");
}

ProblemWords words_for_problem(const CheckInput& input, std::string_view kind,
                               const std::vector<std::string>& hosts) {
  if (kind == "no-key" && has_loose_key(input.driver_host)) {
    return {"ssh does not use a private key that others may read, and is refused without one: see SSH-07",
            driver_host_commands({"chmod 600 $(ls ~/.ssh/id_* | grep -v '\\.pub$')"},
                                 "then ask again: no new key is needed")};
  }
  if (kind == "no-key")
    return {"mpirun starts its daemon there by ssh without a password, and is refused just so",
            key_remedy(input, hosts)};
  if (kind == "unknown-name") {
    return {"mpirun ends with \"ssh: Could not resolve hostname\"",
            {{}, false, true, name_note(input, hosts)}};
  }
  if (kind == "refused") {
    return {"nothing listens on the ssh port there: no daemon of mpirun's can be started",
            {{"systemctl enable --now ssh || systemctl enable --now sshd"},
             true,
             false,
             "on the host itself, by its console; or give its port in ~/.ssh/config"}};
  }
  if (kind == "timeout" || kind == "no-route") {
    return {"mpirun would wait for it until ssh gives up, then end the job",
            driver_host_commands(
                {for_hosts("ping -c 3 HOST", hosts),
                 for_hosts("ssh -v -o BatchMode=yes -o ConnectTimeout=5 HOST true", hosts)},
                "the host is down, its link is down, or a firewall drops the packets; leave it out "
                "of the host list meanwhile")};
  }
  if (kind == "hung") {
    return {"sshd accepts the connection and sends nothing: mpirun sets ssh no time limit and would hang",
            {{"systemctl restart ssh || systemctl restart sshd"},
             true,
             false,
             "by the host's console; a stopped sshd, a full process table, a home file server that does not "
             "answer: uptime; dmesg | tail"}};
  }
  if (kind == "agent") {
    return {"ssh works, but ddlrun's agent there does not answer",
            driver_host_commands(
                {for_hosts("ssh -o BatchMode=yes HOST 'df -h /tmp; mount | grep noexec; ulimit -a'", hosts)},
                "the agent needs room in a directory where files may be executed")};
  }
  return {"mpirun starts its daemons by the same ssh and would fail alike",
          driver_host_commands({for_hosts("ssh -v -o BatchMode=yes HOST true", hosts)})};
}

// Hosts with the same trouble together: ssh printed the same message except for their names.
struct TroubleGroup {
  std::string kind, problem;
  std::vector<const HostReport*> hosts;
  std::vector<std::string> names;
};

std::vector<TroubleGroup> group_troubles(const CheckInput& input, bool (*wanted)(std::string_view kind)) {
  std::vector<TroubleGroup> groups;
  std::map<std::pair<std::string, std::string>, std::size_t> place;
  for (const HostReport& host : input.hosts) {
    if (host.reach.problem.empty() || !wanted(host.reach.problem_kind)) continue;
    std::string text = printable(host.reach.problem);
    for (auto at = text.find(host.host); at != std::string::npos; at = text.find(host.host, at + 4))
      text.replace(at, host.host.size(), "HOST");
    const auto [at, is_new] = place.emplace(std::pair(host.reach.problem_kind, text), groups.size());
    if (is_new) groups.push_back({host.reach.problem_kind, printable(host.reach.problem), {}, {}});
    groups[at->second].hosts.push_back(&host);
    groups[at->second].names.push_back(host.host);
  }
  return groups;
}

void add_finding(std::vector<Finding>& findings, std::string_view id, CheckResult result,
                 std::vector<std::string> hosts) {
  std::vector<Finding> one = single_finding(id, std::move(result), std::move(hosts));
  findings.push_back(std::move(one.front()));
}

bool is_other_kind(std::string_view kind) { return !is_key_kind(kind) && kind != "kex-reset"; }

std::vector<Finding> check_reached(const CheckInput& input) {
  std::vector<Finding> findings;
  for (const HostReport& host : input.hosts) {
    const Reach& reach = host.reach;
    if (reach.problem.empty())
      add_result(findings, "SSH-01", host.host,
                 pass(!reach.relay.empty()      ? relayed_text
                      : reach.via == Via::local ? "this machine"
                                                : "reached"));
    else if (is_key_kind(reach.problem_kind))
      add_result(findings, "SSH-01", host.host, skip("not reached because of its host key: see SSH-02"));
    else if (reach.problem_kind == "kex-reset")
      add_result(findings, "SSH-01", host.host,
                 skip("not reached because sshd drops connections: see SSH-06"));
  }
  for (TroubleGroup& group : group_troubles(input, is_other_kind)) {
    const Via via = group.hosts.front()->reach.via;
    const bool own = group.kind != "agent" && is_launchers_own(via, group.kind);
    ProblemWords words =
        own ? launcher_words(via, group.names) : words_for_problem(input, group.kind, group.names);
    add_finding(
        findings, "SSH-01",
        fail(group.problem,
             own ? fmt::format("an answer by way of {}", via_name(via)) : "a login without a password",
             std::move(words.why), std::move(words.remedy)),
        std::move(group.names));
  }
  return findings;
}

// "Offending ED25519 key in /etc/ssh/ssh_known_hosts:3" -> the file.
std::string offending_file(std::string_view stderr_text) {
  const auto begin = stderr_text.find("Offending ");  // "Add correct host key in ..." stands before it
  const auto at = begin == std::string_view::npos ? begin : stderr_text.find(" key in ", begin);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = stderr_text.substr(at + 8);
  const std::string_view path = rest.substr(0, rest.find_first_of(":\\\r\n"));
  return path.starts_with('/') && path.size() < 400 ? std::string(path) : std::string();
}

std::string compare_words(const std::string& host) {
  return fmt::format(
      "the fingerprint of `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` on the host, and of "
      "`ssh-keyscan {} | ssh-keygen -lf -` here",
      quote_shell(host));
}

CheckResult changed_keys(const CheckInput& input, const TroubleGroup& group) {
  const std::string file = offending_file(group.hosts.front()->reach.stderr_text);
  const std::string home = text_of(input.driver_host, "ssh.home").value_or("");
  const bool is_other =
      !file.empty() && file != home + "/.ssh/known_hosts" && !file.ends_with("/.ssh/known_hosts");
  return fail(
      fmt::format("the host key is another one than {} holds",
                  file.empty() ? "known_hosts" : printable(file)),
      "the key that is known",
      "the host was reinstalled, or something intercepts the connection: ssh refuses, and mpirun with it "
      "(\"Host key verification failed\")",
      // No command: one "yes" to it would be StrictHostKeyChecking=no.
      {{},
       false,
       true,
       fmt::format(
           "ask the administrator whether the host was reinstalled, and compare: {}. Then {}, and run "
           "doctor again for the new key",
           compare_words(group.names.front()),
           for_hosts("ssh-keygen -R HOST" + (is_other ? " -f " + quote_shell(file) : std::string()),
                     group.names))});
}

CheckResult unknown_keys(const TroubleGroup& group) {
  constexpr std::string_view scanned = "~/.ssh/scanned_host_keys";
  Remedy remedy = driver_host_commands(
      {fmt::format("ssh-keyscan {} > {} && ssh-keygen -lf {}", render_shell(group.names), scanned, scanned),
       fmt::format("cat {} >> ~/.ssh/known_hosts && rm {}", scanned, scanned)},
      "the second command only after comparing: " + compare_words(group.names.front()));
  remedy.asks_each = true;
  return fail("the host key is in no known_hosts", "a known key, for every name that the job uses",
              "without a terminal ssh cannot ask, and mpirun ends with \"Host key verification failed\"",
              std::move(remedy));
}

std::vector<Finding> check_host_keys(const CheckInput& input) {
  std::vector<Finding> findings;
  for (const HostReport& host : input.hosts) {
    const Reach& reach = host.reach;
    if (reach.problem.empty())
      add_result(findings, "SSH-02", host.host,
                 !reach.relay.empty() ? skip(fmt::format("{}: --relays never asks from here", relayed_text))
                 : reach.via == Via::ssh ? pass("known")
                                         : skip("not reached by ssh"));
    else if (!is_key_kind(reach.problem_kind))
      add_result(findings, "SSH-02", host.host, skip("not reached: see SSH-01"));
  }
  for (TroubleGroup& group : group_troubles(input, is_key_kind)) {
    CheckResult result = group.kind == "changed-host-key" ? changed_keys(input, group) : unknown_keys(group);
    add_finding(findings, "SSH-02", std::move(result), std::move(group.names));
  }
  return findings;
}

// Shells that are not interactive turn back where the noise begins; at the top where its line is not found.
std::string guard_before(std::string_view noise) {
  constexpr std::size_t telling = 8;  // shorter words stand in many lines
  const std::string search =
      noise.size() < telling
          ? ""
          : fmt::format("n=$(grep -nm1 -F -- {} ~/.bashrc | cut -d: -f1); ", quote_shell(noise));
  return search + "sed -i \"${n:-1}i case \\$- in *i*) ;; *) return ;; esac\" ~/.bashrc";
}

std::vector<Finding> check_noise(const CheckInput& input) {
  return evaluate_each(input, "SSH-04", [](const HostReport& host) {
    const Reach& reach = host.reach;
    if (reach.via == Via::local) return skip("no shell was started on this machine");
    if (reach.noise_bytes == 0) return pass("silent");
    const std::string start(trim(printable(reach.noise_start, 60)));
    CheckResult result = warn(
        fmt::format("start-up files print {} bytes on stdout, beginning \"{}\"", reach.noise_bytes, start),
        "0 bytes",
        "whatever reads the output of a remote command gets it too: scp and rsync end with \"Received "
        "message too long\" or a protocol error, "
        "scripts take the words for results, and the job's output carries them once a host",
        {{guard_before(start.substr(0, start.find("...")))},
         false,
         false,
         "what stands below that line is then for interactive shells only: lines that set PATH for mpirun "
         "must stay above it. The noise may also come from ~/.ssh/rc, ~/.zshenv, /etc/bash.bashrc"});
    if (reach.noise_bytes > much_noise_bytes) result.verdict = Verdict::fail;
    return result;
  });
}

std::vector<Finding> check_dropped(const CheckInput& input) {
  std::vector<Finding> findings;
  const Remedy remedy{{"mkdir -p /etc/ssh/sshd_config.d && echo 'MaxStartups 100:30:300' > "
                       "/etc/ssh/sshd_config.d/ddlrun.conf",
                       "systemctl reload ssh || systemctl reload sshd"},
                      true,
                      false,
                      "sshd drops new logins by chance from its 10th waiting one on (MaxStartups 10:30:100); "
                      "where its sshd_config has no Include line, put it there. Or start fewer at once"};
  for (const HostReport& host : input.hosts) {
    const Reach& reach = host.reach;
    CheckResult result = reach.via == Via::ssh ? pass("taken at once") : skip("not reached by ssh");
    if (reach.problem_kind == "kex-reset") {
      result =
          fail(fmt::format("sshd dropped all of {} tries: {}", reach.attempts, printable(reach.problem, 120)),
               "a login at the first try",
               "too many logins at once, or a deny list: mpirun's own ssh does not try again", remedy);
    } else if (!reach.problem.empty()) {
      result = skip("not reached: see SSH-01");
    } else if (reach.attempts > 1) {
      result = warn(fmt::format("sshd dropped {} tr{} before it accepted the login", reach.attempts - 1,
                                reach.attempts == 2 ? "y" : "ies"),
                    "a login at the first try",
                    "mpirun's own ssh does not try again: the job would not start now and then", remedy);
    }
    add_result(findings, "SSH-06", host.host, std::move(result));
  }
  return findings;
}

}  // namespace

std::span<const Check> ssh_checks() {
  static constexpr std::array<Check, 4> table{{
      {"SSH-01", "ssh to every host", Level::quick, Place::host,
       "mpirun starts a daemon on each host by ssh; a host that asks for a password, is down or hangs ends "
       "the whole job.",
       "ssh -o BatchMode=yes -o ConnectTimeout=5 HOST, the connection that also brings back the facts. pass: "
       "an answer; fail: none.",
       "By ssh's message: a key (ssh-keygen, ssh-copy-id), the name, the link, sshd.", check_reached},
      {"SSH-02", "host keys", Level::quick, Place::host,
       "Without a terminal ssh cannot ask about an unknown key: it refuses, and so mpirun ends before "
       "anything runs.",
       "ssh's message under your own settings of StrictHostKeyChecking. pass: known, or taken under "
       "accept-new; fail: unknown, or another key than the known one.",
       "ssh-keyscan HOST, compare the fingerprints, then add the key to ~/.ssh/known_hosts. A key that "
       "changed is "
       "for a person to look into: ssh-keygen -R HOST only after that.",
       check_host_keys},
      {"SSH-04", "silent start-up files", Level::quick, Place::host,
       "What .bashrc prints in a non-interactive shell gets into every protocol that runs over ssh.",
       "Bytes on stdout before our first word. pass: 0; warn: more; fail: more than 4 KiB.",
       "Put echo, banners and tools that print behind the interactive guard of ~/.bashrc.", check_noise},
      {"SSH-06", "dropped logins", Level::quick, Place::host,
       "sshd drops new connections by chance when many log in at once (MaxStartups 10:30:100): of 128 at "
       "once, 42 were.",
       "Tries until a login succeeded, after \"kex_exchange_identification: ... reset\". pass: 1; warn: "
       "more; fail: never.",
       "Fewer at once; the administrator: MaxStartups 100:30:300.", check_dropped},
  }};
  return table;
}

}  // namespace ddlrun::doctor
