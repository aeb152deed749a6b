// SPDX-License-Identifier: MIT
// The scheduler: does it answer, and are the hosts of the job in a state to run something.
#include "base/text/text.hpp"
#include "doctor/checks/software.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace ddlrun::doctor {

namespace {

bool is_from_scheduler(const Job& job) {
  return job.allocation_source == "SLURM_JOB_NODELIST" || job.allocation_source == "PBS_NODEFILE";
}

CheckResult evaluate_answer(const CheckInput& input) {
  const Facts& facts = input.driver_host.facts;
  const bool slurm = facts.has("scheduler.slurm.answer");
  const std::string fact = slurm ? "scheduler.slurm.answer" : "scheduler.pbs.answer";
  if (!slurm && !facts.has(fact)) return skip("no scheduler is set up on this host");
  if (facts.text(fact)) {
    std::vector<std::string> states;
    for (const std::string_view line : facts.list("scheduler.slurm.states")) states.emplace_back(line);
    return pass(slurm ? fmt::format("Slurm answers: {}", join(states, ", ")) : "PBS answers");
  }
  const std::string why = facts.why_missing(fact);
  if (why == "no sinfo in PATH" || why == "no qstat in PATH")
    return skip(fmt::format("{}: the scheduler cannot be asked", why));
  CheckResult result =
      warn(fmt::format("{} does not answer: {}", slurm ? "Slurm's controller" : "the PBS server", why),
           "an answer within 5 s", "nothing can be submitted, and a job that runs cannot start steps",
           {{slurm ? "systemctl restart slurmctld" : "systemctl restart pbs"},
            true,
            false,
            slurm ? "on the controller's host (SlurmctldHost in slurm.conf); without root: scontrol ping, "
                    "then inform the administrators"
                  : "on the server's host; without root inform the administrators"});
  if (is_from_scheduler(input.job)) result.verdict = Verdict::fail;
  return result;
}

std::vector<Finding> check_answer(const CheckInput& input) {
  return single_finding("SCH-01", evaluate_answer(input));
}

std::vector<Finding> check_script(const CheckInput&) {
  return single_finding("SCH-02", skip("no job script was given"));
}

CheckResult evaluate_warning(const CheckInput& input) {
  if (!is_from_scheduler(input.job)) return skip("not inside a scheduler's job");
  if (input.job.checkpoint_dir.empty()) return skip("no checkpoint directory was named");
  const auto wait = input.driver_host.facts.number("scheduler.slurm.kill_wait");
  return skip(fmt::format("how long a checkpoint takes is not known yet{}",
                          wait ? fmt::format("; Slurm's KillWait is {} s", *wait) : ""));
}

std::vector<Finding> check_warning(const CheckInput& input) {
  return single_finding("SCH-03", evaluate_warning(input));
}

std::vector<Finding> check_site_fields(const CheckInput&) {
  return single_finding("SCH-04", skip("no site profile was given"));
}

// Slurm uses the short name of a node.
std::string slurm_node_name(const std::string& host) { return host.substr(0, host.find('.')); }

bool is_held(std::string_view state) {
  return starts_with_any(
      state, {"down", "fail", "drain", "error", "unknown", "not_respond", "inval", "maint", "reboot"});
}

CheckResult evaluate_node_state(std::string_view text, const std::vector<std::string>& hosts) {
  const auto bar = text.find('|');
  const std::string state(text.substr(0, bar));
  const bool silent = state.ends_with('*');  // its daemon does not answer; down follows if it never does
  if (silent && !is_held(state))
    return skip(
        fmt::format("Slurm waits for its daemon's answer just now ({}): ask again in a minute", state));
  if (!is_held(state)) return pass(state.starts_with("mix") ? "mixed: other jobs run on it too" : state);
  const std::string reason = bar == std::string_view::npos ? "" : fmt::format(" ({})", text.substr(bar + 1));
  std::vector<std::string> names;
  for (const std::string& host : hosts) names.push_back(slurm_node_name(host));
  const std::string nodes = quote_shell(join(names, ","));
  const std::string note =
      fmt::format("when its reason is mended: scontrol show node {}", quote_shell(names.front()));
  if (silent) {
    return fail(
        fmt::format("Slurm's daemon there does not answer: {}{}", state, reason), "idle, allocated or mixed",
        "no job is started on it; one that requests it by name waits forever",
        {{"systemctl restart slurmd"},
         true,
         false,
         fmt::format("and look at the network between it and the controller; where it then stays down, "
                     "on the driver host: scontrol update NodeName={} State=RESUME",
                     nodes)});
  }
  return fail(fmt::format("Slurm holds it for {}{}", state, reason), "idle, allocated or mixed",
              "no job is started on it; one that requests it by name waits forever",
              {{fmt::format("scontrol update NodeName={} State=RESUME", nodes)}, true, true, note});
}

std::vector<Finding> check_nodes(const CheckInput& input) {
  if (!input.driver_host.facts.text("scheduler.slurm.answer")) {
    const bool set_up = input.driver_host.facts.has("scheduler.slurm.answer");
    return single_finding(
        "SCH-05", skip(set_up ? "Slurm does not answer: see SCH-01" : "Slurm is not set up on this host"));
  }
  const auto groups = [&] {
    std::vector<ValueGroup> by_state;
    for (const HostReport& host : input.hosts) {
      const std::string state =
          text_of(input.driver_host, "scheduler.slurm.node." + slurm_node_name(host.host)).value_or("");
      const auto known = std::find_if(by_state.begin(), by_state.end(),
                                      [&](const ValueGroup& group) { return group.value == state; });
      if (known == by_state.end())
        by_state.push_back({state, {host.host}});
      else
        known->hosts.push_back(host.host);
    }
    return by_state;
  }();
  std::vector<Finding> findings;
  for (const ValueGroup& group : groups) {
    CheckResult result = group.value.empty() ? skip("no node of Slurm's has that name")
                                             : evaluate_node_state(group.value, group.hosts);
    std::vector<Finding> one = single_finding("SCH-05", std::move(result), group.hosts);
    findings.push_back(std::move(one.front()));
  }
  return findings;
}

}  // namespace

