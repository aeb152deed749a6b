// SPDX-License-Identifier: MIT
// What the hosts take the job's names for, and each for its own.
#include "base/text/text.hpp"
#include "doctor/checks/name.hpp"
#include "doctor/checks/ssh_aliases.hpp"
#include "doctor/parse/cidr.hpp"
#include "doctor/parse/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun::doctor {

namespace {

bool is_loopback(const std::string& address) {
  const auto parsed = parse_ipv4(address);
  return parsed ? parsed->is_loopback() : address == "::1";
}

// What a name leads to. Trusted: to the driver host, or to most of at least three hosts.
struct KnownAddress {
  std::string address, source;
  bool trusted = false;
};
using Addresses = std::map<std::string, KnownAddress, std::less<>>;

Addresses known_addresses(const CheckInput& input) {
  std::map<std::string, std::vector<ValueGroup>> groups_of;
  const auto each_usable = [](const HostReport& host, const auto& take) {
    for (const auto& [name, row] : read_name_table(host.facts)) {
      const auto usable = std::find_if_not(row.addresses.begin(), row.addresses.end(), is_loopback);
      if (usable != row.addresses.end()) take(name, *usable);
    }
  };
  for (const HostReport& host : input.hosts) {
    each_usable(host, [&](const std::string& name, const std::string& address) {
      auto& groups = groups_of[name];
      auto group = std::find_if(groups.begin(), groups.end(),
                                [&](const ValueGroup& one) { return one.value == address; });
      if (group == groups.end()) group = groups.insert(groups.end(), {address, {}});
      group->hosts.push_back(host.host);
    });
  }
  Addresses known;
  for (auto& [name, groups] : groups_of) {
    std::stable_sort(groups.begin(), groups.end(), [](const ValueGroup& a, const ValueGroup& b) {
      return a.hosts.size() > b.hosts.size();
    });
    known[name] = {groups.front().value, some_of(groups.front().hosts), has_majority(groups)};
  }
  each_usable(input.driver_host, [&](const std::string& name, const std::string& address) {
    known[name] = {address, "the driver host", true};
  });
  return known;
}

Remedy teach_names(const CheckInput& input, const Addresses& known, const std::vector<std::string>& names) {
  Remedy remedy;
  std::vector<std::string> unknown, doubtful, sources, notes;
  for (const std::string& name : names) {
    const auto found = known.find(name);
    if (found == known.end()) {
      unknown.push_back(name);
      continue;
    }
    const auto& [address, source, trusted] = found->second;
    const std::string line = fmt::format("{} {}", address, name);
    if (!trusted) {
      doubtful.push_back(fmt::format("{} (reported by {} only)", line, source));
    } else if (remedy.commands.size() < 16) {
      remedy.commands.push_back(fmt::format("printf '%s\\n' {} >> /etc/hosts", quote_shell(line)));
      sources.push_back(source);
    }
  }
  for (const std::string& name : unknown) {
    if (const auto near = similar_name(input, name))
      notes.push_back(fmt::format("did you mean {}, not {}?", *near, name));
  }
  if (!unknown.empty()) {
    notes.push_back(fmt::format(
        "no host resolves {}: if the spelling is right, add it to DNS or to /etc/hosts of all hosts",
        some_of(unknown)));
  }
  if (!doubtful.empty()) notes.push_back("check, then add to /etc/hosts: " + some_of(doubtful));
  if (!sources.empty()) notes.push_back("resolved so by " + some_of(each_once(std::move(sources))));
  remedy.note = join(notes, "; ");
  remedy.needs_root = !remedy.commands.empty();
  return remedy;
}

// Names that the job uses as they stand; what they are cut to is another check's matter.
CheckResult evaluate_names(const CheckInput& input, const std::set<std::string>& wanted,
                           const std::function<const Addresses&()>& known, const HostReport& host) {
  if (!host.facts.text("name.table")) return skip(host.facts.why_missing("name.table"));
  std::vector<std::string> missing, aliases;
  const std::set<std::string> known_to_ssh = find_ssh_aliases(input);
  std::string why;
  std::size_t asked = 0;
  for (const auto& [name, row] : read_name_table(host.facts)) {
    if (!wanted.contains(name)) continue;
    ++asked;
    if (!row.addresses.empty()) continue;
    (known_to_ssh.contains(name) ? aliases : missing).push_back(name);
    why = row.problem;
  }
  const auto left_out = host.facts.number("name.left_out").value_or(0);
  const std::string rest = left_out > 0 ? fmt::format(", {} more not asked here", left_out) : "";
  if (missing.empty() && !aliases.empty() && input.hosts.size() > 1) return warn_of_aliases(aliases, asked);
  if (missing.empty()) return pass(fmt::format("{} names resolve{}", asked, rest));
  return {Verdict::fail,
          fmt::format("{} of {} names resolve to nothing: {} ({}){}", missing.size(), asked, some_of(missing),
                      why, rest),
          "every name of the job leads to an address on every host",
          fmt::format("ssh: Could not resolve hostname {}; mpirun's daemon does not start there", missing[0]),
          teach_names(input, known(), missing)};
}

// The driver host starts the job: what it cannot resolve it cannot reach. Where it is one of the hosts it was
// evaluated there.
void evaluate_names_of_driver_host(const CheckInput& input, const std::set<std::string>& wanted,
                                   const std::function<const Addresses&()>& known,
                                   std::vector<Finding>& findings) {
  for (const HostReport& host : input.hosts) {
    if (host.reach.via == Via::local) return;
  }
  CheckResult result = evaluate_names(input, wanted, known, input.driver_host);
  if (result.verdict != Verdict::fail) return;
  std::vector<std::string> missing;
  const std::set<std::string> known_to_ssh = find_ssh_aliases(input);
  const NameTable table = read_name_table(input.driver_host.facts);
  for (const HostReport& host : input.hosts) {
    const auto row = table.find(host.host);
    const bool is_unknown = row != table.end() && row->second.addresses.empty();
    if (is_unknown && !known_to_ssh.contains(host.host)) missing.push_back(host.host);
  }
  result.observed = "on the driver host " + result.observed;
  result.remedy.on_driver_host = true;
  for (Finding& finding : single_finding("NAME-01", std::move(result), missing))
    findings.push_back(std::move(finding));
}

std::set<std::string> names_of_job(const CheckInput& input) {
  std::set<std::string> names;
  for (const HostReport& host : input.hosts) names.insert(host.host);
  names.insert(input.job.allocation.begin(), input.job.allocation.end());
  return names;
}

// Works on every host alike: takes the name off the 127 lines and gives it the address that leads to the
// others.
std::string own_name_command(const CheckInput& input) {
  std::string target = "10.0.0.1";
  const NetworkChoice choice = choose_network(known_networks(input), input.job.interface);
  // The network's own address: all hosts have that network, but the address of a port is one host's word.
  if (choice.network) target = choice.network->cidr.substr(0, choice.network->cidr.find('/'));
  return fmt::format(
      "h=$(hostname); a=$(ip -4 -o route get {} | sed -n 's/.* src \\([0-9.]*\\).*/\\1/p'); "
      "test -n \"$a\" && sed -i -E \"/^127\\./{{s/[[:blank:]]+$h([[:blank:]]|\\$)/ "
      "\\1/;/^[^[:blank:]]+[[:blank:]]*\\$/d}}\" /etc/hosts && "
      "printf '%s %s\\n' \"$a\" \"$h\" >> /etc/hosts",
      target);
}

CheckResult evaluate_own_name(const std::string& command, const HostReport& host) {
  const auto own = host.facts.text("name.host");
  if (!own || !host.facts.text("name.table")) return skip(host.facts.why_missing("name.table"));
  const NameTable table = read_name_table(host.facts);
  const auto row = table.find(*own);
  if (row == table.end() || row->second.addresses.empty())
    return pass("a host's own name resolves to nothing there: Open MPI runs all the same");
  const std::string& first = row->second.addresses.front();
  if (!is_loopback(first)) return pass("own names lead to addresses that others can reach");
  Remedy remedy{{command}, true, false, ""};
  return {Verdict::warn, fmt::format("the host's own name resolves to {} there", first),
          "an address that the other hosts can reach",
          "Open MPI runs all the same; Gloo and torch rendezvous send the others this address, and they "
          "connect to "
          "themselves",
          std::move(remedy)};
}

// What one name is to the hosts.
struct View {
  std::set<std::string> addresses;
  std::vector<const HostReport*> hosts;
};

// IPv4 where there is any: a host without IPv6 in its table is no other table.
std::set<std::string> comparable(const NameRow& row) {
  std::set<std::string> v4, all;
  for (const std::string& address : row.addresses) {
    if (parse_ipv4(address)) v4.insert(address);
    all.insert(address);
  }
  return v4.empty() ? all : v4;
}

// A host's view of its own name may have more addresses, or the loopback's: other checks look at that.
bool is_own(const HostReport& host, const std::string& name) {
  return host.host == name || host.facts.is("name.host", name);
}

std::map<std::string, std::vector<View>> collect_views(const CheckInput& input) {
  std::map<std::string, std::vector<View>> views;
  for (const HostReport& host : input.hosts) {
    if (!host.reach.problem.empty()) continue;
    for (const auto& [name, row] : read_name_table(host.facts)) {
      if (row.addresses.empty() || is_own(host, name) || name == "localhost") continue;
      const auto addresses = comparable(row);
      auto& of_name = views[name];
      auto view = std::find_if(of_name.begin(), of_name.end(),
                               [&](const View& one) { return one.addresses == addresses; });
      if (view == of_name.end()) view = of_name.insert(of_name.end(), View{addresses, {}});
      view->hosts.push_back(&host);
    }
  }
  for (auto& [name, of_name] : views) {
    std::stable_sort(of_name.begin(), of_name.end(),
                     [](const View& a, const View& b) { return a.hosts.size() > b.hosts.size(); });
  }
  return views;
}

// The address of `view` that `name`'s own interfaces have; "" where they have none of it.
std::string owned_address(const std::vector<HostNetworks>& networks, const std::string& name,
                          const View& view) {
  for (const HostNetworks& host : networks) {
    if (host.host != name) continue;
    for (const HostInterface& interface : host.interfaces) {
      for (const std::string& text : interface.addresses) {
        const std::string address = text.substr(0, text.find('/'));
        if (view.addresses.contains(address)) return address;
      }
    }
  }
  return {};
}

// The view that is right: its address is one of the machine's own, else most hosts have it.
struct RightView {
  const View* view = nullptr;
  std::string address, source;
  bool trusted = false;
};

RightView find_right_view(const std::vector<HostNetworks>& networks, const std::string& name,
                          const std::vector<View>& views) {
  std::vector<ValueGroup> groups;
  for (const View& view : views) {
    const std::string address = owned_address(networks, name, view);
    if (!address.empty()) return {&view, address, name, true};
    groups.push_back({});
    for (const HostReport* host : view.hosts) groups.back().hosts.push_back(host->host);
  }
  return {&views.front(), *views.front().addresses.begin(), some_of(groups.front().hosts),
          has_majority(groups)};
}

std::string rewrite_hosts_command(const std::string& name, const std::string& address) {
  return fmt::format(
      "sed -i -E {} /etc/hosts && printf '%s\\n' {} >> /etc/hosts",
      quote_shell(fmt::format("s/([[:blank:]]){}([[:blank:]]|$)/\\1\\2/g;/^[^#[:blank:]]+[[:blank:]]*$/d",
                              sed_pattern(name))),
      quote_shell(fmt::format("{} {}", address, name)));
}

Finding differing_name(const std::string& name, const View& view, const RightView& right) {
  const std::size_t others = right.view->hosts.size();
  Finding finding;
  finding.id = "NAME-04";
  finding.verdict = Verdict::fail;
  for (const HostReport* host : view.hosts) finding.hosts.push_back(host->host);
  const auto text = [](const View& one) {
    return join(std::vector(one.addresses.begin(), one.addresses.end()), ", ");
  };
  finding.observed = fmt::format("{} is {} here, {} to {} other host{}", name, text(view), text(*right.view),
                                 others, others == 1 ? "" : "s");
  finding.expected = "one table of names on all hosts";
  finding.why = "ranks connect to another host than their peers, or to none: a hang, or a refused connection";
  finding.remedy.commands = {rewrite_hosts_command(name, right.address)};
  finding.remedy.needs_root = true;
  finding.remedy.note = "if the names come from DNS there, mend that instead: getent hosts " + name;
  if (!right.trusted) finding.remedy = as_advice(std::move(finding.remedy), right.source);
  return finding;
}

}  // namespace

