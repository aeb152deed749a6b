// SPDX-License-Identifier: MIT
// IB-01..06: ports: state, rate, partitions, subnet manager, errors, flaps.
#include "base/text/text.hpp"
#include "doctor/checks/device.hpp"
#include "doctor/model/link_counters.hpp"
#include "doctor/parse/hex.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace ddlrun::doctor {
namespace {

// Ports that are up on some host of the job: the same port down elsewhere is missed there.
std::set<std::string> ports_in_use(const CheckInput& input) {
  std::set<std::string> in_use;
  for (const HostReport& host : input.hosts) {
    for (const PortFacts& port : ports_of(host)) {
      if (port.is_active()) in_use.insert(port.label());
    }
  }
  return in_use;
}

std::string state_of(const PortFacts& port) {
  return fmt::format("{} {} ({})", port.label(), port.text("state").value_or("?"),
                     port.text("phys").value_or("?"));
}

// Ports of a card without cables are no fault; a port is missed where it is up on another host, or where
// it is InfiniBand and no port of the host is up.
void evaluate_rdma_port(const PortFacts& port, bool missed, Worst& worst) {
  const auto state = port.text("state");
  if (!state || port.is_active()) return;
  if (*state == "INIT" || *state == "ARMED") {
    worst.add(Verdict::warn, state_of(port));
  } else if (missed) {
    worst.add(Verdict::fail, state_of(port));
  }
}

CheckResult evaluate_rdma_ports(const HostReport& host, const std::set<std::string>& in_use) {
  Worst worst;
  const auto ports = ports_of(host);
  if (ports.empty()) return skip("the RDMA devices have no ports");
  std::vector<std::string> active;
  for (const PortFacts& port : ports) {
    if (port.is_active()) active.push_back(port.label());
  }
  for (const PortFacts& port : ports) {
    evaluate_rdma_port(port, in_use.contains(port.label()) || (port.is_infiniband() && active.empty()),
                       worst);
  }
  if (worst.verdict() == Verdict::pass) {
    return active.empty() ? skip("no RDMA port is up on any host") : pass("ACTIVE: " + join(active, ", "));
  }
  const bool down = worst.verdict() == Verdict::fail;
  return verdict_of(
      worst.verdict(), worst.text(), "ACTIVE (LinkUp)",
      "MPI and NCCL silently fall back to TCP, or end with 'no active ports found'",
      as_root(down ? std::vector<std::string>{"ibstat", "ip -br link"}
                   : std::vector<std::string>{"ibstat", "sminfo"},
              down ? "check cable, transceiver and the switch's port"
                   : "the link is up but no subnet manager has configured it: start opensm on one host, or "
                     "the one in the switch"));
}

std::vector<Finding> check_state(const CheckInput& input) {
  const auto in_use = ports_in_use(input);
  return evaluate_where(input, "IB-01", skip_without_rdma, "devices",
                        [&](const HostReport& host) { return evaluate_rdma_ports(host, in_use); });
}

// "100 Gb/sec (4X EDR)" -> 100
double rate_of(std::string_view text) {
  double rate = 0;
  for (const char digit : text.substr(0, text.find_first_not_of("0123456789")))
    rate = rate * 10 + (digit - '0');
  return rate;
}

struct Rates {
  std::map<std::string, std::size_t, std::greater<>> ports;  // "100 Gb/sec (4X EDR) InfiniBand" -> how many
  double total = 0;
  std::size_t count = 0;
};

Rates rates_of(const HostReport& host) {
  Rates rates;
  for (const PortFacts& port : ports_of(host)) {
    const auto rate = port.text("rate");
    if (!port.is_active() || !rate) continue;
    ++rates.ports[fmt::format("{} {}", *rate, port.text("layer").value_or(""))];
    rates.total += rate_of(*rate);
    ++rates.count;
  }
  return rates;
}

std::optional<std::string> render_rates(const HostReport& host) {
  std::vector<std::string> parts;
  for (const auto& [rate, count] : rates_of(host).ports) parts.push_back(fmt::format("{} x {}", count, rate));
  return parts.empty() ? std::nullopt : std::optional(join(parts, " + "));
}

std::vector<Finding> check_rate(const CheckInput& input) {
  const auto groups = group_by_value(input, render_rates);
  CheckResult words;
  Verdict otherwise = Verdict::warn;
  if (groups.size() > 1) {
    const auto find = [&](const std::string& name) {
      return *std::find_if(input.hosts.begin(), input.hosts.end(),
                           [&](const HostReport& h) { return h.host == name; });
    };
    const std::size_t common = rates_of(find(groups[0].hosts[0])).count;
    for (std::size_t i = 1; i < groups.size(); ++i) {
      if (rates_of(find(groups[i].hosts[0])).count < common) otherwise = Verdict::fail;
    }
  }
  words.why = otherwise == Verdict::fail
                  ? "a host with fewer ports holds up every collective"
                  : "a port that came up slower than the others (downshift) holds up every collective";
  words.remedy = as_root(
      {"ibstat", "for device in /sys/class/infiniband/*; do mlxlink -d \"${device##*/}\" -m -c; done"},
      "reinsert or replace the cable of the slower or missing port");
  return check_equal(input, "IB-02", otherwise, render_rates, words, "no RDMA port is up");
}

// Partition -> whether this host is a full member of it.
std::map<std::uint64_t, bool> partitions_of(const HostReport& host) {
  std::map<std::uint64_t, bool> partitions;
  for (const PortFacts& port : ports_of(host)) {
    if (!port.is_active() || !port.is_infiniband()) continue;
    for (const std::string_view text : host.facts.list(port.name("pkeys"))) {
      const auto key = parse_hex(text);
      if (key && *key > 0 && *key <= 0xffff) partitions[*key & 0x7fff] |= (*key & 0x8000) != 0;
    }
  }
  return partitions;
}

std::optional<std::string> render_partitions(const HostReport& host) {
  std::vector<std::string> keys;
  for (const auto& [base, full] : partitions_of(host))
    keys.push_back(fmt::format("0x{:04x}", base | (full ? 0x8000u : 0u)));
  return keys.empty() ? std::nullopt : std::optional("P_Keys " + join(keys, " "));
}

// Two limited members of a partition cannot communicate: pass needs a partition where all are full.
Verdict evaluate_partitions(const CheckInput& input) {
  std::map<std::uint64_t, std::size_t> members, full_members;
  std::size_t hosts = 0;
  for (const HostReport& host : input.hosts) {
    const auto partitions = partitions_of(host);
    hosts += partitions.empty() ? 0 : 1;
    for (const auto& [base, full] : partitions) {
      ++members[base];
      if (full) ++full_members[base];
    }
  }
  const auto of_all = [&](const auto& counts) {
    return std::any_of(counts.begin(), counts.end(),
                       [&](const auto& entry) { return entry.second == hosts; });
  };
  return of_all(full_members) ? Verdict::pass : of_all(members) ? Verdict::warn : Verdict::fail;
}

std::vector<Finding> check_partitions(const CheckInput& input) {
  CheckResult words;
  words.expected = "one partition of which all hosts are full members (bit 0x8000)";
  words.why =
      "hosts without a common partition do not reach each other over InfiniBand, although all ports are "
      "ACTIVE";
  words.remedy = as_root(
      {"cat /sys/class/infiniband/*/ports/*/pkeys/* | sort | uniq -c"},
      "ask the fabric's administrator to change the partitions in the subnet manager (partitions.conf); "
      "to choose among common ones: NCCL_IB_PKEY, UCX_IB_PKEY");
  const Verdict verdict = evaluate_partitions(input);
  const auto groups = group_by_value(input, render_partitions);
  if (verdict == Verdict::pass || groups.empty()) {  // different sets with a partition for all are no fault
    return evaluate_where(input, "IB-03", skip_without_rdma, "devices", [](const HostReport& host) {
      const auto seen = render_partitions(host);
      return seen ? pass(*seen) : skip("no active InfiniBand port");
    });
  }
  if (groups.size() > 1) {
    return check_equal(input, "IB-03", verdict, render_partitions, words, "no active InfiniBand port");
  }
  words.verdict = Verdict::warn;
  words.observed = groups[0].value + ": limited members only";
  return single_finding("IB-03", words, groups[0].hosts);
}

CheckResult evaluate_subnet_manager(const HostReport& host) {
  std::vector<std::string> without, with;
  for (const PortFacts& port : ports_of(host)) {
    const auto lid = port.number("sm_lid");
    // A port without a link has no subnet manager either; IB-01 reports it.
    if (!port.is_infiniband() || !lid || !port.is("phys", "LinkUp")) continue;
    (*lid == 0 ? without : with).push_back(port.label());
  }
  if (without.empty() && with.empty()) return skip("no InfiniBand port with a link");
  if (without.empty()) return pass("subnet manager known to " + join(with, ", "));
  return verdict_of(Verdict::fail, "sm_lid 0 on " + join(without, ", "), "the LID of a subnet manager",
                    "without a subnet manager ports get no address and stay in INIT",
                    as_root({"sminfo", "systemctl enable --now opensm"},
                            "opensm on one host of the fabric is enough, where the switch has none"));
}

std::vector<Finding> check_subnet_manager(const CheckInput& input) {
  return evaluate_where(input, "IB-04", skip_without_rdma, "devices", evaluate_subnet_manager);
}

constexpr std::uint64_t tolerated_an_hour = 10;

void evaluate_counters(const PortFacts& port, std::uint64_t tolerated, Worst& worst) {
  for (const char* counter : link_counters) {
    const std::string name = counter;
    const std::uint64_t growth = port.number("delta." + name).value_or(0),
                        total = port.number("error." + name).value_or(0);
    if (growth > 0) {
      worst.add(Verdict::fail, fmt::format("{} {} grew by {} within {} s", port.label(), name, growth,
                                           port.facts.number("ib.delta.seconds").value_or(1)));
    } else if (total > tolerated) {
      worst.add(Verdict::warn, fmt::format("{} {} {}", port.label(), name, total));
    }
  }
}

CheckResult evaluate_errors(const HostReport& host) {
  const std::uint64_t hours = host.facts.number("ib.uptime").value_or(0) / 3600;
  const std::uint64_t tolerated = std::max<std::uint64_t>(1, hours) * tolerated_an_hour;
  Worst worst;
  bool known = false;
  for (const PortFacts& port : ports_of(host)) {
    if (!port.is_active()) continue;
    known |=
        port.number("error.symbol_error").has_value() || port.number("error.port_rcv_errors").has_value();
    evaluate_counters(port, tolerated, worst);
  }
  if (!known && worst.verdict() == Verdict::pass) return skip("no active port has error counters");
  if (worst.verdict() == Verdict::pass) return pass("error counters do not grow");
  return verdict_of(
      worst.verdict(), worst.text(),
      fmt::format("no growth, at most {} an hour since the host started", tolerated_an_hour),
      "packets are sent again: bandwidth falls, and in the end 'retry exceeded' (error 12) stops the job",
      as_root(
          {"perfquery -x", "ibqueryerrors --counters -s PortXmitWait"},
          "reinsert, clean or replace cable and transceiver of the port; perfquery -R sets the counters back "
          "to zero afterwards"));
}

std::vector<Finding> check_errors(const CheckInput& input) {
  return evaluate_where(input, "IB-05", skip_without_rdma, "fabric-counters", evaluate_errors);
}

constexpr std::uint64_t flap_seconds = 6 * 3600;

CheckResult evaluate_flaps(const HostReport& host) {
  if (!host.facts.text("log.source")) return skip(host.facts.why_missing("log.source"));
  std::map<std::string, std::size_t> flaps;
  for (const std::string_view line : host.facts.list("log.error.link")) {
    const std::size_t blank = line.find(' ');
    const auto age = blank == std::string_view::npos ? std::nullopt : parse_unsigned(line.substr(0, blank));
    if (age && *age < flap_seconds) ++flaps[std::string(line.substr(blank + 1))];
  }
  if (flaps.empty()) return pass("no link went down in the last 6 h");
  Worst worst;
  for (const auto& [name, count] : flaps) {
    worst.add(count >= 2 ? Verdict::fail : Verdict::warn,
              fmt::format("{} went down {} in 6 h", name, count_of(count, "time")));
  }
  return verdict_of(worst.verdict(), worst.text(), "0",
                    "a link that goes down during a collective stops the job",
                    as_root({"dmesg -T | grep -i -e 'link down' -e 'lost carrier' | tail"},
                            "take the host out of the job and have cable and transceiver inspected"));
}

std::vector<Finding> check_flaps(const CheckInput& input) {
  return evaluate_where(input, "IB-06", skip_without_rdma, "device-log", evaluate_flaps);
}

}  // namespace

