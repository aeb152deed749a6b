// SPDX-License-Identifier: MIT
#include "launch/launchers/open_mpi.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/launchers/command_builder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

constexpr std::string_view install_hint = "apt-get install openmpi-bin; or name another with --mpirun FILE";

// PRRTE 3.0.8 (Open MPI 5.0.7) refuses a path that contains '-' or ':'. The shell therefore opens the
// rankfile and becomes mpirun. Only mpirun reads the rankfile; its daemons do not.
void start_mpirun(CommandBuilder& builder, const LaunchRequest& request) {
  if (request.launcher.version.major >= 5)
    builder.add({"/bin/sh", "-c", "exec \"$@\" 9< \"$0\"", request.rankfile},
                "opens the rankfile as descriptor 9: Open MPI 5 refuses a path with '-' or ':'");
  builder.start(request.launcher.program);
}

void add_rankfile(CommandBuilder& builder, const LaunchRequest& request) {
  const std::string why = "which rank sits on which host and cores";
  // PRRTE 3.0.8 gives this host as many slots as cores and refuses a rankfile with more ranks.
  const std::string more = request.shares_cores ? ":oversubscribe" : "";
  if (request.launcher.version.major < 5)
    builder.add({"--rankfile", request.rankfile}, why);
  else
    builder.add({"--map-by", "rankfile:file=/dev/fd/9" + more}, why);
}

bool names_hosts(const LauncherWords& words) {
  return std::ranges::any_of(words.mpi_arguments, [](const std::string& word) {
    return word == "-H" || word == "-host" || word == "--host" || word.ends_with("hostfile") ||
           word.ends_with("machinefile");
  });
}

// Open MPI 4 takes the hosts of the rankfile for the allocation. PRRTE 3.0.8 refuses each that is not in an
// allocation of Slurm, a hostfile or --host: "claimed that a host was either not allocated".
void add_hosts(CommandBuilder& builder, const LaunchRequest& request, const EnvVars& environment) {
  const bool has_allocation = environment.contains("SLURM_JOB_ID") || names_hosts(request.words);
  if (request.launcher.version.major < 5 || request.ranks_of_hosts.empty() || has_allocation) return;
  std::string list;
  for (const auto& [host, ranks] : request.ranks_of_hosts)
    list += fmt::format("{}{}:{}", list.empty() ? "" : ",", host, ranks);
  builder.add({"--host", list}, "Open MPI 5 does not take the hosts from the rankfile");
}

// A setting of Open MPI that we choose, unless the user has.
class Settings {
 public:
  Settings(const LaunchRequest& request, const EnvVars& environment)
      : request_(request), environment_(environment) {}

  bool chosen_by_user(const std::string& name) const {
    const auto is_it = [&](const auto& entry) { return entry.first == name; };
    return std::any_of(request_.words.mca.begin(), request_.words.mca.end(), is_it) ||
           std::find(request_.words.mpi_arguments.begin(), request_.words.mpi_arguments.end(), name) !=
               request_.words.mpi_arguments.end() ||
           environment_.count("OMPI_MCA_" + name) != 0 || environment_.count("PRTE_MCA_" + name) != 0;
  }
  void add(CommandBuilder& builder, const std::string& name, const std::string& value,
           std::string why) const {
    if (chosen_by_user(name)) return;
    builder.add({request_.launcher.version.major < 5 ? "--mca" : "--prtemca", name, value}, std::move(why));
  }

 private:
  const LaunchRequest& request_;
  const EnvVars& environment_;
};

void add_keepalives(CommandBuilder& builder, const LaunchRequest& request, const EnvVars& environment) {
  if (!request.keepalives) return;
  const Settings settings(request, environment);
  settings.add(builder, "oob_tcp_keepalive_time", "10",
               "a host that goes away is noticed within 30 s, not 8 min");
  settings.add(builder, "oob_tcp_keepalive_intvl", "5", "after 10 s of silence it is asked every 5 s");
  settings.add(builder, "oob_tcp_keepalive_probes", "3", "three times");
  for (const char* other : {"plm_rsh_agent", "orte_rsh_agent", "plm_rsh_args"}) {
    if (settings.chosen_by_user(other)) return;  // perhaps not OpenSSH
  }
  const std::string name = request.launcher.version.major < 5 ? "plm_rsh_args" : "plm_ssh_args";
  settings.add(builder, name, "-o ServerAliveInterval=5 -o ServerAliveCountMax=6",
               "the same for ssh: it would wait for a quarter of an hour");
}

// mpirun that gets TERM kills its ranks a second later, and those that meet in MPI_Finalize wait for it in
// vain: too little for a checkpoint.
void add_gentle_end(CommandBuilder& builder, const LaunchRequest& request, const EnvVars& environment) {
  const Settings settings(request, environment);
  const std::string name = "ess_base_forward_signals";
  const auto& [kind, major, minor, text] = request.launcher.version;
  const bool can = (major >= 5 || (major == 4 && minor >= 1)) && !settings.chosen_by_user(name);
  if (!can || request.program.status_token.empty()) return;
  if (major == 4)  // PRRTE 3.0.8 forwards it unasked
    settings.add(builder, name, "SIGURG", "launch sends it to end the ranks before mpirun ends them");
  builder.set_forwards_end();
}

