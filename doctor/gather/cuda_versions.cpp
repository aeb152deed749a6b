// SPDX-License-Identifier: MIT
// Which CUDA and NCCL the job's program brings, detected from names and small text files: nothing is loaded.
//   cuda.runtime .source      "12.1"; "torch 2.2.0 in /opt/env", "libcudart.so.12", "/usr/local/cuda"
//   cuda.compat               NVIDIA's forward-compatibility libraries are on LD_LIBRARY_PATH: yes
//   nccl.version .cuda .path  "2.18.3"; CUDA major that it was built for, if its package states it
#include "base/text/text.hpp"
#include "doctor/gather/device.hpp"
#include "doctor/gather/libraries.hpp"

#include <fmt/format.h>

#include <optional>

namespace ddlrun::doctor {
namespace {

// "libcudart.so.12.1.105" behind "libcudart.so." -> "12.1.105", where it is numbers and dots.
std::string version_behind(std::string_view text, std::string_view prefix) {
  const std::size_t at = text.rfind(prefix);
  if (at == std::string_view::npos) return "";
  std::string_view rest = text.substr(at + prefix.size());
  rest = rest.substr(0, rest.find_first_not_of("0123456789."));
  while (rest.ends_with('.')) rest.remove_suffix(1);
  return std::string(rest.substr(0, 32));
}

// The text between quotes behind `name` in a line of Python: cuda: Optional[str] = '12.1'
std::string quoted_after(std::string_view text, std::string_view name) {
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with(name)) continue;
    const std::size_t from = line.find('\'');
    const std::size_t to = from == std::string_view::npos ? from : line.find('\'', from + 1);
    if (to != std::string_view::npos)
      return std::string(line.substr(from + 1, std::min<std::size_t>(to - from - 1, 32)));
  }
  return "";
}

// ".../env/bin/python3" -> ".../env/lib/python3.11/site-packages"
std::string site_packages(const SysrootFiles& files, const std::string& python) {
  const std::size_t bin = python.rfind("/bin/");
  if (bin == std::string::npos) return "";
  const std::string lib = python.substr(0, bin) + "/lib/";
  for (const std::string& name : files.list(lib)) {
    if (name.starts_with("python3") && files.exists(lib + name + "/site-packages/torch")) {
      return lib + name + "/site-packages";
    }
  }
  return "";
}

void gather_torch(const SysrootFiles& files, const std::string& packages, Facts& facts) {
  const auto version = files.read(packages + "/torch/version.py");
  if (!version) return;
  const std::string cuda = quoted_after(*version, "cuda");
  if (!cuda.empty()) {
    facts.set("cuda.runtime", cuda);
    facts.set("cuda.runtime.source",
              fmt::format("torch {} in {}", quoted_after(*version, "__version__"), packages));
  }
  for (const std::string& name : files.list(packages)) {  // nvidia_nccl_cu12-2.19.3.dist-info
    if (!name.starts_with("nvidia_nccl_cu") || !name.ends_with(".dist-info")) continue;
    facts.set("nccl.cuda", version_behind(name.substr(0, name.find('-')), "nvidia_nccl_cu"));
    facts.set("nccl.version", version_behind(name.substr(0, name.rfind(".dist-info")), "-"));
    facts.set("nccl.path", packages + "/nvidia/nccl/lib/libnccl.so.2");
  }
}

void set_nccl(const GatherContext& context, const std::string& path, Facts& facts) {
  const std::string version = version_behind(real_path(context, path), "libnccl.so.");
  facts.set("nccl.path", path);
  if (version.find('.') != std::string::npos) facts.set("nccl.version", version);
}

void gather_needed(const GatherContext& context, const std::string& program, Facts& facts) {
  const LibraryTree tree = find_libraries(context, program);
  for (const auto& [name, path] : tree.found) {
    if (name.starts_with("libcudart.so.")) {
      const std::string exact = version_behind(real_path(context, path), "libcudart.so.");
      facts.set("cuda.runtime", exact.empty() ? version_behind(name, "libcudart.so.") : exact);
      facts.set("cuda.runtime.source", path);
    }
    if (name.starts_with("libnccl.so.")) set_nccl(context, path, facts);
  }
}

// NCCL as the loader would find it for a program of which nothing is known.
void gather_system_nccl(const GatherContext& context, const SysrootFiles& files, Facts& facts) {
  std::vector<std::string> dirs;
  const std::string path = job_variable(context, "LD_LIBRARY_PATH");
  for (const std::string_view dir : split(path, ':')) {
    if (dir.starts_with('/')) dirs.emplace_back(dir);
  }
  dirs.insert(dirs.end(),
              {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib/powerpc64le-linux-gnu",
               "/usr/lib64", "/usr/lib", "/usr/local/lib", "/usr/local/cuda/lib64"});
  for (const std::string& dir : dirs) {
    if (!files.exists(dir + "/libnccl.so.2")) continue;
    set_nccl(context, dir + "/libnccl.so.2", facts);
    return;
  }
}

}  // namespace

void gather_cuda_versions(const GatherContext& context, const SysrootFiles& files, Facts& facts) {
  const std::string path = job_variable(context, "LD_LIBRARY_PATH");
  for (const std::string_view dir : split(path, ':')) {
    if (dir.find("cuda") != std::string_view::npos && dir.find("compat") != std::string_view::npos) {
      facts.set("cuda.compat", "yes");
    }
  }
  const std::string& name = context.request.executable;
  const std::string program = name.empty() ? "" : find_in_path(context, name);
  if (!program.empty()) {
    const std::string packages = site_packages(files, program);
    if (packages.empty()) {
      gather_needed(context, program, facts);
    } else {
      gather_torch(files, packages, facts);
    }
  }
  if (!facts.text("nccl.path")) gather_system_nccl(context, files, facts);
  if (!facts.text("cuda.runtime")) {
    facts.set_unknown("cuda.runtime", program.empty() ? "no program was named (put it after --)"
                                                      : "the program names no CUDA runtime");
  }
}

}  // namespace ddlrun::doctor
