// SPDX-License-Identifier: MIT
// Checks: pure functions from facts to findings, all run on the driver host. A check is a row in its
// subject's table.
#pragma once

#include "doctor/model/facts.hpp"
#include "doctor/model/finding.hpp"
#include "doctor/model/probe_request.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

enum class Via { ssh, srun, pbsdsh, mpirun, local };  // the path by which a host was reached
std::string_view via_name(Via via);
std::string join_paths(const std::vector<Via>& paths, std::string_view separator);  // "ssh and srun"

// How reaching a host went. `problem` empty = its facts are here.
struct Reach {
  Via via = Via::ssh;
  std::string problem;         // for people: the last message of ssh or the launcher; "no answer within 10 s"
  std::string problem_kind;    // "no-key", "unknown-host-key", "changed-host-key", "unknown-name", "refused",
                               // "timeout", "no-route", "kex-reset", "agent", "other"
  std::string stderr_text;     // the launcher's whole stderr, printable, at most 2 KiB
  std::string relay;           // the host through which it was reached, "" = none
  int attempts = 1;            // more than one: kex resets on the way
  double connect_seconds = 0;  // until the first word came back
  std::uint64_t noise_bytes = 0;               // what shell start-up files printed on stdout before that
  std::string noise_start;                     // its first line, printable
  std::optional<double> clock_offset_seconds;  // host minus driver host
  double clock_error_seconds = 0;              // plus or minus
};

struct HostReport {
  std::string host;
  Reach reach;
  Facts facts;
  std::map<std::string, std::string>
      failed_gatherers;  // name -> why ("no answer within 5 s", "died of signal 11")
};

struct CheckInput {
  const Job& job;
  Level level = Level::quick;
  const HostReport&
      driver_host;  // gathered on the driver host itself; probes of the whole job put their facts here
  std::span<const HostReport> hosts;                     // in the order of the host list, by the first path
  std::span<const std::vector<HostReport>> other_paths;  // the same hosts by the other --via paths
};

enum class Place { driver_host, host, pairs };  // where it is read: shown by --explain

struct Check {
  std::string_view id;     // "LIM-01"
  std::string_view title;  // "locked memory"
  Level level = Level::quick;
  Place place = Place::host;
  std::string_view why;     // --explain: what goes wrong without it, one or two sentences
  std::string_view how;     // --explain: what is read, with paths, and the thresholds of each verdict
  std::string_view remedy;  // --explain: what mends it in general
  std::vector<Finding> (*run)(const CheckInput& input);
};

std::span<const Check> system_checks();    // LIM, CPU-04.., DISK, DATA, DIR, TIME, SEC
std::span<const Check> name_checks();      // NAME, NET, MPI-04, SSH-03
std::span<const Check> software_checks();  // SSH, MPI, SW, CPU-01..03, 06, SCH
std::span<const Check> device_checks();    // GPU, P2P, IB, OPA, EFA
const std::vector<Check>& all_checks();    // in the order in which they are reported

// The result of a check for one host.
struct CheckResult {
  Verdict verdict = Verdict::pass;
  std::string observed;
  std::string expected;
  std::string why;
  Remedy remedy;
};

CheckResult pass(std::string observed);
CheckResult skip(std::string reason);
CheckResult warn(std::string observed, std::string expected, std::string why, Remedy remedy);
CheckResult fail(std::string observed, std::string expected, std::string why, Remedy remedy);

// Evaluates each host that answered and folds equal results into one finding; hosts that did not answer are
// left out (SSH-01 names them). A gatherer that failed there, if named, makes the verdict `error`.
std::vector<Finding> evaluate_each(const CheckInput& input, std::string_view id,
                                   const std::function<CheckResult(const HostReport&)>& evaluate,
                                   std::string_view gatherer = {});

// For "equal on all hosts": hosts grouped by a value, the largest group first (ties: the earlier host).
struct ValueGroup {
  std::string value;
  std::vector<std::string> hosts;
  std::map<std::string, std::size_t> relayed = {};  // how many of them answered through each relay
};
std::vector<ValueGroup> group_by_value(
    const CheckInput& input, const std::function<std::optional<std::string>(const HostReport&)>& value);

// pass where all are equal; else one finding of `otherwise` that names each group that is not the majority
// (in `hosts`) and shows all values in `observed`. Hosts without a value are a skip with `missing`.
// True where `groups` show what is right without a doubt: three hosts or more answered, and more than half of
// them have the first value, also without the hosts of any one relay. Below that, one host could decide for
// the others.
bool has_majority(const std::vector<ValueGroup>& groups);
bool is_majority(std::size_t with_the_value, std::size_t hosts);

// A remedy made of facts that only `source` reports: its commands become text, which no script runs.
Remedy as_advice(Remedy remedy, std::string_view source);

// True for a fact of one host that may stand in a command for another one: letters, digits and "./_+:@%=,~-",
// at most 300, without a leading "-". Quotes are no protection where a line is read twice, by ssh or as a
// line of ~/.bashrc.
bool is_command_word(std::string_view text);

std::vector<Finding> check_equal(const CheckInput& input, std::string_view id, Verdict otherwise,
                                 const std::function<std::optional<std::string>(const HostReport&)>& value,
                                 const CheckResult& words, std::string_view missing);

// One finding about the job as a whole or the driver host.
std::vector<Finding> single_finding(std::string_view id, CheckResult result,
                                    std::vector<std::string> hosts = {});

}  // namespace ddlrun::doctor
