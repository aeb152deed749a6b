// SPDX-License-Identifier: MIT
// TIME: do the hosts agree on the time?
#include "base/text/text.hpp"
#include "doctor/checks/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ddlrun::doctor {

namespace {

constexpr double warn_seconds = 1, fail_seconds = 30;

// What is certain: the measured offset less its error.
double certain_offset(const Reach& reach) {
  return std::max(0.0, std::abs(*reach.clock_offset_seconds) - reach.clock_error_seconds);
}

std::string render_seconds(double seconds) {
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1000);
  return seconds < 100 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

Remedy clock_remedy(const HostReport& host) {
  const auto service = host.facts.text("clock.service");
  if (!service) {
    return {
        {"apt-get install -y chrony || dnf install -y chrony"},
        true,
        false,
        "then: chronyc makestep; in a container or a virtual machine the clock is the host's: mend it there"};
  }
  const std::string unit = quote_shell(*service);
  Remedy remedy{{"systemctl enable --now " + unit}, true, false, ""};
  if (service->starts_with("chrony")) remedy.commands.push_back("chronyc makestep");
  if (*service == "systemd-timesyncd") remedy.commands.push_back("systemctl restart " + unit);
  remedy.note = "in a container or a virtual machine the clock is the host's: mend it there";
  return remedy;
}

CheckResult evaluate_offset(const CheckInput&, const HostReport& host) {
  const Reach& reach = host.reach;
  if (reach.via == Via::local) return pass("the driver host's own clock");
  if (!reach.clock_offset_seconds || !std::isfinite(*reach.clock_offset_seconds))
    return skip("the offset was not measured");
  const double offset = certain_offset(reach);
  if (offset <= warn_seconds) return pass("within 1 s of the driver host's clock");
  CheckResult result;
  result.verdict = offset > fail_seconds ? Verdict::fail : Verdict::warn;
  result.observed = fmt::format(
      "{} {} the driver host's clock (+- {})", render_seconds(std::abs(*reach.clock_offset_seconds)),
      *reach.clock_offset_seconds > 0 ? "ahead of" : "behind", render_seconds(reach.clock_error_seconds));
  result.expected = "at most 1 s";
  result.why = offset > fail_seconds ? "munge refuses messages 300 s old (\"Expired credential\", "
                                       "\"Rewound credential\"), and logs and files of the hosts cannot "
                                       "be put in order"
                                     : "logs and files of the hosts cannot be put in order";
  result.remedy = clock_remedy(host);
  return result;
}

CheckResult evaluate_synchronised(const CheckInput&, const HostReport& host) {
  const auto state = host.facts.text("clock.synchronised");
  if (!state) return skip_missing(host.facts, "clock.synchronised");
  if (*state == "yes") return pass("the kernel's clock is synchronised");
  if (!host.reach.clock_offset_seconds || !std::isfinite(*host.reach.clock_offset_seconds))
    return pass("not synchronised by the kernel's word; the offset was not measured");
  const double offset = certain_offset(host.reach);
  if (offset <= warn_seconds)
    return pass("not synchronised by the kernel's word, but within 1 s of the driver host");
  return {Verdict::warn, fmt::format("not synchronised, and {} off", render_seconds(offset)), "synchronised",
          "nothing will bring this clock back; it drifts further", clock_remedy(host)};
}

}  // namespace

std::span<const Check> time_checks() {
  static const std::array<Check, 2> table{{
      {"TIME-01", "clock offset", Level::quick, Place::host,
       "munge (Slurm) refuses credentials that are 300 s old or from the future, Kerberos likewise; and "
       "the logs of a failed job cannot be put in order.",
       "The host's clock when it answers, against the middle of the round trip on the driver host; only what "
       "exceeds the error of that counts. pass: at most 1 s. warn: more. fail: more than 30 s.",
       "chrony or another NTP service on the named hosts.",
       [](const CheckInput& input) { return evaluate_hosts(input, "TIME-01", evaluate_offset, ""); }},
      {"TIME-02", "clock is kept", Level::quick, Place::host,
       "A clock that nothing keeps right drifts by seconds a day.",
       "adjtimex. pass: synchronised, or not but within 1 s of the driver host (in virtual machines and "
       "containers the host keeps the clock). warn: not synchronised and more than 1 s off.",
       "systemctl enable --now chrony.",
       [](const CheckInput& input) {
         return evaluate_hosts(input, "TIME-02", evaluate_synchronised, "clock");
       }},
  }};
  return table;
}

}  // namespace ddlrun::doctor