std::span<const Check> infiniband_checks() {
  static constexpr Check table[] = {
      {"IB-01", "RDMA ports up", Level::quick, Place::host,
       "MPI and NCCL fall back to TCP without a word when no port is active.",
       "/sys/class/infiniband/*/ports/*/state and phys_state. pass: ACTIVE. warn: INIT or ARMED (no subnet "
       "manager). fail: down, where the same port is up on another host, or where it is InfiniBand and no "
       "port of the host is up. Ports that are down everywhere were never cabled and do not count.",
       "Cable, transceiver, switch port; opensm.", check_state},
      {"IB-02", "RDMA ports equal", Level::quick, Place::pairs,
       "The host with the slowest or fewest ports sets the pace.",
       "Rate and link layer of all active ports, compared between hosts. warn: a rate differs (downshift). "
       "fail: a host has fewer active ports than most.",
       "mlxlink -d DEVICE; reinsert or replace the cable.", check_rate},
      {"IB-03", "InfiniBand partitions", Level::quick, Place::pairs,
       "Hosts in different partitions do not reach each other although all ports are up.",
       "P_Key tables of active InfiniBand ports. pass: some partition has all hosts as full members (bit "
       "0x8000). warn: all share one, but some as limited members. fail: none is common to all.",
       "The fabric's administrator changes partitions.conf; NCCL_IB_PKEY.", check_partitions},
      {"IB-04", "subnet manager", Level::quick, Place::host, "Without a subnet manager ports get no address.",
       "sm_lid of InfiniBand ports with a link. fail: 0. RoCE has none: skip.", "Start opensm on one host.",
       check_subnet_manager},
      {"IB-05", "RDMA error counters", Level::quick, Place::host,
       "Errors on the wire cost bandwidth first and the job later.",
       "symbol_error, link_error_recovery, link_downed and port_rcv_errors of active ports, twice: 1 s "
       "apart, 5 s at --full. fail: one grew. warn: more than 10 for each hour since the host started.",
       "Cable and transceiver.", check_errors},
      {"IB-06", "link flaps", Level::quick, Place::host, "A link that went down comes down again.",
       "Lines 'link down' or 'lost carrier' of RDMA devices and their interfaces in the kernel's log, "
       "without the first 2 minutes after the start. warn: 1 within 6 h. fail: 2 or more. skip: the log is "
       "not readable.",
       "Drain; inspect cable and transceiver.", check_flaps},
  };
  return table;
}

}  // namespace ddlrun::doctor