std::span<const Check> scheduler_checks() {
  static constexpr std::array<Check, 5> table{{
      {"SCH-01", "the scheduler answers", Level::quick, Place::driver_host,
       "A controller that is down takes no job and starts no step.",
       "sinfo or qstat -B within 5 s, where slurm.conf or pbs.conf is here. pass: an answer; warn: none; "
       "fail: none, and the hosts come from its allocation.",
       "Restart slurmctld or the PBS server; inform the administrators.", check_answer},
      {"SCH-02", "the job script", Level::quick, Place::driver_host,
       "A directive that is misread is dropped silently.",
       "Nothing yet: no script is given to doctor. Always skipped.",
       "sbatch --test-only SCRIPT as a first look.", check_script},
      {"SCH-03", "the warning before the end", Level::quick, Place::driver_host,
       "A job that is not warned in time loses its work since its last checkpoint.",
       "Slurm's KillWait beside a checkpoint's time, which is not known before a run. Skipped until then.",
       "--signal=B:USR1@SECONDS with at least twice a checkpoint's time.", check_warning},
      {"SCH-04", "fields that the site asks for", Level::quick, Place::driver_host,
       "Some sites refuse a job without a comment or an account.",
       "A site profile; there is none yet. Skipped.", "See the site's guide: --comment, -A.",
       check_site_fields},
      {"SCH-05", "states of the hosts", Level::quick, Place::host,
       "No job starts on a host that is drained or down.",
       "sinfo -N for the hosts of the job. pass: idle, allocated, mixed; fail: down, drained; skip: Slurm "
       "does not resolve the name, or waits for its daemon's answer.",
       "scontrol show node for the reason; State=RESUME.", check_nodes},
  }};
  return table;
}

}  // namespace ddlrun::doctor
