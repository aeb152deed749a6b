// SPDX-License-Identifier: MIT
// What is asked of the scheduler: shapes that do not add up, requests that exclude each other, lives that
// lose their output.
#include "base/text/text.hpp"
#include "schedulers/scripts/directive_lexer.hpp"
#include "schedulers/scripts/lint_internal.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::job_scripts {

namespace {

class RequestRules : private RuleSet {
 public:
  explicit RequestRules(const ScriptView& view) : RuleSet(view) {}
  std::vector<Finding> check();

 private:
  const Directive* find(std::string_view slurm_name, char pbs_letter = 0) const {
    const auto found = directives_of(view_, slurm_name, pbs_letter);
    return found.empty() ? nullptr : found.back();
  }
  // The "-l" directive that holds the resource, or null.
  const Directive* resource(std::string_view key) const {
    for (const Directive* directive : directives_of(view_, "", 'l'))
      for (const std::string_view item : split(directive->value, ','))
        if (item == key || item.starts_with(std::string(key) + "=")) return directive;
    return nullptr;
  }
  std::string resource_value(std::string_view key) const {
    const Directive* directive = resource(key);
    if (directive == nullptr) return "";
    for (const std::string_view item : split(directive->value, ','))
      if (item.starts_with(std::string(key) + "=")) return std::string(item.substr(key.size() + 1));
    return "";
  }
  void add(const char* id, Severity severity, const Directive* directive, std::string what, std::string why,
           std::string hint) {
    const Place place = directive == nullptr ? Place{} : Place{directive->line, directive->column};
    RuleSet::add(id, severity, place, std::move(what), std::move(why), std::move(hint));
  }
  void check_select();
  void check_chunk(const Directive* select, const Chunk& chunk);
  void check_numbers(const Directive* select);
  void check_pbs_styles();
  void check_pbs_time();
  void check_slurm_time();
  void check_name();
  void check_pbs_life();
  void check_slurm_shape();
  void check_slurm_gpus();
  void check_slurm_life();
  void check_signal();
  bool waits_for_child() const;
  bool traps() const;
};

// A name of a chunk that PBS does not have by itself, one or two letters from one that it has. qsub takes it
// where the site defines such a resource, else refuses it or ignores the wish.
std::optional<std::string> near_resource(std::string_view key) {
  static const std::vector<std::string> names{"ncpus", "mpiprocs", "ompthreads", "ngpus",
                                              "mem",   "vmem",     "host",       "vnode",
                                              "arch",  "nodes",    "Qlist",      "naccelerators"};
  if (std::find(names.begin(), names.end(), key) != names.end()) return std::nullopt;
  return key.size() < 4 ? std::nullopt : closest_match(key, names);
}

// Every number of a select statement, as qsub checks it.
void RequestRules::check_numbers(const Directive* select) {
  const std::string value_text = resource_value("select");
  for (const std::string_view text : split(value_text, '+')) {
    bool first = true;
    for (const std::string_view part : split(text, ':')) {
      const std::size_t equals = part.find('=');
      const std::string_view number = equals == std::string_view::npos ? part : part.substr(equals + 1);
      const std::string_view key = part.substr(0, equals);
      const bool counted = equals == std::string_view::npos
                               ? first
                               : key == "ncpus" || key == "mpiprocs" || key == "ompthreads" || key == "ngpus";
      const auto value = parse_unsigned(number, 1u << 20);
      const bool zero = value && *value == 0 && (first || key == "ncpus");
      if ((counted && !value) || (zero && key != "ngpus") || part.empty())
        add("bad-number", Severity::error, select,
            fmt::format("\"{}\" in select is not a valid number", part),
            "qsub: Illegal attribute or resource value, status 166",
            "select=2:ncpus=8:mpiprocs=4:ompthreads=2");
      if (const auto near = equals == std::string_view::npos ? std::nullopt : near_resource(key))
        add("resource-misspelt", Severity::warning, select,
            fmt::format("\"{}\" in select is not a built-in resource of PBS", printable(key, 40)),
            "qsub rejects it, or the chunk gets the default of the intended resource: one rank, one core",
            fmt::format("{}={}", *near, printable(number, 40)));
      first = false;
    }
  }
}

void RequestRules::check_chunk(const Directive* select, const Chunk& chunk) {
  const std::uint64_t tasks = std::max<std::uint64_t>(1, chunk.tasks);
  if (chunk.cores == 0) return;
  if (chunk.tasks > 1 && chunk.cores % chunk.tasks != 0)
    add("mpiprocs-uneven", Severity::warning, select,
        fmt::format("mpiprocs={} does not divide ncpus={}", chunk.tasks, chunk.cores),
        fmt::format("{} cores stay idle or are shared", chunk.cores % chunk.tasks),
        fmt::format(":mpiprocs={}", chunk.cores % 2 == 0 ? 2 : 1));
  if (chunk.threads > 0 && tasks * chunk.threads > chunk.cores && tasks > 1)
    add("threads-over-cores", Severity::warning, select,
        fmt::format("{} ranks x {} threads = {} on {} cores", tasks, chunk.threads, tasks * chunk.threads,
                    chunk.cores),
        "the threads then share cores",
        fmt::format(":ompthreads={}", std::max<std::uint64_t>(1, chunk.cores / tasks)));
}

void RequestRules::check_select() {
  const Directive* select = resource("select");
  if (select == nullptr) return;
  if (has_split_value(view_, *select)) return;
  check_numbers(select);
  for (const Chunk& chunk : view_.request.chunks) check_chunk(select, chunk);
  const std::uint64_t nodes = node_count(view_.request);
  const bool whole = view_.request.spread != Spread::unspecified;
  // More than half of a node's cores: two of them find no room on one host.
  const std::uint64_t cores = node_cores(view_);
  const bool fill_hosts = cores > 0 && std::ranges::all_of(view_.request.chunks, [cores](const Chunk& chunk) {
                            return 2 * chunk.cores > cores;
                          });
  if (nodes > 1 && !whole && !fill_hosts)
    add("place-missing", Severity::warning, select,
        fmt::format("select requests {} chunks, but no place is set", nodes),
        "place defaults to free: PBS may put several chunks on one host", "#PBS -l place=scatter");
}

// "nodes=2:ppn=4" -> "select=2:ncpus=4:mpiprocs=4", for the plain form.
std::string select_of_nodes(const ResourceRequest& request) {
  if (request.chunks.size() != 1) return "select=N:ncpus=C:mpiprocs=R";
  const Chunk& chunk = request.chunks.front();
  const std::uint64_t cores = std::max<std::uint64_t>(1, chunk.cores);
  return fmt::format("select={}:ncpus={}:mpiprocs={}", chunk.nodes, cores,
                     std::max<std::uint64_t>(1, chunk.tasks));
}

void RequestRules::check_pbs_styles() {
  const bool selects = resource("select") != nullptr;
  const std::string place = resource_value("place");
  if (selects || resource("place") != nullptr) {
    for (const char* key : {"nodes", "ncpus", "mem", "mpiprocs", "ompthreads", "ngpus", "nodect", "ppn"}) {
      const Directive* other = resource(key);
      if (other == nullptr) continue;
      const bool nodes = !selects && std::string_view(key) == "nodes";
      add("mixed-styles", Severity::error, other,
          fmt::format("-l {} together with -l {}", key, selects ? "select" : "place"),
          fmt::format("qsub refuses: cannot be used with select or place ({})", key),
          nodes && place == "scatter" ? std::string(place_is_implied)
          : nodes ? fmt::format("#PBS -l {} -l place={}", select_of_nodes(view_.request), place)
                  : "set it within select=...");
    }
  } else if (const Directive* nodes = resource("nodes"); nodes != nullptr && !view_.torque()) {
    add("old-nodes", Severity::note, nodes, "-l nodes= is the old form",
        "PBS converts it to select and place=scatter", "-l select=N:ncpus=C:mpiprocs=R -l place=scatter");
  }
  for (const Directive* directive : directives_of(view_, "", 'l'))
    if (directive->value.find(", ") != std::string::npos || directive->value.ends_with(','))
      add("blank-in-list", Severity::error, directive, "a comma of -l is followed by a blank or by nothing",
          "qsub: illegal -l value", "no blanks: -l walltime=1:00:00,mem=4gb");
}

void RequestRules::check_pbs_time() {
  const Directive* directive = resource("walltime");
  const std::string value = resource_value("walltime");
  if (directive == nullptr) {
    add("walltime-missing", Severity::note, nullptr, "no walltime is requested",
        "the queue's default applies, which may be very short or very long", "#PBS -l walltime=04:00:00");
    return;
  }
  const auto seconds = parse_pbs_time(value);
  if (!seconds || *seconds == 0) {
    add("bad-time", Severity::error, directive, fmt::format("walltime={} is not a valid time", value),
        "qsub: Illegal attribute or resource value, status 166", "walltime=HH:MM:SS");
  } else if (value.find(':') == std::string::npos) {
    add("bare-time", Severity::warning, directive,
        fmt::format("walltime={} means {} seconds", value, *seconds),
        "PBS reads a bare number as seconds, Slurm as minutes", "walltime=" + render_time(*seconds));
  } else if (const auto hours = parse_pbs_time(value + ":00");
             std::count(value.begin(), value.end(), ':') == 1 && hours) {
    add("walltime-short-form", Severity::warning, directive,
        fmt::format("walltime={} means {} minutes and {} seconds", value, *seconds / 60, *seconds % 60),
        "with one colon PBS reads minutes and seconds, not hours and minutes",
        fmt::format("walltime={}, or walltime={} if that is meant", render_time(*hours),
                    render_time(*seconds)));
  }
}

void RequestRules::check_slurm_time() {
  const Directive* directive = find("time");
  if (directive == nullptr) {
    add("walltime-missing", Severity::note, nullptr, "no time limit is requested",
        "the partition's default applies, which may be very short or very long", "#SBATCH --time=04:00:00");
    return;
  }
  const std::string& value = directive->value;
  const auto seconds = parse_slurm_time(value);
  if (value == "UNLIMITED" || value == "INFINITE" || value == "-1") return;
  if (!seconds) {
    add("bad-time", Severity::error, directive, fmt::format("--time={} is not a valid time", value),
        "sbatch: Invalid time limit specification, status 255", "--time=HH:MM:SS");
  } else if (value.find_first_of(":-") == std::string::npos) {
    add("bare-time", Severity::note, directive,
        fmt::format("--time={} means {} minutes", value, *seconds / 60),
        "Slurm reads a bare number as minutes, PBS as seconds", "--time=" + render_time(*seconds));
  } else if (constexpr std::uint64_t doubtful_seconds = 24 * 60;
             value.find('-') == std::string::npos && std::count(value.begin(), value.end(), ':') == 1 &&
             *seconds <= doubtful_seconds) {
    add("walltime-short-form", Severity::warning, directive,
        fmt::format("--time={} means {} minutes and {} seconds", value, *seconds / 60, *seconds % 60),
        "with one colon Slurm reads minutes and seconds, not hours and minutes",
        fmt::format("--time={}:00, or --time={} if that is meant", value, render_time(*seconds)));
  }
}

void RequestRules::check_name() {
  const Directive* directive = find("job-name", 'N');
  if (directive == nullptr) return;
  const std::string& name = directive->value;
  if (view_.pbs() && (name.size() > 230 || name.find_first_of(" \t/") != std::string::npos))
    add("bad-name", Severity::error, directive, "PBS does not accept this job name",
        "at most 230 characters, no blank: qsub: illegal -N value", "-N train-alexnet");
  else if (view_.pbs() &&
           (name.size() > 15 || (!name.empty() && !std::isalpha(static_cast<unsigned char>(name[0])))))
    add("old-name-rule", Severity::note, directive, "older versions of PBS reject this job name",
        "at most 15 characters, the first one a letter", "a shorter name that begins with a letter");
  if (view_.slurm() && name.find('/') != std::string::npos)
    add("bad-name", Severity::warning, directive, "a slash in the job name",
        "%x in --output then names another directory, and the output is lost", "a name without slashes");
}

void RequestRules::check_pbs_life() {
  if (const Directive* all = find("", 'V'))
    add("export-all", Severity::note, all, "-V passes the whole environment to the job",
        "it is in the job's Variable_List, which qstat -f shows: tokens and passwords too",
        "-v NAME,NAME for what the job needs");
  const Directive* rerun = find("", 'r');
  if (rerun != nullptr && rerun->value == "n" && find("", 'J') != nullptr)
    add("array-not-rerunable", Severity::error, rerun, "-r n and -J",
        "qsub rejects an array job that cannot be rerun", "remove -r n");
  if (const Directive* interactive = find("", 'I'))
    add("interactive", Severity::warning, interactive, "-I in a script",
        "an interactive job does not run the script", "remove -I");
}

// "#SBATCH --nodes=4" of "--nodes =4"; with 2 where no number is given.
std::string directive_with_number(const Directive& directive) {
  const std::string_view text = directive.value;
  const std::string_view number = text.substr(std::min(text.find_first_not_of('='), text.size()));
  return fmt::format("#SBATCH {}{}{}", directive.option, directive.option.starts_with("--") ? "=" : " ",
                     parse_unsigned(number).value_or(0) > 0 ? number : "2");
}

void RequestRules::check_slurm_shape() {
  const Directive* tasks = find("ntasks");
  const Directive* per_node = find("ntasks-per-node");
  const Directive* nodes = find("nodes");
  const auto number = [](const Directive* directive) -> std::uint64_t {
    if (directive == nullptr) return 0;
    return parse_unsigned(std::string_view(directive->value).substr(0, directive->value.find('-')), 1u << 20)
        .value_or(0);
  };
  const std::uint64_t n = number(tasks), p = number(per_node), k = number(nodes);
  for (const Directive* directive : {tasks, per_node, nodes, find("cpus-per-task")})
    if (directive != nullptr && number(directive) == 0 && !has_split_value(view_, *directive))
      add("bad-number", Severity::error, directive,
          fmt::format("{} {} is not a valid number", directive->option, directive->value),
          "sbatch rejects it with status 255", directive_with_number(*directive));
  if (n > 0 && p > 0 && k > 0 && n != p * k)
    add("tasks-mismatch", Severity::warning, tasks,
        fmt::format("--ntasks={}, but {} nodes x {} tasks = {}", n, k, p, k * p),
        "--ntasks-per-node is then only an upper limit", fmt::format("--ntasks={}, or remove it", k * p));
  if (n > 0 && p == 0 && k > 0 && n % k != 0)
    add("tasks-uneven", Severity::note, tasks,
        fmt::format("{} tasks do not divide evenly among {} nodes", n, k), "some nodes get one more",
        fmt::format("--ntasks-per-node={}", (n + k - 1) / k));
}

void RequestRules::check_slurm_gpus() {
  const Directive* first = nullptr;
  for (const char* name : {"gres", "gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket"}) {
    const Directive* directive = find(name);
    if (directive == nullptr ||
        (std::string_view(name) == "gres" && directive->value.find("gpu") == std::string::npos))
      continue;
    if (first == nullptr) {
      first = directive;
      continue;
    }
    add("gpu-styles", Severity::warning, directive,
        fmt::format("{} together with {}", directive->option, first->option),
        "two requests for GPUs: both apply, and if they differ the job waits forever or gets fewer GPUs",
        "--gpus-per-node=N alone");
  }
  for (const char* name : {"gpus-per-task", "gpu-bind"}) {
    const Directive* directive = find(name);
    if (directive == nullptr || directive->value == "none") continue;
    add("gpu-hidden", Severity::warning, directive,
        fmt::format("{} hides the other ranks' GPUs from each rank", directive->option),
        "NCCL's peer access and CUDA IPC then fail, and GPU numbers are not those of the program: invalid "
        "device "
        "ordinal",
        "--gpus-per-node=N and --gpu-bind=none; the rank picks its GPU by its local number");
  }
}

bool RequestRules::waits_for_child() const {
  bool background = false, waits = false;
  for (const PlacedCommand& placed : view_.commands) {
    background = background || placed.command.background;
    waits = waits || placed.command.name() == "wait";
  }
  return background && waits;
}

bool RequestRules::traps() const {
  return std::any_of(view_.commands.begin(), view_.commands.end(),
                     [](const PlacedCommand& placed) { return placed.command.name() == "trap"; });
}

void RequestRules::check_signal() {
  const Directive* directive = find("signal");
  if (directive == nullptr) return;
  const bool to_shell = directive->value.find("B:") != std::string::npos;
  if (to_shell && !traps())
    add("signal-untrapped", Severity::error, directive,
        fmt::format("--signal={} without a trap", directive->value),
        "the signal ends the batch shell, and the job with it", "trap 'kill -USR1 \"$child\"' USR1");
  else if (to_shell && !waits_for_child())
    add("signal-late", Severity::warning, directive,
        fmt::format("--signal={}, but the program runs in the foreground", directive->value),
        "bash runs a trap only when the foreground command has ended: too late to save anything",
        fmt::format("srun PROGRAM & child=$!; {}", wait_loop));
  else if (!to_shell && traps())
    add("signal-elsewhere", Severity::warning, directive,
        fmt::format("--signal={} does not reach this script", directive->value),
        "without B: the signal goes to the ranks only; the trap here never runs",
        "--signal=B:" + directive->value);
}

void RequestRules::check_slurm_life() {
  const Directive* requeue = find("requeue");
  const Directive* mode = find("open-mode");
  if (requeue != nullptr && (mode == nullptr || !mode->value.starts_with('a')))
    add("requeue-truncates", Severity::warning, requeue, "--requeue without --open-mode=append",
        "the second run overwrites the output of the first", "#SBATCH --open-mode=append");
  const Directive* array = find("array");
  const Directive* output = find("output");
  if (array != nullptr && output != nullptr && output->value.find("%a") == std::string::npos &&
      output->value.find("%j") == std::string::npos && output->value != "/dev/null")
    add("array-one-file", Severity::warning, output,
        fmt::format("all array tasks write to {}", output->value), "they overwrite each other",
        "--output=%x-%A_%a.out");
  if (output != nullptr && output->value.find('/') != std::string::npos && !output->value.starts_with('/'))
    add("output-directory", Severity::note, output,
        fmt::format("the directory of {} must exist", output->value),
        "Slurm creates no directories: the job fails at once, without a message", "mkdir -p before sbatch");
  check_signal();
}

std::vector<Finding> RequestRules::check() {
  check_name();
  if (view_.script.dialect == Dialect::pbs) {
    check_select();
    check_pbs_styles();
    check_pbs_time();
    check_pbs_life();
  } else if (view_.script.dialect == Dialect::slurm) {
    check_slurm_shape();
    check_slurm_gpus();
    check_slurm_time();
    check_slurm_life();
  }
  return std::move(findings_);
}

}  // namespace

std::vector<Finding> lint_request(const ScriptView& view) { return RequestRules(view).check(); }

}  // namespace ddlrun::job_scripts