// PMIx 5.0.7 keeps the beginning of a line until its end comes, and adds it to the next output of any rank
// and of either stream (pmix_iof_write_output()). Of several --output, PRRTE 3.0.8 takes the first.
void add_output(CommandBuilder& builder, const LaunchRequest& request) {
  const std::string tagged = "each line starts with its rank";
  const std::string raw = "a part of a line is shown at once: Open MPI 5 would add it to another rank's line";
  const bool tag = request.words.tag_output;
  const std::vector<std::string>& given = request.words.mpi_arguments;
  if (request.launcher.version.major < 5) {
    if (tag) builder.add({"--tag-output"}, tagged);
  } else if (tag) {
    builder.add({"--output", "tag:raw"}, tagged + "; " + raw);
  } else if (std::find(given.begin(), given.end(), "--output") == given.end()) {
    builder.add({"--output", ":raw"}, raw);
  }
}

// Ranks that wait must leave the core to those that compute.
void add_shared_cores(CommandBuilder& builder, const LaunchRequest& request, const EnvVars& environment) {
  if (!request.shares_cores) return;
  if (request.launcher.version.major >= 5)
    builder.add({"--bind-to", "core:overload-allowed"}, "--oversubscribe: several ranks on a core");
  else if (environment.contains("SLURM_JOB_ID"))
    builder.add({"--oversubscribe"},
                "Open MPI 4 has a slot for each task of the Slurm job, not for each rank");
  const std::string name = "mpi_yield_when_idle";
  if (!Settings(request, environment).chosen_by_user(name))
    builder.add({"--mca", name, "1"}, std::string(why_yield));
}

// PRRTE's daemons start ranks in threads and miss the end of a rank that exits before its thread has noted
// its number: mpirun then waits forever (openpmix/prrte#2713, in PRRTE 3.0.8). Without threads that cannot
// be.
void add_one_thread(CommandBuilder& builder, const LaunchRequest& request, const EnvVars& environment) {
  if (request.launcher.version.major >= 5)
    Settings(request, environment)
        .add(builder, "odls_base_max_threads", "0",
             "daemons start ranks one by one: Open MPI 5.0.7 would miss the end of a short one and wait "
             "forever");
}

// Open MPI 5.0.7 of Debian 13 pairs no interfaces of hosts with IPv4 and IPv6, not even its IPv6 addresses
// alone: a message for each pair of ranks of a host, and an end for ranks of several hosts
// (open-mpi/ompi#14079).
void add_one_family(CommandBuilder& builder, const LaunchRequest& request, const EnvVars& environment) {
  const std::string name = "btl_tcp_disable_family";
  if (request.launcher.version.major >= 5 && !Settings(request, environment).chosen_by_user(name))
    builder.add({"--mca", name, "6"},
                "IPv4 only: Open MPI 5.0.7 finds no way between hosts with IPv4 and IPv6");
}

}  // namespace

MpirunVersion parse_mpirun_version(std::string_view output) {
  const std::string_view first = split(output, '\n').front();
  std::string_view text;
  // Under another name than mpirun it calls itself by that of its runtime.
  for (const std::string_view lead : {"(Open MPI) ", "(OpenRTE) "}) {
    const std::size_t at = first.find(lead);
    if (at != std::string_view::npos) text = trim(first.substr(at + lead.size()));
  }
  if (text.empty()) {
    throw Error(ErrorKind::request, {fmt::format("it is no launcher that ddlrun knows: it says \"{}\"",
                                                 printable(trim(first), 60)),
                                     "mpirun --version", std::string(install_hint)});
  }
  const auto parts = split(text, '.');
  const auto major = parse_unsigned(parts[0], 99);
  const auto minor = parts.size() > 1 ? parse_unsigned(parts[1], 99) : std::nullopt;
  if (!major || *major < 3) {
    throw Error(ErrorKind::request,
                {fmt::format("Open MPI {} is too old: 4.1 or 5 is needed", printable(text, 40)),
                 "mpirun --version", std::string(install_hint)});
  }
  return {static_cast<int>(*major), static_cast<int>(minor.value_or(0)), std::string(text)};
}

LaunchCommand plan_open_mpi_command(const LaunchRequest& request, const EnvVars& environment) {
  CommandBuilder builder(request);
  start_mpirun(builder, request);
  if (request.words.allow_run_as_root) builder.add({"--allow-run-as-root"}, "you requested it");
  builder.add({"-n", fmt::format("{}", request.ranks)},
              "the ranks of the plan, so that a cut rankfile is noticed");
  add_rankfile(builder, request);
  add_hosts(builder, request, environment);
  add_shared_cores(builder, request, environment);
  for (const std::string& name : builder.names()) builder.add({"-x", name}, builder.reason_of(name));
  if (request.enters_workdir)
    builder.add({"--wdir", request.workdir}, "without it, ranks of a host that lacks it start in $HOME");
  add_keepalives(builder, request, environment);
  add_gentle_end(builder, request, environment);
  add_one_thread(builder, request, environment);
  add_one_family(builder, request, environment);
  for (const auto& [name, value] : request.words.mca) builder.add({"--mca", name, value}, "you requested it");
  for (const auto& [name, value, why] : request.chosen_mca) {
    // Open MPI 6.0.0 prints a box for the old name.
    const bool renamed = request.launcher.version.major >= 6 && name == "oob_tcp_if_include";
    if (renamed)
      Settings(request, environment).add(builder, "prte_if_include", value, why);
    else
      builder.add({"--mca", name, value}, why);
  }
  add_output(builder, request);
  builder.add_asked(request.words.mpi_arguments);
  return std::move(builder).finish();
}

}  // namespace ddlrun::launch
