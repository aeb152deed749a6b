// SPDX-License-Identifier: MIT
#include "launch/open_mpi.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

constexpr std::string_view install_hint = "apt-get install openmpi-bin; or name another with --mpirun FILE";

// Adds words and their reason together, so that none goes without.
class LineBuilder {
 public:
  void add(std::vector<std::string> words, std::string why) {
    line_.reasons.push_back({join(words, " "), std::move(why)});
    for (std::string& word : words) line_.argv.push_back(std::move(word));
  }
  LaunchLine& line() { return line_; }

 private:
  LaunchLine line_;
};

void add_rankfile(LineBuilder& builder, const LaunchRequest& request) {
  const std::string why = "which rank sits on which host and cores";
  if (request.mpi_major < 5) {
    builder.add({"--rankfile", request.rankfile}, why);
    return;
  }
  if (request.rankfile.find_first_of(":,") != std::string::npos) {
    throw Error(ErrorKind::request, {"Open MPI 5 cannot take a rankfile path that holds ':' or ','",
                                     printable(request.rankfile), "--run-folder ./run"});
  }
  builder.add({"--map-by", "rankfile:file=" + request.rankfile}, why);
}

void add_exports(LineBuilder& builder, const Exports& exports) {
  for (const std::string& name : exports.names) {
    const auto reason = std::find_if(exports.reasons.begin(), exports.reasons.end(),
                                     [&](const Reason& r) { return r.subject == "-x " + name; });
    builder.add({"-x", name}, reason == exports.reasons.end() ? "" : reason->why);
  }
}

std::string wrapper_reason(const RankProgram& program) {
  const bool tells = !program.report_token.empty();
  if (program.keep) {
    return fmt::format("{}keeps each rank: tells how it fares, and ends all it started when the job ends",
                       tells ? "tells where each rank is, then " : "");
  }
  return tells ? "each rank tells where it is, then becomes the program"
               : "a word \":\" would start another program for mpirun";
}

// A word that stands for ":" and is none of the program's own.
std::string colon_stand_in(const Command& program) {
  std::string word = "%colon%";
  while (std::find(program.begin(), program.end(), word) != program.end()) word += "%";
  return word;
}

bool has_colon(const Command& program) {
  return std::find(program.begin(), program.end(), ":") != program.end();
}

// Called with ddlrun's path as $0: where there is none, the program starts by itself.
constexpr std::string_view without_ddlrun =
    R"([ -x "$0" ] && exec "$0" "$@"; while [ "$1" != -- ]; do shift; done; shift; exec "$@")";

// A setting of Open MPI that we choose, unless the user has.
class Settings {
 public:
  Settings(const LaunchRequest& request, const EnvVars& environment)
      : request_(request), environment_(environment) {}

  bool chosen_by_user(const std::string& name) const {
    const auto is_it = [&](const auto& entry) { return entry.first == name; };
    return std::any_of(request_.mca.begin(), request_.mca.end(), is_it) ||
           std::find(request_.mpi_arguments.begin(), request_.mpi_arguments.end(), name) !=
               request_.mpi_arguments.end() ||
           environment_.count("OMPI_MCA_" + name) != 0 || environment_.count("PRTE_MCA_" + name) != 0;
  }
  void add(LineBuilder& builder, const std::string& name, const std::string& value, std::string why) const {
    if (chosen_by_user(name)) return;
    builder.add({request_.mpi_major < 5 ? "--mca" : "--prtemca", name, value}, std::move(why));
  }

 private:
  const LaunchRequest& request_;
  const EnvVars& environment_;
};

void add_keepalives(LineBuilder& builder, const LaunchRequest& request, const EnvVars& environment) {
  if (!request.keepalives) return;
  const Settings settings(request, environment);
  settings.add(builder, "oob_tcp_keepalive_time", "10",
               "a host that goes away is noticed within 30 s, not 8 min");
  settings.add(builder, "oob_tcp_keepalive_intvl", "5", "after 10 s of silence it is asked every 5 s");
  settings.add(builder, "oob_tcp_keepalive_probes", "3", "three times");
  for (const char* other : {"plm_rsh_agent", "orte_rsh_agent", "plm_rsh_args"}) {
    if (settings.chosen_by_user(other)) return;  // perhaps not OpenSSH
  }
  const std::string name = request.mpi_major < 5 ? "plm_rsh_args" : "plm_ssh_args";
  settings.add(builder, name, "-o ServerAliveInterval=5 -o ServerAliveCountMax=6",
               "the same for ssh: it would wait for a quarter of an hour");
}

}  // namespace

