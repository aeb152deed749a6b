// SPDX-License-Identifier: MIT
#include "cli/option_choices.hpp"

#include "base/text/text.hpp"

#include <algorithm>
#include <array>

namespace ddlrun::cli {

namespace {

// tests/cli/completion.sh gives each word to the program, which must accept it.
struct Choices {
  std::string_view command;  // "": every command that has the option
  std::string_view option;
  std::string_view words;  // separated by blanks
  std::string_view source = "";
};

constexpr auto rows = std::to_array<Choices>({
    // Sources: cli/candidate_sources.hpp.
    {"", "HOSTS", "", "hosts"},
    {"", "--hosts", "", "hosts"},
    {"", "RUN", "last", "runs"},
    {"", "ID", "last", "jobs"},
    {"", "-x", "", "variables"},
    {"", "--queue", "", "queues"},
    {"", "--site", "", "profiles"},
    {"submit", "--template", "", "templates"},
    {"resubmit", "--template", "", "templates"},
    {"config", "WHAT", "show"},
    {"", "--doctor-skip", "", "checks"},
    {"", "--doctor-warn", "", "checks"},
    {"doctor", "--only", "", "checks"},
    {"doctor", "--skip", "", "checks"},
    {"doctor", "--warn", "", "checks"},
    {"doctor", "--explain", "", "checks"},
    {"diagnose", "LOG", "last", "files"},
    {"diagnose", "--explain", "", "signatures"},
    {"lint-script", "--explain", "", "rules"},
    {"", "FILE", "", "files"},
    {"check-rankfile", "--mpi", "4 5"},
    {"", "--launcher", "auto openmpi mpich intelmpi srun ssh"},
    {"", "--order", "ddl packed"},
    {"", "--map-by", "auto gpus packages"},
    {"", "--affinity", "auto off libgomp libomp"},
    {"", "--bind-to", "core none"},
    {"", "--mem-bind", "local preferred bind"},
    {"", "--visible-gpus", "all one host"},
    {"", "--rank-output", "screen prefix files"},
    {"", "--on-stall", "warn end"},
    {"", "--on-host-failure", "auto shrink wait"},
    {"", "--framework", "auto caffe-ddl ddl intel-caffe horovod pytorch tensorflow tensorflow-ps none"},
    {"", "--ddl-mode", "b n r m p c"},
    {"", "--tf-style", "config flags"},
    {"gen-rankfile", "--format", "ompi4 ompi5 intel mpich slurm json"},
    {"bench", "WHAT", "allreduce scaling predict"},
    {"bench", "--network-hosts", "", "hosts"},
    {"doctor", "--via", "ssh srun pbsdsh mpirun"},
    {"diagnose", "--from", "mpirun pbs slurm"},
    {"lint-script", "--scheduler", "slurm pbs torque"},
    {"intelcaffe", "--network", "opa tcp"},
    {"intelcaffe", "--mode", "train time inf_time"},
    {"intelcaffe", "--cpu", "bdw skx knl knm"},
});

}  // namespace

void add_choices(std::string_view command, OptionReference& option) {
  option.choices = choices_of_value(option.value);
  option.source = source_of_value(option.value);
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Choices& one) {
    return (one.command.empty() || one.command == command) &&
           std::find(option.names.begin(), option.names.end(), one.option) != option.names.end();
  });
  if (row == rows.end()) return;
  for (const std::string_view word : split_blanks(row->words)) option.choices.emplace_back(word);
  // The words of "NAME|FILE" come from both: the shell adds the files.
  if (!row->source.empty()) option.source = row->source;
  std::vector<std::string> unique;
  for (std::string& word : option.choices)
    if (std::find(unique.begin(), unique.end(), word) == unique.end()) unique.push_back(std::move(word));
  option.choices = std::move(unique);
}

}  // namespace ddlrun::cli
