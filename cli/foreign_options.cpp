// SPDX-License-Identifier: MIT
#include "cli/foreign_options.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ddlrun::cli {

namespace {

using Spelling = std::pair<std::string_view, std::string_view>;

constexpr auto launcher_spellings = std::to_array<Spelling>({
    {"-np", "--np"},
    {"-rf", "--rankfile"},
    {"-rankfile", "--rankfile"},
    {"-host", "--hosts"},
    {"--host", "--hosts"},
    {"-hosts", "--hosts"},
    {"-hostfile", "--hostfile"},
    {"-machinefile", "--hostfile"},
    {"--machinefile", "--hostfile"},
    {"-mca", "--mca"},
    {"-bind-to", "--bind-to"},
    {"-map-by", "--map-by"},
    {"-oversubscribe", "--oversubscribe"},
    {"-ppn", "--ranks-per-host"},
    {"--nproc-per-node", "--ranks-per-host"},
    {"--nproc_per_node", "--ranks-per-host"},
    {"--ntasks-per-node", "--ranks-per-host"},
});

constexpr std::string_view shape_remedy = "DIMS: 2x3 h1,h2,h3 is 2 ranks on each of 3 hosts; or -H h1:2,h2:4";
constexpr std::string_view binding_remedy =
    "leave it out: launch binds each rank to its cores, and --verify shows them";
constexpr std::string_view export_remedy = "-x NAME, or -x NAME=value";
constexpr std::string_view rendezvous_remedy =
    "leave it out: launch sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT for each rank (--framework "
    "pytorch)";
constexpr std::string_view output_remedy = "--rank-output prefix, or --tag-output (Open MPI's own)";
constexpr std::string_view job_remedy = "an option of a job: ddlrun submit";

// Of Open MPI 4.1 and 5.0, MPICH 4.2 (hydra), Slurm 24.11 and PyTorch 2, without dashes in front.
constexpr auto remedies = std::to_array<Spelling>({
    {"f", "--hostfile FILE"},
    {"N", shape_remedy},
    {"nodes", shape_remedy},
    {"npernode", shape_remedy},
    {"n-per-node", shape_remedy},
    {"npersocket", shape_remedy},
    {"perhost", shape_remedy},
    {"ranks-per-node", shape_remedy},
    {"tasks-per-node", shape_remedy},
    {"num-proc", "-n N"},
    {"ntasks", "-n N"},
    {"nnodes", "leave it out: the hosts give it: HOSTS, -H or --hostfile"},
    {"bind-to-core", "--bind-to core"},
    {"bind-to-none", "--bind-to none"},
    {"cpu-bind", binding_remedy},
    {"rank-by", "--order packed: ranks host by host; or --order ddl: round robin over hosts"},
    {"report-bindings", binding_remedy},
    {"display-map", binding_remedy},
    {"cpus-per-task", "--threads N, or --cores-per-rank N"},
    {"cpus-per-rank", "--cores-per-rank N"},
    {"c", "--threads N, or --cores-per-rank N"},
    {"d", "--threads N, or --cores-per-rank N"},
    {"env", export_remedy},
    {"genv", export_remedy},
    {"envlist", export_remedy},
    {"genvlist", export_remedy},
    {"genvall", "-x NAME for each variable that the ranks need, or -x 'PREFIX_*'"},
    {"envall", "-x NAME for each variable that the ranks need, or -x 'PREFIX_*'"},
    {"export", export_remedy},
    {"iface", "--interface NET"},
    {"network-interface", "--interface NET"},
    {"wd", "cd DIR before launch: the ranks start in its working directory"},
    {"wdir", "cd DIR before launch: the ranks start in its working directory"},
    {"chdir", "cd DIR before launch: the ranks start in its working directory"},
    {"l", output_remedy},
    {"prepend-rank", output_remedy},
    {"label", output_remedy},
    {"output-filename", "--rank-output files, or --tee"},
    {"timestamp-output", "--mpi-arg --timestamp-output"},
    {"master-addr", rendezvous_remedy},
    {"master_addr", rendezvous_remedy},
    {"node-rank", rendezvous_remedy},
    {"node_rank", rendezvous_remedy},
    {"rdzv-backend", rendezvous_remedy},
    {"rdzv_backend", rendezvous_remedy},
    {"rdzv-endpoint", rendezvous_remedy},
    {"rdzv_endpoint", rendezvous_remedy},
    {"rdzv-id", rendezvous_remedy},
    {"rdzv_id", rendezvous_remedy},
    {"standalone", rendezvous_remedy},
    {"gpus", "--visible-gpus one: each rank sees its own GPU"},
    {"gpus-per-task", "--visible-gpus one: each rank sees its own GPU"},
    {"bootstrap", "--mpi-arg -bootstrap --mpi-arg ssh"},
    {"partition", job_remedy},
    {"p", job_remedy},
    {"time", job_remedy},
    {"t", job_remedy},
    {"account", job_remedy},
    {"A", job_remedy},
});

// Of qsub (OpenPBS 23.06, Torque) and sbatch (Slurm 24.11): letters that `ddlrun submit` does not have.
constexpr auto job_remedies = std::to_array<Spelling>({
    {"p", "--queue NAME"},
    {"partition", "--queue NAME"},
    {"t", "--walltime TIME"},
    {"N", "--name NAME (qsub's -N); DIMS such as 4x2 for 2 nodes (sbatch's -N)"},
    {"J", "--name NAME (sbatch's -J); --array RANGE (qsub's -J)"},
    {"a", "--array RANGE"},
    {"A", "--account NAME"},
    {"P", "--project NAME"},
    {"c", "--threads N"},
    {"cpus-per-task", "--threads N"},
    {"ntasks-per-node", "DIMS: 4x2 is 4 ranks on each of 2 nodes"},
    {"d", "--dependencies afterok:ID"},
    {"W", "--dependencies afterok:ID"},
    {"dependency", "--dependencies afterok:ID"},
    {"depend", "--dependencies afterok:ID"},
    {"D", "--workdir DIR"},
    {"o", "--output FILE"},
    {"e", "--output FILE: of stdout and stderr"},
    {"w", "HOSTS: 4x2 h1,h2"},
    {"nodelist", "HOSTS: 4x2 h1,h2"},
    {"G", "--gpus N"},
    {"gres", "--gpus N, and --gpu-type TYPE"},
    {"C", "--constraint FEATURE"},
    {"M", "--mail ADDRESS"},
    {"m", "--mail-events begin,end,fail"},
    {"mem", "--memory SIZE"},
    {"V", "--environment NAME,NAME=value, for each variable that the program needs"},
    {"export", "--environment NAME,NAME=value, for each variable that the program needs"},
    {"l", "DIMS for the nodes: 4x2 is 4 ranks on each of 2; --walltime TIME, --memory SIZE, --gpus N"},
    {"I", "qsub -I or salloc, then ddlrun launch DIMS -- PROGRAM in the job"},
});

constexpr std::string_view machine_remedy =
    "a profile is read for a job only; describe its node: --sockets 1 --cores 68 --smt 4";

// Of `ddlrun submit`, where another command takes the description of a machine.
constexpr auto machine_remedies = std::to_array<Spelling>({
    {"site", machine_remedy},
    {"cores-per-node", "--sockets S --cores C: packages of a node, cores of a package"},
    {"hardware-threads-per-core", "--smt T"},
    {"reserved-cores",
     "leave it out: it lowers the threads of a job's ranks, which have all cores; --cores-per-rank N leaves "
     "cores free"},
});

bool passes_argument_on(std::string_view option) {
  return option == "--mpi-arg" || option == "--ddl-arg" || option == "--restart-arg";
}

// "--gres=gpu:2" -> "gres"
std::string_view name_of(std::string_view typed) {
  typed.remove_prefix(std::min(typed.find_first_not_of('-'), typed.size()));
  return typed.substr(0, typed.find('='));
}

}  // namespace

