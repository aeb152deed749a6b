// SPDX-License-Identifier: MIT
// thread_maps SHIM LIBGOMP_PROGRAM LIBOMP_PROGRAM: the model of affinity/thread_map against the real
// runtimes, thread by thread: the published table for a KNL node and a Skylake node, and a grid of settings
// on several machines and masks. DDLRUN_THREAD_MAPS=N runs at most N of the grid (0: all). Exit 1 on a
// difference.
#include "tests/differential/affinity/thread_judge.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace ddlrun;
using namespace ddlrun::tests;
using namespace ddlrun::affinity;

namespace {

constexpr ThreadMachine knl{1, 68, 4}, skylake{2, 20, 2};

// What the page of a centre and its correction do, as measured and published in the project's documents.
struct Row {
  ThreadMachine machine;
  OpenMpRuntime runtime;
  std::uint32_t threads;
  EnvVars variables;
  std::uint32_t distinct, most;
};

std::vector<Row> table() {
  const auto llvm = OpenMpRuntime::libomp, gnu = OpenMpRuntime::libgomp;
  const auto kmp = [](const char* value) { return EnvVars{{"KMP_AFFINITY", value}}; };
  const auto omp = [](const char* places, const char* bind) {
    return EnvVars{{"OMP_PLACES", places}, {"OMP_PROC_BIND", bind}};
  };
  const auto with = [](EnvVars variables, const char* subset) {
    variables["KMP_HW_SUBSET"] = subset;
    return variables;
  };
  return {
      {knl, llvm, 60, kmp("verbose,granularity=fine,compact=1"), 15, 4},
      {knl, llvm, 60, kmp("granularity=fine,compact=1"), 15, 4},
      {knl, llvm, 60, kmp("granularity=fine,compact"), 15, 4},
      {knl, llvm, 60, kmp("granularity=fine,compact,1,0"), 60, 1},
      {knl, llvm, 60, kmp("granularity=core,compact,1,0"), 60, 1},
      {knl, llvm, 60, kmp("granularity=fine,scatter"), 60, 1},
      {knl, llvm, 60, kmp("granularity=fine,balanced"), 60, 1},
      {knl, llvm, 60, omp("cores", "close"), 60, 1},
      {knl, llvm, 60, omp("cores", "spread"), 60, 1},
      {knl, llvm, 60, {{"OMP_PROC_BIND", "true"}}, 60, 1},
      {knl, llvm, 60, omp("threads", "close"), 15, 4},
      {knl, llvm, 60, omp("threads", "spread"), 60, 1},
      {knl, llvm, 60, with(kmp("granularity=fine,compact"), "68c,1t"), 60, 1},
      {knl, llvm, 136, kmp("granularity=fine,compact,1,0"), 68, 2},
      {knl, llvm, 136, kmp("granularity=fine,scatter"), 68, 2},
      {knl, llvm, 136, with(kmp("granularity=fine,compact"), "68c,2t"), 68, 2},
      {knl, llvm, 68, omp("cores", "close"), 68, 1},
      {skylake, llvm, 20, kmp("granularity=fine,compact,1,0"), 20, 1},
      {skylake, llvm, 20, kmp("granularity=fine,compact"), 10, 2},
      {skylake, llvm, 20, omp("cores", "close"), 20, 1},
      {skylake, llvm, 20, omp("cores", "spread"), 20, 1},
      {skylake, llvm, 20, omp("threads", "close"), 10, 2},
      {skylake, llvm, 40, kmp("granularity=fine,compact,1,0"), 40, 1},
      // GNU's "true" alone takes hardware threads for places, and those of one core stand together.
      {knl, gnu, 60, {{"OMP_PROC_BIND", "true"}}, 15, 4},
      {knl, gnu, 60, omp("cores", "close"), 60, 1},
      {knl, gnu, 60, omp("threads", "close"), 15, 4},
  };
}

std::vector<int> numbers(const ThreadMachine& machine, std::uint32_t first, std::uint32_t last,
                         bool siblings) {
  std::vector<int> mask;
  for (std::uint32_t t = 0; t < (siblings ? machine.threads_per_core : 1); ++t)
    for (std::uint32_t core = first; core <= last; ++core)
      mask.push_back(static_cast<int>(t * machine.cores() + core));
  return mask;
}

// "disabled" is left out: LLVM 14 then asserts "num_avail > 0" now and then, on real machines too.
std::vector<EnvVars> settings(OpenMpRuntime runtime) {
  std::vector<EnvVars> all;
  for (const char* places : {"", "threads", "cores", "sockets"}) {
    for (const char* bind : {"", "true", "false", "close", "spread", "master"}) {
      EnvVars variables;
      if (*places != '\0') variables["OMP_PLACES"] = places;
      if (*bind != '\0') variables["OMP_PROC_BIND"] = bind;
      all.push_back(variables);
    }
  }
  if (runtime == OpenMpRuntime::libgomp) {
    all.push_back({{"KMP_AFFINITY", "compact"}});
    return all;
  }
  for (const char* grain : {"", "granularity=fine,", "granularity=core,", "granularity=socket,"}) {
    for (const char* type :
         {"compact", "compact,1,0", "compact,1", "compact,2", "compact,0,3", "compact,1,5", "scatter",
          "scatter,1", "balanced", "none", "physical", "logical", "compact=1"}) {
      if (std::string_view(grain).find("socket") != std::string_view::npos && *type == 'b') continue;
      all.push_back({{"KMP_AFFINITY", std::string(grain) + type}});
      if (*type == 'c') all.push_back({{"KMP_AFFINITY", std::string(grain) + type}, {"KMP_HW_SUBSET", "1t"}});
    }
  }
  all.push_back({{"KMP_AFFINITY", "compact,1,0"}, {"OMP_PROC_BIND", "false"}, {"OMP_PLACES", "threads"}});
  all.push_back({{"KMP_HW_SUBSET", "2c,1t"}, {"OMP_PLACES", "cores"}});
  return all;
}

// The runtimes differ where KMP_HW_SUBSET asks for more cores of a package than there are. The masks begin
// with two cores.
bool has_cores(const ThreadMachine& machine, const std::vector<int>& mask, const EnvVars& variables) {
  const auto subset = variables.find("KMP_HW_SUBSET");
  if (subset == variables.end() || !subset->second.starts_with("2c")) return true;
  const int cores = static_cast<int>(machine.cores_per_package);
  return cores >= 2 && (mask.empty() || mask.front() / cores == (mask.front() + 1) / cores);
}

std::vector<ThreadMapRequest> grid() {
  std::vector<ThreadMapRequest> all;
  for (const ThreadMachine machine :
       {ThreadMachine{2, 3, 2}, ThreadMachine{1, 4, 4}, ThreadMachine{2, 4, 1}, ThreadMachine{1, 5, 1},
        ThreadMachine{2, 1, 2}, ThreadMachine{3, 2, 2}, ThreadMachine{2, 8, 1}, ThreadMachine{1, 1, 4}}) {
    std::vector<std::vector<int>> masks{{}};
    if (machine.cores() >= 4) {
      masks.push_back(numbers(machine, 1, 2, true));
      masks.push_back(numbers(machine, 2, 3, false));
    }
    for (const auto& mask : masks) {
      for (const auto runtime : {OpenMpRuntime::libomp, OpenMpRuntime::libgomp}) {
        for (const EnvVars& variables : settings(runtime)) {
          if (!has_cores(machine, mask, variables)) continue;
          for (const std::uint32_t threads : {2u, 4u, 5u, 8u, 14u})
            all.push_back({machine, mask, runtime, variables, threads});
        }
      }
    }
  }
  return all;
}

std::string describe(const ThreadMapRequest& request) {
  std::string text = fmt::format("{} on {}", name_of(request.runtime), machine_text(request.machine));
  if (!request.mask.empty()) text += " mask " + render_ranges(request.mask);
  text += fmt::format(" OMP_NUM_THREADS={}", request.threads);
  for (const auto& [name, value] : request.variables) text += " " + name + "=" + value;
  return text;
}

class Counter {
 public:
  explicit Counter(ThreadJudge judge) : judge_(std::move(judge)) {}

