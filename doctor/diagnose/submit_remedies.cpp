// SPDX-License-Identifier: MIT
#include "doctor/diagnose/submit_remedies.hpp"

#include "base/text/interpreter.hpp"
#include "base/text/text.hpp"
#include "doctor/diagnose/remedy_text.hpp"
#include "doctor/diagnose/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::diagnose {

namespace {

// Options and directives of schedulers, and those of submit that say the same. The first that fits.
constexpr auto phrases = std::to_array<std::pair<std::string_view, std::string_view>>({
    {" from the scheduler (--mem, -l mem=)", " for the job (--memory)"},
    {" from the scheduler (--mem, -l select=...:mem=)", " for the job (--memory)"},
    {"qsub -l h_vmem=12G, sbatch --mem=12G ...   # -Xmx plus 20 %; on Grid Engine h_vmem counts per slot",
     "ddlrun submit --memory 12GiB ...   # -Xmx plus 20 %"},
    {"the directory of sbatch, or sbatch --chdir DIR; PBS: cd \"$PBS_O_WORKDIR\"",
     "the directory of ddlrun submit, or --workdir DIR"},
    {"(--mem, -l mem=)", "(--memory)"},
    {"(--mem=, -l mem=, ", "(--memory, "},
    {"(--mem=)", "(--memory)"},
    {"(--mem)", "(--memory)"},
    {"more --mem or", "more --memory or"},
    {"srun --mem=... --exclusive", "ddlrun submit --memory SIZE --exclusive yes ..."},
    {"(--time, -l walltime=, -W)", "(--walltime)"},
    {"(--gres=gpu:N, --gpus-per-node=N)", "(--gpus N)"},
    {"(--gres=gpu:N, -n N)", "(--gpus N)"},
    {"(--gres=gpu:1, -p gpu)", "(--gpus 1 --queue gpu)"},
    {"--gres=gpu:1", "--gpus 1"},
    {"#SBATCH --gpus-per-node=", "--gpus "},
    {"   # or --gres=gpu:4: request GPUs", "   # request GPUs"},
    {"sbatch --time=", "ddlrun submit --walltime "},
    {"sbatch --mem=... ;", "ddlrun submit --memory SIZE ...;"},
    {"sbatch --signal=B:", "ddlrun submit --signal "},
    {"sbatch --requeue --exclude=NODE ...", "ddlrun submit --requeue yes ..."},
    {"sbatch --requeue ...", "ddlrun submit --requeue yes ..."},
    {"sbatch -p ", "ddlrun submit --queue "},
    {"sbatch --chdir=", "ddlrun submit --workdir "},
    {"qsub -l walltime=HH:MM:SS ...", "ddlrun submit --walltime HH:MM:SS ..."},
    {"qsub -l select=2:ncpus=40:mem=180gb ...   # more memory a chunk, at most what a node has; Torque: -l "
     "mem=180gb",
     "ddlrun submit --memory 180GiB ...   # more memory of each node, at most what it has"},
    {"qsub -l select=2:ncpus=40:mpiprocs=4:ompthreads=10 ...   # ncpus = mpiprocs x ompthreads",
     "ddlrun submit --cores-per-node 40 --threads 10 4x2 ...   # cores = ranks of a node x threads"},
    {"qsub -l mem=... or select=N:mem=...", "ddlrun submit --memory SIZE ..."},
    {"qsub -A ACCOUNT -P PROJECT ...", "ddlrun submit --account ACCOUNT --project PROJECT ..."},
    {"qsub -N ", "ddlrun submit --name "},
});

// Options of launch that submit has too.
constexpr auto shared_options =
    std::to_array<std::string_view>({"--rank-output", "--stall-timeout", "--on-stall", "--verify",
                                     "--framework", "--max-restarts", "--oversubscribe", "--affinity"});

// "ddlrun launch --verify" -> "ddlrun submit --verify"
std::string launch_as_submit(std::string text, std::string_view submit) {
  constexpr std::string_view typed = "ddlrun launch ";
  for (std::size_t at = text.find(typed); at != npos; at = text.find(typed, at + 1)) {
    const std::string_view rest = std::string_view(text).substr(at + typed.size());
    const std::string_view option = rest.substr(0, rest.find_first_of(" ,;"));
    if (std::ranges::find(shared_options, option) == shared_options.end()) continue;
    text.replace(at, typed.size() - 1, submit);
  }
  return text;
}

// "mpirun --mca pml ob1 -x A=1 ..." -> "ddlrun submit --environment OMPI_MCA_pml=ob1 --environment A=1 ...".
// As it is with other options, which are no variables, and with quoted text.
std::string mpirun_as_submit(const std::string& command) {
  const auto words = split(std::string_view(command), ' ');
  const bool of_mpirun = words.front() == "mpirun";
  if (has_quotes(command) || (!of_mpirun && !command.starts_with("ddlrun launch -x "))) return command;
  std::size_t next = of_mpirun ? 1 : 2;
  std::string changed = "ddlrun submit";
  const std::size_t begin = next;
  while (next + 1 < words.size() && words[next] != "...") {
    std::string variable;
    if (words[next] == "-x") {
      variable = words[next + 1];
      next += 2;
    } else if (words[next] == "--mca" && next + 2 < words.size()) {
      variable = fmt::format("OMPI_MCA_{}={}", words[next + 1], words[next + 2]);
      next += 3;
    } else {
      return command;
    }
    changed += " --environment " + quote_shell(variable);
  }
  if (next == begin || next + 1 != words.size() || words[next] != "...") return command;
  return changed + " ...";
}

// "srun --exclude=node2 ... if it returns": submit has no such option, a directive of Slurm has. That is a
// line of a file, and so a remedy for itself.
std::vector<std::string> exclude_as_directive(const std::string& remedy) {
  const auto [commands, comment] = split_remedy(remedy);
  std::vector<std::string> parts = split_commands(commands);
  constexpr std::string_view option = " --exclude=";
  const auto excludes = std::ranges::find_if(parts, [&](const std::string& command) {
    return starts_with_any(command, {"srun --exclude=", "sbatch --exclude="});
  });
  if (excludes == parts.end()) return {remedy};
  std::string_view rest = std::string_view(*excludes).substr(excludes->find(option) + option.size());
  const std::string_view host = rest.substr(0, rest.find(' '));
  rest = trim(rest.substr(host.size()));
  if (rest.starts_with("...")) rest = trim(rest.substr(3));
  std::string directive = fmt::format("directives: ['--exclude={}']   # in ddlrun.yaml", host);
  if (!rest.empty()) directive += fmt::format("; {}", rest);
  const bool is_first = excludes == parts.begin();
  parts.erase(excludes);
  if (parts.empty()) {
    if (!comment.empty()) directive += "; " + comment.substr(comment_mark.size());
    return {directive};
  }
  const std::string others = join_commands(parts) + comment;
  return is_first ? std::vector{directive, others} : std::vector{others, directive};
}

// How many words of `program` are its name: "python3 -u train.py" and "./train" without arguments. 0: it has
// none, as "python3 -c CODE".
std::size_t name_length(std::span<const std::string> program) {
  if (const auto script = find_script({program.begin(), program.end()})) return *script + 1;
  const auto module = std::ranges::find(program, "-m");
  const auto length = static_cast<std::size_t>(module - program.begin()) + 2;
  return length <= program.size() ? length : 0;
}

// Whether the last command of `text` is a launcher that starts Python itself.
bool starts_python_launcher(std::string_view text) {
  const std::size_t end = text.rfind("; ");
  return starts_with_any(end == npos ? text : text.substr(end + 2),
                         {"torchrun ", "accelerate launch ", "deepspeed "});
}

// "python3 -u train.py" -> "train.py", "python3 -m pkg" -> "-m pkg".
std::string without_python(std::span<const std::string> name) {
  if (!is_python(name[0])) {
    const bool is_script = name[0].ends_with(".py");
    return (is_script ? "" : "--no_python ") + render_shell({name.begin(), name.end()});
  }
  const bool is_module = name.size() > 1 && name[name.size() - 2] == "-m";
  const auto last = name.last(is_module ? 2 : 1);
  return render_shell({last.begin(), last.end()});
}

// What PROGRAM is behind these words.
std::string program_behind(std::string_view before, std::span<const std::string> program,
                           std::size_t length) {
  const std::string& script = program[length - 1];
  const auto behind = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view word) {
      // "FI_PROVIDER=tcp " does not copy.
      return before.ends_with(word) && find_word(before, word, before.size() - word.size()) != npos;
    });
  };
  if (behind({"ldd "}))
    return has(program[0], "/") ? quote_shell(program[0])
                                : fmt::format("$(command -v {})", quote_shell(program[0]));
  if (behind({"command -v "})) return quote_shell(program[0]);
  if (behind({"python3 ", "python ", "bash ", "head -1 ", "md5sum ", "file ", "cp ", "mv "}))
    return quote_shell(script);
  if (starts_python_launcher(before)) return without_python(program.first(length));
  return render_shell(program.first(length));
}

