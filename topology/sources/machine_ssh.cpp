// SPDX-License-Identifier: MIT
// machines_of_hosts: one pipeline a host, "ssh HOST ... | ddlrun read-topology" or the
// same with srun, so that whatever a host sends reaches only the limited reader.
#include "base/os/self_executable.hpp"
#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "topology/machine_json.hpp"
#include "topology/sources/job_machines.hpp"
#include "topology/sources/machine_loader.hpp"
#include "topology/sources/topology_child.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::topology {
namespace {

constexpr std::size_t window = 32;
// On stderr of the host.
constexpr std::string_view no_directory = "ddlrun-no-such-directory";
constexpr std::string_view interface_mark = "ddlrun-interface ";

// $1 host, $2 the command there, $3 our own binary. Constant: what varies is passed beside it.
constexpr const char* pipeline =
    "ssh -o BatchMode=yes -o ConnectTimeout=3 -o ForwardAgent=no -o ForwardX11=no -- \"$1\" \"$2\" | "
    "exec \"$3\" read-topology --marked --file=-";
// The same for this host, which may have no sshd.
constexpr const char* own_pipeline = "sh -c \"$2\" | exec \"$3\" read-topology --marked --file=-";
// The same in a step of the Slurm job; the words of srun follow the binary.
constexpr const char* step_pipeline =
    "there=$2; reader=$3; shift 3; \"$@\" sh -c \"$there\" | exec \"$reader\" read-topology --marked "
    "--file=-";

// What runs on the host, in whatever shell its user has: the first of these that answers. Shell start-up
// files may print what they like before the marker. The interfaces come over the same connection: launch
// needs them too, and a second one takes as long as the first.
std::string remote_command(const std::string& executable, const std::string& directory) {
  return "exec sh -c '" + std::string(trusted_function) +
         "[ -z \"$1\" ] || (cd -- \"$1\") 2>/dev/null || echo ddlrun-no-such-directory >&2; "
         "[ ! -x \"$0\" ] || ! trusted \"$0\" || \"$0\" agent --interfaces >&2 2>/dev/null </dev/null; "
         "echo ddlrun-topology-follows; "
         "{ [ -x \"$0\" ] && trusted \"$0\" && \"$0\" topo --json 2>/dev/null; } || ddlrun topo --json "
         "2>/dev/null || "
         "lstopo-no-graphics --of xml - 2>/dev/null || lstopo --of xml - 2>/dev/null"
         "' " +
         quote_shell(executable) + " " + quote_shell(directory);
}

// ssh gives up after 3 s on a host that does not answer at all; a host under load may need more than 8 s.
constexpr std::chrono::seconds patience{20};

ProcessLimits pipeline_limits() {
  ProcessLimits limits = reader_limits();
  limits.timeout = patience;
  return limits;
}

// ssh's own message, else the reader's. Banners, warnings and remarks on keys come before ssh's reason.
std::string failure_of(const ProcessResult& result, const Error& error) {
  std::string_view last;
  for (const std::string_view line : split(result.err, '\n')) {
    if (line.starts_with("ddlrun: ")) break;
    if (line == no_directory || line.starts_with(interface_mark)) continue;
    if (line.find(": Permission denied (") != std::string_view::npos) return printable(trim(line));
    if (!trim(line).empty()) last = trim(line);
  }
  if (!last.empty()) return printable(last);
  if (result.timed_out)
    return fmt::format("no answer within {} s (ddlrun doctor reports what is slow there)", patience.count());
  return error.message().what;
}

// What a host is asked by: its pipeline, and the words that this takes beside the usual ones.
struct HostPipeline {
  const char* shell;
  std::string source;  // of MachineTopology; "": as the host reports it
  Command words;
};

HostPipeline pipeline_to(const Environment& environment, const StepHosts& steps, const std::string& host) {
  if (is_this_host(environment, host)) return {own_pipeline, "", {}};
  if (!steps.reached.contains(host)) return {pipeline, "ssh " + host, {}};
  Command words = plan_step_command(find_step_variables(environment.variables), {host});
  // The limits are the reader's; srun would hand them on.
  words.insert(words.end(), {"--propagate=NONE", "--input=none"});
  return {step_pipeline, "srun " + host, std::move(words)};
}

RemoteMachine read_answer(const std::string& host, const std::string& source, const ProcessResult& result) {
  RemoteMachine remote{host, std::nullopt, "", false, {}};
  const auto lines = split(result.err, '\n');
  remote.lacks_directory = std::ranges::find(lines, no_directory) != lines.end();
  for (const std::string_view line : lines)
    if (line.starts_with(interface_mark)) remote.interfaces.emplace_back(line.substr(interface_mark.size()));
  try {
    check_child(result, host, pipeline_limits());
    remote.machine = parse_machine_json(result.out, host);
    if (!source.empty()) remote.machine->source = source;
  } catch (const Error& error) {
    remote.failure = failure_of(result, error);
  }
  return remote;
}

std::vector<RemoteMachine> ask_for_machines(System& system, const std::vector<std::string>& hosts,
                                            const std::string& directory, const StepHosts& steps) {
  std::vector<Command> commands;
  std::vector<std::string> sources;
  for (const std::string& host : hosts) {
    HostPipeline to = pipeline_to(system.environment, steps, host);
    commands.push_back({"sh", "-c", to.shell, "ddlrun-ssh", host,
                        remote_command(system.environment.executable, directory),
                        system.environment.executable});
    commands.back().insert(commands.back().end(), to.words.begin(), to.words.end());
    sources.push_back(std::move(to.source));
  }
  std::vector<RemoteMachine> remotes;
  const auto ask = [&](std::size_t first, std::size_t count) {
    const auto results =
        system.processes.run_many(std::span(commands).subspan(first, count), pipeline_limits(), window);
    for (std::size_t i = 0; i < count; ++i)
      remotes.push_back(read_answer(hosts[first + i], sources[first + i], results[i]));
  };
  const std::size_t first = std::min(window, hosts.size());
  ask(0, first);
  const bool any = std::ranges::any_of(remotes, [](const RemoteMachine& r) { return r.machine.has_value(); });
  if (any) {
    ask(first, hosts.size() - first);
  } else {
    for (std::size_t i = first; i < hosts.size(); ++i) {
      remotes.push_back({hosts[i],
                         std::nullopt,
                         fmt::format("not asked: none of the first {} hosts answered", first),
                         false,
                         {}});
    }
  }
  return remotes;
}

void require_host_names(const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts) {
    if (is_host_name(host)) continue;
    throw Error(ErrorKind::usage, {fmt::format("'{}' is not a host name", printable(host, 60)), "",
                                   "letters, digits, '-', '.' and '_': node01"});
  }
}

}  // namespace

std::vector<RemoteMachine> machines_of_hosts(System& system, const std::vector<std::string>& hosts,
                                             const std::string& directory, HostPath path) {
  require_host_names(hosts);
  if (path == HostPath::ssh) return ask_for_machines(system, hosts, directory, {});
  const StepHosts steps = find_step_hosts(system, hosts);
  auto remotes = ask_for_machines(system, hosts, directory, steps);
  for (RemoteMachine& remote : remotes) {
    const auto failed = steps.failures.find(remote.host);
    remote.lacks_step = failed != steps.failures.end();
    if (!remote.machine && failed != steps.failures.end()) remote.failure += "; by srun: " + failed->second;
  }
  return remotes;
}

}  // namespace ddlrun::topology