MpirunVersion parse_mpirun_version(std::string_view output) {
  constexpr std::string_view lead = "(Open MPI) ";
  const std::string_view first = split(output, '\n').front();
  const std::size_t at = first.find(lead);
  if (at == std::string_view::npos) {
    throw Error(ErrorKind::request,
                {fmt::format("mpirun is not Open MPI's: it says \"{}\"", printable(trim(first), 60)),
                 "mpirun --version", std::string(install_hint)});
  }
  const std::string_view text = trim(first.substr(at + lead.size()));
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

Command plan_rank_command(const RankProgram& program) {
  const bool colons = has_colon(program.program);
  if (program.report_token.empty() && !colons && !program.keep) return program.program;
  Command command;
  const bool needs_ddlrun = colons || !program.report_token.empty() || !program.output_token.empty();
  if (program.may_lack_ddlrun && !needs_ddlrun) {
    command = {"/bin/sh", "-c", std::string(without_ddlrun)};
  }
  command.insert(command.end(), {program.ddlrun, "exec"});
  if (!program.report_token.empty()) command.insert(command.end(), {"--report", program.report_token});
  if (program.keep) command.push_back("--keep");
  if (program.keep && !program.watch_token.empty()) {
    command.insert(command.end(), {"--watch", program.watch_token});
    if (program.stall_after > 0) {
      command.insert(command.end(), {"--stall-after", fmt::format("{}", program.stall_after)});
    }
  }
  if (program.keep && !program.output_token.empty())
    command.insert(command.end(), {"--output", program.output_token});
  const std::string stand_in = colon_stand_in(program.program);
  if (colons) command.insert(command.end(), {"--colon", stand_in});
  command.push_back("--");
  for (const std::string& word : program.program) command.push_back(word == ":" ? stand_in : word);
  return command;
}

Command restore_colons(Command program, std::string_view stand_in) {
  for (std::string& word : program) {
    if (word == stand_in) word = ":";
  }
  return program;
}

LaunchLine plan_launch_line(const LaunchRequest& request, const EnvVars& environment) {
  LineBuilder builder;
  builder.line().argv.push_back(request.mpirun);
  if (request.allow_run_as_root) builder.add({"--allow-run-as-root"}, "you asked for it");
  builder.add({"-n", fmt::format("{}", request.ranks)},
              "the ranks of the plan, so that a cut rankfile is noticed");
  add_rankfile(builder, request);
  add_exports(builder, request.exports);
  add_keepalives(builder, request, environment);
  for (const auto& [name, value] : request.mca) builder.add({"--mca", name, value}, "you asked for it");
  for (const auto& [name, value, why] : request.chosen_mca) builder.add({"--mca", name, value}, why);
  if (request.tag_output && request.mpi_major < 5) builder.add({"--tag-output"}, "each line tells its rank");
  if (request.tag_output && request.mpi_major >= 5)
    builder.add({"--output", "tag"}, "each line tells its rank");
  for (const std::string& word : request.mpi_arguments) builder.add({word}, "you asked for it");
  const Command rank = plan_rank_command(request.program);
  LaunchLine& line = builder.line();
  if (rank != request.program.program) {
    line.reasons.push_back({fmt::format("{} exec", request.program.ddlrun), wrapper_reason(request.program)});
  }
  line.argv.insert(line.argv.end(), rank.begin(), rank.end());
  line.environment = request.exports.set_by_us;
  for (const auto& [name, value] : request.exports.set_by_user) line.environment[name] = value;
  return std::move(line);
}

std::string render_launch_line(const LaunchLine& line, const Exports& exports) {
  std::string text;
  for (const auto& [name, value] : exports.set_by_us) text += name + "=" + quote_shell(value) + " ";
  return text + render_shell(line.argv);
}

}  // namespace ddlrun::launch
