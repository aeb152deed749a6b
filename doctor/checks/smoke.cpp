// SPDX-License-Identifier: MIT
// The result of the smoke run of level full: mpirun over all hosts, then an allreduce of four bytes.
#include "base/text/text.hpp"
#include "doctor/checks/software.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace ddlrun::doctor {

namespace {

constexpr double quick_seconds = 10;

double smoke_seconds(const HostReport& driver_host, std::string_view name) {
  const std::string text = text_of(driver_host, name).value_or("0");
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The usual meaning of mpirun's messages; the other checks name the host.
struct Hint {
  std::string_view words, what;
};
constexpr std::array hints{
    Hint{"run as root", "see MPI-09"},
    Hint{"command not found", "see SSH-05"},
    Hint{"Host key verification failed", "see SSH-02"},
    Hint{"Permission denied", "see SSH-01, SSH-03"},
    Hint{"mismatch in versions", "see MPI-01"},
    Hint{"not enough slots", "give the hosts slots in the hostfile: h1 slots=4"},
    Hint{"already filled", "give the hosts slots in the hostfile: h1 slots=4"},
    Hint{"no end within", "see MPI-04 and NET-03: interfaces that do not reach each other, filtered ports"},
    Hint{"unable to reach", "see MPI-04 and NET-03"},
    Hint{"unable to find the specified executable", "see SW-01"},
};

Remedy look_closer(const CheckInput& input, std::string_view stderr_text) {
  std::string note = "run it by hand; with more words: --mca plm_base_verbose 10 --mca oob_base_verbose 10";
  for (const Hint& hint : hints) {
    if (stderr_text.find(hint.words) == std::string_view::npos) continue;
    note = fmt::format("{}; else {}", hint.what, note);
    break;
  }
  return {{text_of(input.driver_host, "smoke.command").value_or("mpirun hostname")},
          false,
          true,
          std::move(note)};
}

std::vector<Finding> check_smoke(const CheckInput& input) {
  const Facts& facts = input.driver_host.facts;
  const auto all = static_cast<std::size_t>(
      std::count_if(input.hosts.begin(), input.hosts.end(),
                    [](const HostReport& host) { return host.reach.problem.empty(); }));
  const auto once = [](CheckResult result) { return single_finding("MPI-06", std::move(result)); };
  if (const auto why = text_of(input.driver_host, "smoke.left_out")) return once(skip(*why));
  if (!facts.has("smoke.seconds"))
    return once(skip(input.level == Level::quick ? "nothing is started at level quick"
                                                 : "no mpirun on the driver host"));
  if (!facts.text("smoke.seconds")) {
    const std::string stderr_text = facts.why_missing("smoke.seconds");
    return once(fail(fmt::format("mpirun ... hostname failed: {}", stderr_text),
                     fmt::format("{} host names within {} s", all, quick_seconds),
                     "the job would end in the same way", look_closer(input, stderr_text)));
  }
  const auto count = facts.number("smoke.count").value_or(0);
  if (count != all)
    return once(fail(fmt::format("{} of {} ranks printed their host's name", count, all), "one each",
                     "ranks get lost on the way", look_closer(input, "")));
  const double seconds = smoke_seconds(input.driver_host, "smoke.seconds");
  const auto latency = text_of(input.driver_host, "smoke.allreduce.latency");
  const bool tried =
      facts.why_missing("smoke.allreduce.latency").find("ddl-train is not") == std::string::npos;
  if (!latency && tried) {
    const std::string stderr_text = facts.why_missing("smoke.allreduce.latency");
    return once(fail(
        fmt::format("hostname ran on all {} hosts, an allreduce of 4 bytes did not: {}", all, stderr_text),
        "a sum from all ranks", "ranks start but do not reach each other: wrong interface, filtered ports",
        look_closer(input, stderr_text)));
  }
  if (latency && facts.number("smoke.allreduce.ranks") != all) {
    return once(fail(fmt::format("{} ranks took part in the allreduce of {}",
                                 facts.text("smoke.allreduce.ranks").value_or("?"), all),
                     fmt::format("{} ranks", all),
                     "each rank is alone, as rank 0 of 1: the program's MPI is not mpirun's",
                     look_closer(input, "")));
  }
  const std::string summary =
      fmt::format("{} hosts in {:.1f} s{}", all, seconds,
                  latency ? fmt::format(", the first allreduce of 4 bytes in {:.1f} ms",
                                        smoke_seconds(input.driver_host, "smoke.allreduce.latency") * 1e3)
                          : "; no allreduce: " + facts.why_missing("smoke.allreduce.latency"));
  if (seconds <= quick_seconds) return once(pass(summary));
  return once(warn(summary, fmt::format("{} s", quick_seconds),
                   "each start takes as long: look at name resolution and at slow logins (NAME-08)",
                   look_closer(input, "")));
}

}  // namespace

std::span<const Check> smoke_checks() {
  static constexpr std::array<Check, 1> table{{
      {"MPI-06", "a smoke run", Level::full, Place::pairs,
       "All parts may be right and the whole still not start: the shortest real run shows it.",
       "mpirun with one rank on each host that answered runs `hostname`, then an allreduce of 4 bytes "
       "(ddl-train allreduce, where it lies at one path on all hosts). pass: within 10 s; warn: within 60 s; "
       "fail: an error, a missing rank, no end.",
       "See mpirun's message, and the checks that it points to.", check_smoke},
  }};
  return table;
}

}  // namespace ddlrun::doctor