void accept_launcher_spellings(const std::vector<std::string>& own_options, std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && passes_argument_on(words[i - 1])) continue;
    const std::size_t end = words[i].starts_with("--") ? words[i].find('=') : std::string::npos;
    const auto found = std::ranges::find(launcher_spellings, words[i].substr(0, end), &Spelling::first);
    if (found == launcher_spellings.end()) continue;
    if (std::ranges::find(own_options, found->second) == own_options.end()) continue;
    words[i].replace(0, std::min(end, words[i].size()), found->second);
  }
}

std::string find_short_foreign_option(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool has_one_dash = words[i].size() > 2 && words[i][0] == '-' && words[i][1] != '-';
    if (!has_one_dash || (i > 0 && passes_argument_on(words[i - 1]))) continue;
    if (!remedy_for_foreign_option(words[i]).empty()) return words[i];
  }
  return {};
}

std::string_view remedy_for_foreign_option(std::string_view typed) {
  typed = name_of(typed);
  const auto found = std::ranges::find(remedies, typed, &Spelling::first);
  return found == remedies.end() ? std::string_view() : found->second;
}

std::string_view remedy_for_job_option(std::string_view typed) {
  const std::string_view letter = typed.starts_with("--") ? std::string_view() : typed.substr(1, 1);
  typed = name_of(typed);
  auto found = std::ranges::find(job_remedies, typed, &Spelling::first);
  // The value may follow the letter: "-t10", "-lselect=2".
  if (found == job_remedies.end()) found = std::ranges::find(job_remedies, letter, &Spelling::first);
  return found == job_remedies.end() ? std::string_view() : found->second;
}

std::string_view remedy_for_machine_option(std::string_view typed) {
  const auto found = std::ranges::find(machine_remedies, name_of(typed), &Spelling::first);
  return found == machine_remedies.end() ? std::string_view() : found->second;
}

}  // namespace ddlrun::cli
