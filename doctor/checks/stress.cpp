// SPDX-License-Identifier: MIT
// STRESS-01, 02: the network between hosts, and the GPUs of a host, under load.
#include "base/text/text.hpp"
#include "doctor/checks/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ddlrun::doctor {
namespace {

// The best that each host reached with a neighbour: a good host beside a slow one has another neighbour.
std::map<std::string, std::uint64_t, std::less<>> best_of_pairs(const Facts& driver_host) {
  std::map<std::string, std::uint64_t, std::less<>> best;
  for (const std::string_view line : driver_host.list("stress.pairs")) {
    const auto words = split(line, ' ');
    const auto speed = words.size() == 3 ? parse_unsigned(words[2]) : std::nullopt;
    if (!speed) continue;
    for (const std::string_view host : {words[0], words[1]}) {
      std::uint64_t& value = best[std::string(host)];
      value = std::max(value, *speed);
    }
  }
  return best;
}

std::string render_speed(std::uint64_t megabytes) {
  return fmt::format("{:.2f} GB/s", static_cast<double>(megabytes) / 1000);
}

CheckResult evaluate_network(const HostReport& host, std::uint64_t speed, std::uint64_t median) {
  if (speed * 2 >= median) return pass("");
  return verdict_of(
      Verdict::warn, fmt::format("at best {} with a neighbour", render_speed(speed)),
      fmt::format("at least half of {}, the median", render_speed(median)),
      "every allreduce waits for this host",
      as_root({"ip -s link", "tc qdisc show", "ethtool $(ip route show default | awk '{print $5; exit}')"},
              fmt::format("look for a slower link, errors or a limit on {}, and for what else runs there",
                          host.host)));
}

std::vector<Finding> check_network(const CheckInput& input) {
  const Facts& driver_host = input.driver_host.facts;
  const auto all = driver_host.number("stress.all");
  if (!all) {
    const std::string why = driver_host.why_missing("stress.all");
    return single_finding("STRESS-01", skip(why == "not gathered" ? "no load was put on the network" : why));
  }
  const auto best = best_of_pairs(driver_host);
  std::vector<std::uint64_t> values;
  for (const auto& [host, speed] : best) values.push_back(speed);
  std::sort(values.begin(), values.end());
  const std::uint64_t median = values.empty() ? 0 : values[values.size() / 2];
  std::string summary = fmt::format("{} over {}", render_speed(*all),
                                    count_of(driver_host.number("stress.hosts").value_or(0), "host"));
  if (median > 0) summary += fmt::format(", {} between neighbours (median)", render_speed(median));
  return evaluate_each(input, "STRESS-01", [&](const HostReport& host) {
    const auto at = best.find(host.host);
    if (!best.empty() && at == best.end()) return skip("not among the first 64 hosts");
    CheckResult result = best.empty() ? pass("") : evaluate_network(host, at->second, median);
    if (result.verdict == Verdict::pass) result.observed = summary;
    return result;
  });
}

// The middle of what hosts reached, in hundredths of GB/s; 0 if fewer than two report it.
std::uint64_t median_of(const CheckInput& input, std::string_view fact) {
  std::vector<std::uint64_t> values;
  for (const HostReport& host : input.hosts) {
    if (const auto value = host.facts.number(fact)) values.push_back(*value);
  }
  if (values.size() < 2) return 0;
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

CheckResult evaluate_gpu_allreduce(const HostReport& host, std::uint64_t median) {
  const auto speed = host.facts.number("nccl.load.busbw");
  if (!speed) return skip_for_stress(host, "nccl.load.busbw");
  const auto wrong = host.facts.number("nccl.wrong").value_or(0);
  if (wrong > 0) {
    return verdict_of(
        Verdict::fail, fmt::format("all_reduce_perf: {}", count_of(wrong, "wrong value")), "0",
        "gradients are summed wrongly",
        as_user({"NCCL_P2P_DISABLE=1 all_reduce_perf -b 64M -e 256M -f 2 -g 8"}, "see P2P-03 and P2P-05"));
  }
  if (*speed * 2 < median) {
    return verdict_of(
        Verdict::warn, fmt::format("{:.1f} GB/s bus bandwidth", static_cast<double>(*speed) / 100),
        fmt::format("at least half of {:.1f} GB/s, the median", static_cast<double>(median) / 100),
        "this host holds up all others",
        as_user({"nvidia-smi topo -m", "nvidia-smi nvlink -s"},
                "compare NVLink, PCIe and clocks with a fast host"));
  }
  return pass("all_reduce_perf over the host's GPUs: right, at least half the median's speed");
}

std::vector<Finding> check_gpu_allreduce(const CheckInput& input) {
  const std::uint64_t median = median_of(input, "nccl.load.busbw");
  return evaluate_where(input, "STRESS-02", skip_without_gpu, "gpu-stress",
                        [&](const HostReport& host) { return evaluate_gpu_allreduce(host, median); });
}

}  // namespace

std::span<const Check> stress_checks() {
  static constexpr Check table[] = {
      {"STRESS-01", "allreduce bandwidth", Level::stress, Place::pairs,
       "One host with a slow link holds up every allreduce of all others.",
       "ddl-train allreduce of 16 MiB, one rank a host, over all hosts (at most 64) and between neighbours "
       "in a ring of them, through the job's mpirun. Bandwidth is 2 (n-1)/n x bytes / time. warn: a host "
       "whose better neighbour still gives less than half of the median; a slow pair is tried twice. There "
       "is no fail. Inside Slurm and PBS only all hosts together.",
       "Link speed and errors (ip -s link, ethtool), limits (tc), what else runs on the host.",
       check_network},
      {"STRESS-02", "allreduce over the GPUs of a host", Level::stress, Place::pairs,
       "One host whose GPUs exchange data slowly holds up the whole job.",
       "all_reduce_perf of nccl-tests over all GPUs of each host, where installed. fail: wrong values. warn: "
       "less than half the bus bandwidth of the median host.",
       "Compare NVLink, PCIe and clocks with a fast host.", check_gpu_allreduce},
  };
  return table;
}

}  // namespace ddlrun::doctor