std::string with_options_of_submit(std::string remedy, std::string_view submit) {
  for (const auto& [typed, by] : phrases) remedy = replace_text(std::move(remedy), typed, by);
  if (!has(remedy, "--gpu-bind"))
    remedy = replace_text(std::move(remedy), "srun --gpus-per-node=", "ddlrun submit --gpus ");
  remedy = launch_as_submit(std::move(remedy), submit);
  const auto [commands, comment] = split_remedy(remedy);
  std::vector<std::string> parts = split_commands(commands);
  for (std::string& command : parts) command = mpirun_as_submit(command);
  return join(parts, "; ") + comment;
}

}  // namespace

std::vector<std::string> as_submit_remedies(const std::string& remedy, LogSource scheduler,
                                            std::string_view submit) {
  const bool of_slurm = scheduler == LogSource::slurm;
  std::vector<std::string> remedies = of_slurm ? exclude_as_directive(remedy) : std::vector{remedy};
  for (std::string& text : remedies) text = with_options_of_submit(std::move(text), submit);
  return remedies;
}

std::string name_program(std::string remedy, std::span<const std::string> program) {
  constexpr std::string_view word = "PROGRAM";
  const std::size_t length = name_length(program);
  if (length == 0) return remedy;
  for (std::size_t at = find_word(remedy, word); at != npos;) {
    const std::size_t end = at + word.size();
    const bool is_part = end + 1 < remedy.size() && remedy[end] == '.' && remedy[end + 1] != ' ';
    const std::string by =
        is_part ? std::string(word) : program_behind(std::string_view(remedy).substr(0, at), program, length);
    remedy.replace(at, word.size(), by);
    at = find_word(remedy, word, at + by.size());
  }
  return remedy;
}

std::string name_shape(std::string remedy, std::uint32_t nodes, std::uint32_t ranks_per_node) {
  if (nodes > 0)
    remedy = replace_text(std::move(remedy), "--nnodes=NODES", fmt::format("--nnodes={}", nodes));
  if (ranks_per_node > 0)
    remedy = replace_text(std::move(remedy), "--nproc_per_node=RANKS",
                          fmt::format("--nproc_per_node={}", ranks_per_node));
  return remedy;
}

std::string without_stall_advice(std::string remedy) {
  const std::size_t advice = remedy.find("ddlrun launch --stall-timeout 60 --on-stall end");
  if (advice == npos) return remedy;
  constexpr std::string_view lead = ", or ";
  const bool is_second = advice > lead.size() && remedy.compare(advice - lead.size(), lead.size(), lead) == 0;
  return is_second ? remedy.substr(0, advice - lead.size()) : std::string();
}

}  // namespace ddlrun::diagnose
