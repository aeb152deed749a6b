// SPDX-License-Identifier: MIT
// The Python of a job whose program is one, and the torch that it would import. torch itself is not imported:
// that takes seconds; its files contain the versions. The interpreter is run once for its search path (15
// ms).
//   python.version   "3.11.2"
//   python.prefix    "/usr", or the virtual environment
//   python.torch     "2.3.0+cu121"; not known where there is none
//   python.cuda      the CUDA that torch was built for, "12.1", "None"
//   python.nccl      of the nvidia-nccl package beside it, "2.20.5"
#include "base/text/text.hpp"
#include "doctor/gather/libraries.hpp"
#include "doctor/gather/software.hpp"

#include <fmt/format.h>

namespace ddlrun::doctor {

namespace {

constexpr const char* request_text =
    "import sys; print('.'.join(map(str, sys.version_info[:3]))); print(sys.prefix); "
    "print('\\n'.join(sys.path[1:]))";
constexpr std::size_t max_dirs = 32;

// __version__ = '2.3.0+cu121' -> 2.3.0+cu121
std::string assigned_value(std::string_view text, std::string_view name) {
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with(name)) continue;
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view value = trim(line.substr(equals + 1));
    if (value.size() >= 2 && (value[0] == '\'' || value[0] == '"')) value = value.substr(1, value.size() - 2);
    return printable(value, 60);
  }
  return {};
}

void look_for_torch(const GatherContext& context, const std::vector<std::string_view>& dirs, Facts& facts) {
  for (const std::string_view dir : dirs) {
    const auto text = read_small(context, std::string(dir) + "/torch/version.py");
    if (!text) continue;
    facts.set("python.torch", assigned_value(*text, "__version__"));
    facts.set("python.cuda", assigned_value(*text, "cuda"));
    for (const std::string& entry : context.kernel.list_directory(context.root + std::string(dir))) {
      if (!entry.starts_with("nvidia_nccl") || !entry.ends_with(".dist-info")) continue;
      const auto dash = entry.find('-');
      facts.set("python.nccl", printable(entry.substr(dash + 1, entry.size() - dash - 11), 40));
    }
    return;
  }
  facts.set_unknown("python.torch", "no torch in its search path");
}

}  // namespace

void gather_python(const GatherContext& context, Facts& facts) {
  const std::string& name = context.request.executable;
  if (!std::string_view(name).substr(name.rfind('/') + 1).starts_with("python")) return;
  const std::string path = find_in_path(context, name);
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(4);
  limits.output_bytes = 64u << 10;
  const ProcessResult result =
      path.empty() ? ProcessResult{127, 0, false, false, "not there", {}, {}, false, 0, {}, {}}
                   : context.system.processes.run({context.root + path, "-c", request_text}, limits);
  const auto lines = split(result.out, '\n');
  if (!result.ok() || lines.size() < 2) {
    facts.set_unknown("python.version",
                      path.empty() ? name + " is not in PATH" : "it did not report its version");
    return;
  }
  facts.set("python.version", printable(lines[0], 40));
  facts.set("python.prefix", printable(lines[1], 400));
  std::vector<std::string_view> dirs;
  for (std::size_t i = 2; i < lines.size() && dirs.size() < max_dirs; ++i) {
    if (!lines[i].empty()) dirs.push_back(lines[i]);
  }
  look_for_torch(context, dirs, facts);
}

}  // namespace ddlrun::doctor
