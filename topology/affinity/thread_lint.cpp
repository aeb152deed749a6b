// SPDX-License-Identifier: MIT
#include "topology/affinity/thread_lint.hpp"

#include "base/text/text.hpp"
#include "topology/affinity/kmp_affinity.hpp"
#include "topology/affinity/thread_map_internal.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::affinity {

namespace {

constexpr std::string_view good_kmp = "granularity=fine,compact,1,0";

std::string count(std::uint64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string export_line(const std::string& name, std::string_view value) {
  return fmt::format("export {}={}", name, value);
}

class Linter {
 public:
  explicit Linter(const ThreadEnvironment& environment) : given_(environment) {
    has_machine_ = given_.machine.processors() > 0;
    if (const auto exported = threads_of(given_.variables))
      threads_ = *exported;
    else if (given_.ompthreads > 0)
      threads_ = given_.ompthreads;
    else
      threads_ = given_.cpus_per_chunk;
  }

  std::vector<AffinityFinding> run() && {
    check_kmp_grammar();
    check_kmp_against_others();
    check_deaf_variables();
    check_crowding_setting();
    check_counts();
    check_room();
    check_blocktime();
    check_launchers();
    return std::move(findings_);
  }

 private:
  bool has(const std::string& name) const { return !variable_of(given_.variables, name).empty(); }
  std::string shown(const std::string& name) const {
    const auto found = given_.variables.find(name);
    return fmt::format("{}={}", name,
                       found == given_.variables.end() ? "" : printable(trim(found->second), 80));
  }
  void find(std::string id, AffinitySeverity severity, std::string variable, std::string what,
            std::string hint, std::vector<std::pair<std::string, std::string>> mend = {}) {
    findings_.push_back(
        {std::move(id), severity, std::move(variable), std::move(what), std::move(hint), std::move(mend)});
  }

  bool knows_siblings() const { return has_machine_ && given_.siblings_known; }

  // Of one rank: the whole node, or an even part of its cores.
  ThreadMachine own_machine() const {
    const std::uint32_t ranks = std::max(1u, given_.ranks_per_node);
    if (ranks == 1) return given_.machine;
    return {1, std::max(1u, given_.machine.cores() / ranks), given_.machine.threads_per_core};
  }

  // " : 60 threads on 15 of 68 cores, 4 on the fullest", where the machine is known.
  std::string cost(OpenMpRuntime runtime, const EnvVars& variables) const {
    if (!knows_siblings() || threads_ == 0) return {};
    const ThreadMachine own = own_machine();
    const auto map = map_threads({own, {}, runtime, variables, threads_});
    if (!map || !map->bound) return {};
    const bool is_part = given_.ranks_per_node > 1;
    return fmt::format(": {}{} on {} of {}{}, {} on the fullest", count(threads_, "thread"),
                       is_part ? " of a rank" : "", map->distinct_cores, is_part ? "its " : "",
                       count(own.cores(), "core"), map->most_on_a_core);
  }
  std::string cost(OpenMpRuntime runtime) const { return cost(runtime, given_.variables); }

  void check_kmp_grammar() {
    const std::string name = "KMP_AFFINITY", value = variable_of(given_.variables, name);
    if (value.empty() || given_.runtime == OpenMpRuntime::libgomp) return;
    const KmpAffinity kmp = parse_kmp_affinity(value);
    const std::pair<std::string, std::string> mend{name, std::string(good_kmp)};
    if (!kmp.problem.empty()) {
      const bool trailing = kmp.problem.find("is not part of the syntax") != std::string::npos;
      find(trailing ? "kmp-trailing" : "kmp-grammar", AffinitySeverity::error, name,
           fmt::format("{}: {}{}", shown(name), printable(kmp.problem, 120), cost(OpenMpRuntime::libomp)),
           export_line(name, good_kmp), {mend});
      return;
    }
    const bool first_number = kmp.permute.value_or(0) > 0;
    const bool siblings = !knows_siblings() || given_.machine.threads_per_core > 1;
    // One thread has the first place with and without the permute.
    if (kmp.type != "compact" || first_number || !siblings || threads_ == 1 ||
        variable_of(given_.variables, "KMP_HW_SUBSET").find("1t") != std::string::npos)
      return;
    if (fills_anyway()) return;
    find("kmp-compact", knows_siblings() ? AffinitySeverity::warning : AffinitySeverity::note, name,
         fmt::format(
             "{} fills all hardware threads of a core before the next core{}", shown(name),
             knows_siblings() ? cost(OpenMpRuntime::libomp) : "; harmless only where cores have one each"),
         export_line(name, good_kmp), {mend});
  }

  // As many threads as hardware threads: then every order fills all.
  bool fills_anyway() const { return knows_siblings() && threads_ >= own_machine().processors(); }

  void check_kmp_against_others() {
    if (!has("KMP_AFFINITY")) return;
    for (const char* other : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"}) {
      if (!has(other)) continue;
      find("kmp-and-omp", AffinitySeverity::warning, other,
           fmt::format("{} and {}: LLVM's and Intel's runtime use only the first, GNU's only the second",
                       shown("KMP_AFFINITY"), shown(other)),
           fmt::format("keep one: unset {}, or unset KMP_AFFINITY", other), {{other, ""}});
    }
    if (given_.numactl)
      find("kmp-and-numactl", AffinitySeverity::warning, "KMP_AFFINITY",
           fmt::format("{} and numactl or taskset before the program: both choose cores",
                       shown("KMP_AFFINITY")),
           "remove numactl, or KMP_AFFINITY");
  }

  void check_deaf_variables() {
    if (given_.runtime == OpenMpRuntime::libgomp) {
      for (const auto& [name, value] : given_.variables) {
        if (!name.starts_with("KMP_") || trim(value).empty()) continue;
        find("kmp-with-libgomp", AffinitySeverity::warning, name,
             fmt::format("{}, but the program links libgomp, which ignores KMP_ variables", shown(name)),
             name == "KMP_AFFINITY" ? "export OMP_PLACES=cores OMP_PROC_BIND=close" : "unset " + name,
             {{name, ""}});
      }
    }
    if (given_.runtime == OpenMpRuntime::libomp && has("GOMP_CPU_AFFINITY") && !has("KMP_AFFINITY"))
      find("gomp-with-libomp", AffinitySeverity::warning, "GOMP_CPU_AFFINITY",
           fmt::format("{}, but the program links LLVM's or Intel's OpenMP", shown("GOMP_CPU_AFFINITY")),
           fmt::format("export KMP_AFFINITY={}; unset GOMP_CPU_AFFINITY", good_kmp),
           {{"GOMP_CPU_AFFINITY", ""}});
  }

  // The OpenMP variables put threads onto siblings while cores stay idle.
  void check_crowding_setting() {
    const bool kmp_rules = has("KMP_AFFINITY") && given_.runtime != OpenMpRuntime::libgomp;
    if (kmp_rules || !has_machine_ || given_.machine.threads_per_core < 2 || threads_ == 0) return;
    if (!has("OMP_PLACES") && !has("OMP_PROC_BIND")) return;
    ThreadMachine own = own_machine();
    own = {1, own.cores(), own.threads_per_core};
    EnvVars variables = given_.variables;
    variables.erase("KMP_AFFINITY");
    for (const auto runtime : {OpenMpRuntime::libgomp, OpenMpRuntime::libomp}) {
      if (given_.runtime != runtime && given_.runtime != OpenMpRuntime::unknown) continue;
      const auto map = map_threads({own, {}, runtime, variables, threads_});
      const std::uint32_t needed = (threads_ + own.cores() - 1) / own.cores();
      if (!map || !map->bound || map->most_on_a_core <= needed) continue;
      const std::string name = has("OMP_PLACES") ? "OMP_PLACES" : "OMP_PROC_BIND";
      find("places-share-cores", AffinitySeverity::warning, name,
           fmt::format("{}{} puts {} on {} of {}, {} on the fullest ({})",
                       has("OMP_PLACES") ? shown("OMP_PLACES") + " " : "",
                       has("OMP_PROC_BIND") ? shown("OMP_PROC_BIND") : "without OMP_PROC_BIND",
                       count(threads_, "thread"), map->distinct_cores, count(own.cores(), "core"),
                       map->most_on_a_core, name_of(runtime)),
           "export OMP_PLACES=cores OMP_PROC_BIND=close",
           {{"OMP_PLACES", "cores"}, {"OMP_PROC_BIND", "close"}});
      return;
    }
  }

  void check_counts() {
    const auto exported = threads_of(given_.variables);
    if (has("OMP_NUM_THREADS") && !exported && variable_of(given_.variables, "OMP_NUM_THREADS")[0] != '$')
      find("threads-no-number", AffinitySeverity::error, "OMP_NUM_THREADS",
           fmt::format("{} is not a number of threads: the runtime takes one for each processor",
                       shown("OMP_NUM_THREADS")),
           "export OMP_NUM_THREADS=N");
    if (ompthreads_differ())
      find("ompthreads-differ", AffinitySeverity::warning, "OMP_NUM_THREADS",
           fmt::format(
               "the request has ompthreads={}, the script OMP_NUM_THREADS={}: the script's value applies",
               given_.ompthreads, *exported),
           request_line(over_cores() ? fitting_threads() : *exported), {{"OMP_NUM_THREADS", ""}});
    const auto mkl = parse_unsigned(variable_of(given_.variables, "MKL_NUM_THREADS"), 1u << 20);
    if (mkl && *mkl > 0 && threads_ > 0 && *mkl != threads_)
      find("mkl-differs", AffinitySeverity::warning, "MKL_NUM_THREADS",
           fmt::format("MKL_NUM_THREADS={} and OMP_NUM_THREADS={}: MKL and the rest of the program use "
                       "different numbers of threads; without the first, MKL uses the second",
                       *mkl, threads_),
           "unset MKL_NUM_THREADS", {{"MKL_NUM_THREADS", ""}});
  }

  bool threads_unset() const { return !has("OMP_NUM_THREADS") && given_.ompthreads == 0; }
  bool ompthreads_differ() const {
    const auto exported = threads_of(given_.variables);
    return exported && given_.ompthreads > 0 && *exported != given_.ompthreads;
  }
  static std::string request_line(std::uint64_t threads) {
    return fmt::format("ompthreads={}, and remove the export", threads);
  }
  std::uint64_t usable_cores() const {
    const std::uint64_t cores = given_.machine.cores();
    return cores - std::min<std::uint64_t>(cores, given_.cores_reserved);
  }
  // Of each rank, one a core.
  std::uint64_t fitting_threads() const {
    return std::max<std::uint64_t>(1, usable_cores() / std::max(1u, given_.ranks_per_node));
  }
  bool over_cores() const {
    if (given_.machine.cores() == 0 || given_.ranks_per_node == 0 || threads_ == 0) return false;
    if (threads_unset() && given_.cpus_per_chunk > 0) return false;
    return std::uint64_t{given_.ranks_per_node} * threads_ > usable_cores();
  }

  void check_room() {
    const std::uint64_t ranks = given_.ranks_per_node;
    if (threads_unset() && given_.cpus_per_chunk > 0 && ranks > 1)
      find("ompthreads-missing", AffinitySeverity::warning, "",
           fmt::format("mpiprocs={} without ompthreads: PBS sets OMP_NUM_THREADS={} for each of {}", ranks,
                       given_.cpus_per_chunk, count(ranks, "rank")),
           fmt::format("ompthreads={}", std::max<std::uint64_t>(1, given_.cpus_per_chunk / ranks)));
    if (!over_cores()) return;
    const std::uint64_t usable = usable_cores();
    const std::uint64_t siblings = usable * given_.machine.threads_per_core;
    const bool fits_siblings = ranks * threads_ <= siblings;
    find("threads-over-cores", fits_siblings ? AffinitySeverity::note : AffinitySeverity::warning,
         "OMP_NUM_THREADS",
         fmt::format("{} x {} = {} threads on {}{}", count(ranks, "rank"), count(threads_, "thread"),
                     ranks * threads_, count(usable, "core"),
                     fits_siblings ? fmt::format(" of {} hardware threads", siblings) : ""),
         ompthreads_differ() ? request_line(fitting_threads())
                             : export_line("OMP_NUM_THREADS", fmt::format("{}", fitting_threads())),
         {{"OMP_NUM_THREADS", fmt::format("{}", fitting_threads())}});
  }

  void check_blocktime() {
    const std::string name = "KMP_BLOCKTIME", value = variable_of(given_.variables, name);
    if (value.empty() || value == "infinite" || given_.runtime == OpenMpRuntime::libgomp) return;
    const auto number = parse_unsigned(value, INT32_MAX);
    const bool crowded = given_.machine.cores() > 0 && given_.ranks_per_node > 0 &&
                         std::uint64_t{given_.ranks_per_node} * threads_ > given_.machine.cores();
    if (!number)
      find("blocktime", AffinitySeverity::warning, name,
           fmt::format("{} is not a number of ms: the runtime ignores it and threads spin for 200 ms",
                       shown(name)),
           "export KMP_BLOCKTIME=1", {{name, "1"}});
    else if (*number >= 200 && crowded)
      find("blocktime", AffinitySeverity::warning, name,
           fmt::format("{}: a waiting thread spins that long on a core that others need", shown(name)),
           "export KMP_BLOCKTIME=0", {{name, "0"}});
  }

  void check_launchers() {
    if (!given_.rankfile) return;
    for (const char* name : {"I_MPI_PIN", "I_MPI_PIN_DOMAIN", "I_MPI_PIN_PROCESSOR_LIST"}) {
      if (!has(name)) continue;
      find("i-mpi-and-rankfile", AffinitySeverity::warning, name,
           fmt::format("{} with a rankfile: the first is Intel MPI's, the second Open MPI's; one of them has "
                       "no effect",
                       shown(name)),
           fmt::format("unset {}", name), {{name, ""}});
    }
  }

  const ThreadEnvironment& given_;
  bool has_machine_ = false;
  std::uint32_t threads_ = 0;  // of each rank; 0: not known
  std::vector<AffinityFinding> findings_;
};

}  // namespace

std::vector<AffinityFinding> check_thread_environment(const ThreadEnvironment& environment) {
  return Linter(environment).run();
}

const std::vector<AffinityRule>& affinity_rules() {
  static const std::vector<AffinityRule> rules{
      {"kmp-trailing", "characters after a word of KMP_AFFINITY, like compact=1, which is plain compact"},
      {"kmp-grammar", "a KMP_AFFINITY that the runtime takes only in part"},
      {"kmp-compact", "compact without a permute where cores have several hardware threads"},
      {"kmp-and-omp", "KMP_AFFINITY together with OMP_PROC_BIND, OMP_PLACES or GOMP_CPU_AFFINITY"},
      {"kmp-and-numactl", "KMP_AFFINITY together with numactl or taskset"},
      {"kmp-with-libgomp", "KMP_ variables for a program that links libgomp"},
      {"gomp-with-libomp", "GOMP_CPU_AFFINITY for a program that links LLVM's or Intel's runtime"},
      {"places-share-cores", "OMP_PLACES and OMP_PROC_BIND that fill a core's hardware threads first"},
      {"threads-no-number", "an OMP_NUM_THREADS that is no number"},
      {"ompthreads-differ", "ompthreads of the request is not the script's OMP_NUM_THREADS"},
      {"mkl-differs", "MKL_NUM_THREADS is not OMP_NUM_THREADS"},
      {"ompthreads-missing", "several ranks a chunk without ompthreads: OMP_NUM_THREADS becomes ncpus"},
      {"threads-over-cores", "ranks x threads exceed the cores of a node"},
      {"blocktime", "a KMP_BLOCKTIME that is no number, or long where threads share cores"},
      {"i-mpi-and-rankfile", "I_MPI_PIN together with a rankfile"}};
  return rules;
}

}  // namespace ddlrun::affinity