  void compare(const std::vector<ThreadMapRequest>& requests) {
    std::vector<Command> commands;
    for (const auto& request : requests) commands.push_back(judge_command(judge_, request));
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(60);
    const auto said = processes_.run_many(commands, limits, 2);
    for (std::size_t i = 0; i < requests.size(); ++i) compare_one(requests[i], said[i]);
  }
  void differ(const std::string& what) {
    ++differences_;
    if (differences_ <= 30) std::printf("%s\n", what.c_str());
  }
  int compared() const { return compared_; }
  int differences() const { return differences_; }

 private:
  void compare_one(const ThreadMapRequest& request, const ProcessResult& said) {
    const auto model = map_threads(request);
    const auto real = read_places_said(said);
    ++compared_;
    if (real.empty())
      return differ(describe(request) + ": the runtime said nothing: " + printable(said.err, 200));
    if (!model) return differ(describe(request) + ": not modelled");
    if (model->processors != real)
      differ(fmt::format("{}\n  model {}\n  real  {}", describe(request), render_places(model->processors),
                         render_places(real)));
  }

  ThreadJudge judge_;
  PosixProcesses processes_;
  int compared_ = 0, differences_ = 0;
};

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  Counter counter({words[1], words[2], words[3]});
  std::vector<ThreadMapRequest> requests;
  for (const Row& row : table()) {
    requests.push_back({row.machine, {}, row.runtime, row.variables, row.threads});
    const auto model = map_threads(requests.back());
    if (!model || model->distinct_cores != row.distinct || model->most_on_a_core != row.most)
      counter.differ(fmt::format("{}: published {} cores, {} on the fullest", describe(requests.back()),
                                 row.distinct, row.most));
  }
  auto more = grid();
  const char* text = std::getenv("DDLRUN_THREAD_MAPS");
  const std::size_t most = text != nullptr ? std::strtoul(text, nullptr, 10) : 600;
  const std::size_t step = most == 0 || most >= more.size() ? 1 : (more.size() + most - 1) / most;
  for (std::size_t i = 0; i < more.size(); i += step) requests.push_back(more[i]);
  counter.compare(requests);
  std::printf("%d maps of %zu compared with the real runtimes, %d differences\n", counter.compared(),
              table().size() + more.size(), counter.differences());
  return counter.differences() == 0 ? 0 : 1;
}
