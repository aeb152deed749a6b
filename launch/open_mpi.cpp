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
  return program.report_token.empty() ? "a word \":\" would start another program for mpirun"
                                      : "each rank tells where it is, then becomes the program";
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
  if (program.report_token.empty() && !colons) return program.program;
  Command command{program.ddlrun, "exec"};
  if (!program.report_token.empty()) command.insert(command.end(), {"--report", program.report_token});
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

LaunchLine plan_launch_line(const LaunchRequest& request) {
  LineBuilder builder;
  builder.line().argv.push_back(request.mpirun);
  if (request.allow_run_as_root) builder.add({"--allow-run-as-root"}, "you asked for it");
  builder.add({"-n", fmt::format("{}", request.ranks)},
              "the ranks of the plan, so that a cut rankfile is noticed");
  add_rankfile(builder, request);
  add_exports(builder, request.exports);
  for (const auto& [name, value] : request.mca) builder.add({"--mca", name, value}, "you asked for it");
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
