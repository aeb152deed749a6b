// SPDX-License-Identifier: MIT
// What launch prints of its ranks while they run, and of an end that no rank has caused: a lost host, a
// launcher that was killed. Pure.
#pragma once

#include "base/os/system.hpp"
#include "base/text/error.hpp"
#include "launch/monitor/daemon_loss.hpp"
#include "launch/monitor/overdue_end.hpp"
#include "launch/monitor/rank_monitor.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace ddlrun::launch {

std::string render_event(const MonitorEvent& event);
Message down_hosts_message(const std::vector<std::string>& down);
// The launcher, or the process guard around it, was ended by a signal.
Message killed_launcher_message(const ProcessResult& result, const std::string& program);
// mpirun has not ended in time: after its last rank, after a failure, or after it has refused to start a job.
Message overdue_message(JobEnd end, const RankMonitor& ranks, const std::string& program);
// Open MPI 5.0.11 prints nothing about most daemons that it loses.
Message silent_loss_message(const std::vector<std::string>& hosts);
// mpiexec of MPICH does not end by itself after this: `lost` of at most `most` connections to its daemons.
Message lost_connections_message(std::size_t lost, std::size_t most, const std::string& host);
Message unreached_message(const std::string& program, const std::vector<std::string>& hosts,
                          const DaemonLoss& lost);

}  // namespace ddlrun::launch
