// SPDX-License-Identifier: MIT
#include "topology/affinity/thread_settings.hpp"

#include "base/text/text.hpp"
#include "topology/affinity/thread_lint.hpp"
#include "topology/affinity/thread_map.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::affinity {

namespace {

std::string count(std::uint32_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

class Planner {
 public:
  Planner(const ThreadRequest& request, const EnvVars& environment)
      : request_(request), environment_(environment) {}

  ThreadSettings run() && {
    plan_count();
    if (request_.runtime != OpenMpRuntime::none) {
      plan_places();
      plan_waiting();
      if (threads_ > 0 && !has("MKL_NUM_THREADS"))
        add("MKL_NUM_THREADS", fmt::format("{}", threads_),
            "as OMP_NUM_THREADS, also where MKL brings a runtime of its own");
      plan_talk();
    }
    if (request_.tensorflow) plan_tensorflow();
    if (request_.launcher == "intel-mpi") plan_intel_mpi();
    check();
    return std::move(settings_);
  }

 private:
  bool has(const std::string& name) const { return environment_.count(name) != 0; }
  std::string value(const std::string& name) const {
    const auto found = environment_.find(name);
    return found == environment_.end() ? std::string() : std::string(trim(found->second));
  }
  void add(std::string name, std::string value, std::string why) {
    settings_.variables.push_back({std::move(name), std::move(value), std::move(why)});
  }
  void remark(std::string text) { settings_.remarks.push_back(std::move(text)); }
  bool is_libomp() const { return request_.runtime == OpenMpRuntime::libomp; }

  void plan_count() {
    if (has("OMP_NUM_THREADS")) {
      threads_ = threads_of(environment_).value_or(0);
      if (request_.threads > 0 && threads_ != request_.threads)
        remark(fmt::format("{} threads a rank were requested, but OMP_NUM_THREADS={} is set and stays",
                           request_.threads, printable(value("OMP_NUM_THREADS"), 40)));
      return;
    }
    threads_ = request_.threads > 0 ? request_.threads : request_.cores;
    if (threads_ > 0) add("OMP_NUM_THREADS", fmt::format("{}", threads_), why_so_many());
  }

  std::string why_so_many() const {
    const std::uint32_t cores = request_.cores;
    if (request_.threads > cores && cores > 0)
      return fmt::format(
          "--threads {}, although a rank has {}: more threads share them (--threads {}{})", request_.threads,
          count(cores, "core"), cores,
          request_.threads <= request_.room ? fmt::format(", or --cores-per-rank {}", request_.threads) : "");
    if (request_.threads > 0) return "requested";
    if (request_.most_cores > cores)
      return fmt::format("the cores of the smallest rank (they have {} to {})", cores, request_.most_cores);
    return "the cores of each rank; more threads would share cores";
  }

  // The user's own placing, in words; "" if there is none that the runtime would heed.
  std::string own_placing() const {
    const std::string names[] = {"KMP_AFFINITY", "OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY"};
    for (const std::string& name : names) {
      const bool is_deaf = name == "KMP_AFFINITY" && request_.runtime == OpenMpRuntime::libgomp;
      if (has(name) && !is_deaf) return name;
    }
    return {};
  }

  void plan_places() {
    const std::string own = own_placing();
    if (!own.empty()) return complete(own);
    if (!request_.bound) {
      if (request_.launcher != "intel-mpi" || request_.cores == 0)
        remark(
            "the ranks are not bound to cores, so their threads are not either: those of all ranks would "
            "take the "
            "same first cores");
      return;
    }
    if (is_libomp()) {
      add("KMP_AFFINITY", "granularity=fine,compact,1,0",
          "for LLVM's and Intel's OpenMP: a thread on each core in turn; siblings only when all "
          "cores "
          "have one");
      return;
    }
    add("OMP_PLACES", "cores", fmt::format("a place is a whole core{}", for_whom()));
    add("OMP_PROC_BIND", "close", "thread after thread on core after core of the rank, and it stays there");
  }

  std::string for_whom() const {
    if (request_.runtime == OpenMpRuntime::libgomp) return "; GNU's OpenMP heeds it";
    return "; understood by every OpenMP runtime, and it is not known which one the program brings";
  }

  // Half of the pair is the user's: the other half where without it hardware threads would be places.
  void complete(const std::string& own) {
    const std::string bind = value("OMP_PROC_BIND");
    const bool spreads = bind == "close" || bind == "spread" || bind == "true" || bind == "TRUE";
    if (own == "OMP_PROC_BIND" && spreads && !has("GOMP_CPU_AFFINITY"))
      add("OMP_PLACES", "cores",
          fmt::format(
              "to your OMP_PROC_BIND={}: without it GNU's runtime fills the hardware threads of a core first",
              bind));
  }

  void plan_waiting() {
    if (has("KMP_BLOCKTIME") || (!is_libomp() && !request_.tensorflow)) return;
    const bool crowded = request_.oversubscribed || (request_.cores > 0 && threads_ > request_.cores);
    add("KMP_BLOCKTIME", crowded ? "0" : "1",
        crowded
            ? "ms: threads share cores, so one that waits gives its core up at once"
            : "ms that a thread spins after a loop; the default of 200 keeps cores from the other libraries");
  }

  void plan_talk() {
    if (!request_.verbose) return;
    const bool gnu = request_.runtime == OpenMpRuntime::libgomp;
    if (!gnu && !has("KMP_SETTINGS")) add("KMP_SETTINGS", "1", "the runtime prints what it took");
    if (!is_libomp() && !has("OMP_DISPLAY_ENV"))
      add("OMP_DISPLAY_ENV", "true", "the runtime prints what it took");
  }

  void plan_tensorflow() {
    // One value serves all ranks. Where bound ranks have different numbers of cores, TensorFlow's default is
    // better: the PUs of each rank's own mask.
    const bool differ = request_.most_cores > request_.cores && request_.bound && request_.threads == 0 &&
                        !has("OMP_NUM_THREADS");
    if (threads_ > 0 && !differ && !has("TF_NUM_INTRAOP_THREADS"))
      add("TF_NUM_INTRAOP_THREADS", fmt::format("{}", threads_),
          "threads of one operator: those of the rank");
    // TensorFlow 2.21: with one, the default on one PU, a ParameterServerStrategy waits forever.
    if (!has("TF_NUM_INTEROP_THREADS"))
      add("TF_NUM_INTEROP_THREADS", "2", "operators at once: with one, parameter servers wait forever");
  }

  void plan_intel_mpi() {
    if (has("I_MPI_PIN_DOMAIN") || has("I_MPI_PIN") || request_.cores == 0) return;
    // A domain counts hardware threads.
    const bool siblings = request_.threads_per_core > 1;
    if (!siblings && threads_ == request_.cores)
      add("I_MPI_PIN_DOMAIN", "omp", "each rank gets as many cores as OMP_NUM_THREADS");
    else
      add("I_MPI_PIN_DOMAIN", fmt::format("{}:compact", request_.cores * request_.threads_per_core),
          fmt::format("the hardware threads of the {} of each rank", count(request_.cores, "core")));
  }

  // What the whole of it, the user's variables and ours, would do wrong.
  void check() {
    ThreadEnvironment all;
    all.variables = environment_;
    for (const ThreadVariable& variable : settings_.variables) all.variables[variable.name] = variable.value;
    all.runtime = request_.runtime;
    if (request_.cores > 0) all.machine = {1, request_.cores, request_.threads_per_core};
    all.ranks_per_node = request_.cores > 0 ? 1 : 0;
    all.rankfile = request_.bound && request_.launcher == "open-mpi";
    for (const AffinityFinding& finding : check_thread_environment(all)) {
      // The caller names it where it names the number and its source.
      if (finding.severity != AffinitySeverity::note && finding.id != "threads-over-cores")
        remark(fmt::format("{}; {}", finding.what, finding.hint));
    }
  }

  const ThreadRequest& request_;
  const EnvVars& environment_;
  std::uint32_t threads_ = 0;
  ThreadSettings settings_;
};

}  // namespace

ThreadSettings plan_thread_settings(const ThreadRequest& request, const EnvVars& environment) {
  return Planner(request, environment).run();
}

}  // namespace ddlrun::affinity