std::vector<Finding> check_names_resolve(const CheckInput& input) {
  const std::set<std::string> wanted = names_of_job(input);
  std::optional<Addresses> addresses;  // only where something is missing
  const auto known = [&]() -> const Addresses& {
    if (!addresses) addresses = known_addresses(input);
    return *addresses;
  };
  std::vector<Finding> findings = evaluate_each(
      input, "NAME-01", [&](const HostReport& host) { return evaluate_names(input, wanted, known, host); },
      "names");
  evaluate_names_of_driver_host(input, wanted, known, findings);
  return findings;
}

std::vector<Finding> check_own_name(const CheckInput& input) {
  if (input.hosts.size() < 2)
    return single_finding("NAME-03", skip("only one host: no other host resolves it"));
  const std::string command = own_name_command(input);
  return evaluate_each(
      input, "NAME-03", [&](const HostReport& host) { return evaluate_own_name(command, host); }, "names");
}

std::vector<Finding> check_same_tables(const CheckInput& input) {
  std::vector<Finding> findings;
  const auto views = collect_views(input);
  const std::vector<HostNetworks> networks = known_networks(input);
  for (const auto& [name, of_name] : views) {
    if (of_name.size() < 2 || findings.size() >= 16) continue;
    const RightView right = find_right_view(networks, name, of_name);
    for (const View& view : of_name) {
      if (&view == right.view) continue;
      const bool shares = std::any_of(view.addresses.begin(), view.addresses.end(), [&](const auto& address) {
        return right.view->addresses.contains(address);
      });
      if (shares) continue;  // more or fewer addresses of the same host
      findings.push_back(differing_name(name, view, right));
    }
  }
  if (!findings.empty()) return findings;
  if (input.hosts.size() < 2) return single_finding("NAME-04", skip("only one host"));
  if (views.empty()) return single_finding("NAME-04", skip("no host reported what names resolve to"));
  return single_finding("NAME-04", pass(fmt::format("{} names mean the same on all hosts", views.size())));
}

