// SPDX-License-Identifier: MIT
#include "launch/run/end_messages.hpp"

#include "base/text/host_list.hpp"
#include "base/text/signal_name.hpp"
#include "base/text/text.hpp"
#include "launch/run/run_remedies.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

std::string printable_hosts(const std::vector<std::string>& hosts) {
  return printable(fold_host_list(hosts), 300);
}

}  // namespace

std::string render_event(const MonitorEvent& event) {
  if (event.severity.empty()) return fmt::format("ddlrun: {}\n", event.message.what);
  return render_message("ddlrun", event.severity, event.message);
}

Message down_hosts_message(const std::vector<std::string>& down) {
  return {fmt::format("a host of the job was lost before any rank reported: {}",
                      printable(join(down, ", "), 300)),
          "sinfo", "sinfo -R   # why; then the same job again, without it"};
}

Message killed_launcher_message(const ProcessResult& result, const std::string& program) {
  if (result.guard_was_killed)
    return {"the process guard of the launcher was killed: the job was ended", "ddlrun-guard",
            std::string(find_killer)};
  return {
      fmt::format("{} itself was ended by {}, and the job with it", program, describe_signal(result.signal)),
      program, result.signal == SIGKILL ? std::string(find_killer) : "free -m; ulimit -a; ddlrun doctor"};
}

Message overdue_message(JobEnd end, const RankMonitor& ranks, const std::string& program) {
  Message message{fmt::format("all ranks have ended, but mpirun has not within {} s: ddlrun ends it",
                              end_patience.count()),
                  program,
                  "--no-monitor, if processes of MPI_Comm_spawn outlive the ranks; else the job is complete"};
  if (end != JobEnd::failing) return message;
  const auto& first = ranks.record().first_failure;
  const std::string rank = first ? fmt::format("rank {}", first->rank) : "a rank";
  message.what =
      fmt::format("{}, but mpirun neither ends nor does anything for {} s: ddlrun ends it",
                  ranks.has_report() ? rank + " has failed" : "the job was refused", abort_patience.count());
  message.hint = ranks.has_report()
                     ? "look further up for the message of the rank: the job had failed before mpirun hung"
                     : "look further up for mpirun's message";
  return message;
}

Message silent_loss_message(const std::vector<std::string>& hosts) {
  return {"mpirun lost a daemon of another host; its output does not name the host", printable_hosts(hosts),
          "ddlrun doctor; then the same again"};
}

Message lost_connections_message(std::size_t lost, std::size_t most, const std::string& host) {
  return {fmt::format("{} of {} connections of mpiexec are gone and no rank has ended: it would wait forever",
                      lost, std::max<std::size_t>(most, 1)),
          host, "ddlrun doctor; then the same again"};
}

Message unreached_message(const std::string& program, const std::vector<std::string>& hosts,
                          const DaemonLoss& lost) {
  const std::string why = lost.refusal.empty() ? "its ssh ended before a rank was started" : lost.refusal;
  return {fmt::format("{} did not reach a host: {}", program, printable(why, 300)), printable_hosts(hosts),
          fmt::format("ddlrun doctor {}; then the same again",
                      quote_shell(lost.refused.empty() ? fold_host_list(hosts) : lost.refused))};
}

}  // namespace ddlrun::launch
