// SPDX-License-Identifier: MIT
// GPUs tried out (--full): a sum computed on each, a copy between each two. Each GPU in a child process of
// its own, since a broken one hangs.
//   cuda.try.count            GPUs that CUDA shows
//   cuda.try.I.pci .time_ms   address; how long the trial took
//   cuda.try.I.result         "right", or what failed
//   cuda.try.I.link.width     PCIe lanes while it was awake; .link.max_width .link.speed .link.max_speed
//   cuda.copy.pairs           ordered pairs tried; cuda.copy.wrong: one a line "I J what"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "doctor/gather/cuda_driver.hpp"
#include "doctor/gather/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace ddlrun::doctor {
namespace {

using Function = std::pair<ChildFunction, std::chrono::milliseconds>;
// Together under the two minutes that --full gives a host: a hanging GPU must not cost its other facts.
constexpr std::chrono::seconds count_limit{15}, trial_limit{60}, copy_limit{25};
constexpr int max_tried_gpus = 16;

std::string library_path(const GatherContext& context) {
  return context.root.empty() ? "libcuda.so.1" : context.root + "/usr/lib/libcuda.so.1";
}

// Lines "name value"; what the parent turns into facts.
std::string try_one(const GatherContext& context, int gpu) {
  const auto start = context.system.clock.steady();
  const CudaDriver cuda = CudaDriver::open(library_path(context));
  const std::string pci = cuda.pci_address(gpu);
  const SysrootFiles files(context);
  std::string lines = fmt::format("pci {}\n", pci);
  const auto read_link = [&] {
    for (const auto& [name, file] :
         {std::pair("link.width", "current_link_width"), std::pair("link.max_width", "max_link_width"),
          std::pair("link.speed", "current_link_speed"), std::pair("link.max_speed", "max_link_speed")}) {
      const auto value = files.line(fmt::format("/sys/bus/pci/devices/{}/{}", pci, file));
      if (value) lines += fmt::format("{} {}\n", name, *value);
    }
  };
  const std::string problem = cuda.try_gpu(gpu, read_link);
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(context.system.clock.steady() - start);
  return lines + fmt::format("time_ms {}\nresult {}\n", took.count(), problem.empty() ? "right" : problem);
}

std::string count_gpus(const GatherContext& context) {
  try {
    return std::to_string(CudaDriver::open(library_path(context)).count());
  } catch (const Error& error) {
    return error.message().what;
  }
}

// All pairs in one child; it answers after each, so that after a hang the pair's number is known.
std::string try_copies(const GatherContext& context, int count) {
  const CudaDriver cuda = CudaDriver::open(library_path(context));
  std::string lines;
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      if (from == to) continue;
      const std::string problem = cuda.try_copy(from, to);
      if (!problem.empty()) lines += fmt::format("{} {} {}\n", from, to, problem);
    }
  }
  return lines;
}

std::string child_problem(const ProcessResult& result, std::chrono::seconds limit) {
  if (result.timed_out) return fmt::format("no answer within {} s", limit.count());
  if (result.signal != 0) return fmt::format("died of signal {}", result.signal);
  return printable(trim(result.err), 200);
}

void note_trial(const ProcessResult& result, const std::string& name, Facts& facts) {
  for (const std::string_view line : split(result.out, '\n')) {
    const std::size_t blank = line.find(' ');
    if (blank != std::string_view::npos)
      facts.set(name + std::string(line.substr(0, blank)), line.substr(blank + 1, 300));
  }
  if (!facts.text(name + "result")) facts.set(name + "result", child_problem(result, trial_limit));
}

// True where every GPU did well.
bool try_all(const GatherContext& context, int count, Facts& facts) {
  std::vector<Function> functions;
  for (int gpu = 0; gpu < count; ++gpu) {
    functions.emplace_back([&context, gpu] { return try_one(context, gpu); }, trial_limit);
  }
  const auto results = context.system.processes.run_functions(functions);
  for (int gpu = 0; gpu < count; ++gpu) {
    note_trial(results[static_cast<std::size_t>(gpu)], fmt::format("cuda.try.{}.", gpu), facts);
  }
  return std::all_of(results.begin(), results.end(), [](const ProcessResult& result) { return result.ok(); });
}

void try_pairs(const GatherContext& context, int count, Facts& facts) {
  const std::vector<Function> functions = {
      {[&context, count] { return try_copies(context, count); }, copy_limit}};
  const auto results = context.system.processes.run_functions(functions);
  const ProcessResult& result = results.front();
  facts.set("cuda.copy.pairs", static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(count - 1));
  if (!result.ok()) return facts.set_unknown("cuda.copy.wrong", child_problem(result, copy_limit));
  std::vector<std::string> lines;
  for (const std::string_view line : split(result.out, '\n')) {
    if (!line.empty() && lines.size() < 256) lines.push_back(printable(line, 200));
  }
  facts.set_list("cuda.copy.wrong", lines);
}

}  // namespace

void gather_cuda_probe(const GatherContext& context, Facts& facts) {
  if (!SysrootFiles(context).exists("/dev/nvidiactl")) return;
  // In a child: a process that has called cuInit cannot fork working children.
  const std::vector<Function> ask = {{[&context] { return count_gpus(context); }, count_limit}};
  const ProcessResult counted = context.system.processes.run_functions(ask).front();
  const auto count = parse_unsigned(trim(counted.out), 1024);
  if (!counted.ok() || !count) {
    return facts.set_unknown("cuda.try.count", counted.ok() ? printable(trim(counted.out), 200)
                                                            : child_problem(counted, count_limit));
  }
  facts.set("cuda.try.count", *count);
  const int tried = static_cast<int>(std::min<std::uint64_t>(*count, max_tried_gpus));
  const bool well = tried > 0 && try_all(context, tried, facts);
  if (tried < 2) return;
  if (well) {
    try_pairs(context, tried, facts);
  } else {
    facts.set_unknown("cuda.copy.wrong", "a GPU failed on its own (GPU-16)");
  }
}

}  // namespace ddlrun::doctor