namespace {

constexpr double slow_seconds = 5, very_slow_seconds = 10;
constexpr std::size_t few_hosts = 8;  // more at once slow each other down

CheckResult evaluate_connect(const HostReport& host, double median, std::size_t hosts) {
  const double seconds = host.reach.connect_seconds;
  if (host.reach.attempts > 1)
    return skip("connected only on a later attempt: its time is not meaningful (SSH-06)");
  const bool by_itself = hosts <= few_hosts || seconds > 2 * median;
  if (seconds < slow_seconds || !by_itself) return pass("connections came up in time");
  return {
      seconds < very_slow_seconds ? Verdict::warn : Verdict::fail,
      fmt::format("the connection took {:.1f} s, {:.1f} s is the middle of all hosts", seconds, median),
      fmt::format("less than {:.0f} s", slow_seconds),
      "mostly sshd asking a name server that does not answer; each start of the job pays for it",
      {{"sed -i '/^[#[:blank:]]*UseDNS/d' /etc/ssh/sshd_config && echo 'UseDNS no' >> /etc/ssh/sshd_config "
        "&& (systemctl reload ssh || systemctl reload sshd)"},
       true,
       false,
       "or mend the reverse lookup of the driver host's address there"}};
}

}  // namespace

std::vector<Finding> check_connect_time(const CheckInput& input) {
  std::vector<double> times;
  for (const HostReport& host : input.hosts) {
    if (host.reach.problem.empty()) times.push_back(host.reach.connect_seconds);
  }
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  return evaluate_each(input, "NAME-08",
                       [&](const HostReport& host) { return evaluate_connect(host, median, times.size()); });
}

}  // namespace ddlrun::doctor
