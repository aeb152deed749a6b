// SPDX-License-Identifier: MIT
// Gatherer "data": what lies below each path of the job's data, N = 0, 1, ... Each in a child of its own.
//   data.N.path
//   data.N.mount      the mount point that it lies below
//   data.N.state      "file", "directory", "missing", "unreadable", "hung" (no answer within 4 s)
//   data.N.complete   "no": more than 20,000 entries (a million at level full) or 2 s: not comparable
//   data.N.files, .bytes (absent above 2,000 files), .names and .sizes (fingerprints, hexadecimal)
//   data.N.newest     seconds since 1970, the latest change of those asked
//   data.N.sample     list of "SIZE NAME", at most 64 files chosen by the fingerprint of their names
//   data.N.denied, .first_denied   how many of those asked this user may not read, and one of them
#include "base/text/text.hpp"
#include "doctor/gather/manifest.hpp"
#include "doctor/gather/mounts.hpp"
#include "doctor/gather/sysroot_files.hpp"
#include "doctor/gather/system.hpp"

#include <fmt/format.h>

namespace ddlrun::doctor {

namespace {

constexpr std::chrono::milliseconds path_limit{4000};
constexpr std::size_t most_paths = 8;
constexpr std::size_t sample_bytes = 3500;

std::string_view state_name(Manifest::State state) {
  switch (state) {
    case Manifest::State::file:
      return "file";
    case Manifest::State::dir:
      return "directory";
    case Manifest::State::missing:
      return "missing";
    case Manifest::State::unreadable:
      return "unreadable";
  }
  return "missing";
}

// Runs in the child; "name value" lines, samples last.
std::string look_at_data(const GatherContext& context, const std::string& path) {
  ManifestBounds bounds;
  if (context.request.level != Level::quick) bounds.entries = 1'000'000;
  const Manifest manifest = read_manifest(context.kernel, context.root + path, bounds);
  std::string answer =
      fmt::format("state {}\ncomplete {}\nfiles {}\nnames {:016x}\nsizes {:016x}\nnewest {}\n",
                  state_name(manifest.state), manifest.complete ? "yes" : "no", manifest.files,
                  manifest.names_hash, manifest.sizes_hash, manifest.newest_seconds);
  if (manifest.has_bytes) answer += fmt::format("bytes {}\n", manifest.bytes);
  answer += fmt::format("denied {}\n", manifest.denied);
  if (manifest.denied > 0) answer += fmt::format("first_denied {}\n", printable(manifest.first_denied, 1024));
  for (const SampledFile& file : manifest.sample)
    answer += fmt::format("sample {} {}\n", file.size_bytes, printable(file.name, 256));
  return answer;
}

void set_data_answer(const ProcessResult& result, const std::string& fact, Facts& facts) {
  if (result.timed_out) return facts.set(fact + "state", "hung");
  if (!result.ok()) {
    return facts.set_unknown(fact + "state",
                             fmt::format("looking at it ended with status {}", result.exit_status));
  }
  std::vector<std::string> sample;
  std::size_t bytes = 0;
  for (const std::string_view line : split(result.out, '\n')) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, blank), value = line.substr(blank + 1);
    if (name != "sample") {
      facts.set(fact + std::string(name), value);
    } else if ((bytes += value.size() + 1) < sample_bytes) {
      sample.emplace_back(value);
    }
  }
  facts.set_list(fact + "sample", sample);
}

}  // namespace

void gather_data(const GatherContext& context, Facts& facts) {
  std::vector<std::pair<ChildFunction, std::chrono::milliseconds>> functions;
  const auto& paths = context.request.data_paths;
  const std::size_t count = std::min(paths.size(), most_paths);
  for (std::size_t i = 0; i < count; ++i) {
    functions.emplace_back([&context, &path = paths[i]] { return look_at_data(context, path); }, path_limit);
  }
  const auto results = context.system.processes.run_functions(functions);
  const std::string mounts = SysrootFiles(context).read("/proc/self/mounts", 1 << 20).value_or("");
  for (std::size_t i = 0; i < count; ++i) {
    const std::string fact = fmt::format("data.{}.", i);
    facts.set(fact + "path", paths[i].substr(0, 4096));
    if (const auto mount = find_mount(mounts, paths[i]))
      facts.set(fact + "mount", mount->point.substr(0, 1024));
    set_data_answer(results[i], fact, facts);
  }
}

}  // namespace ddlrun::doctor
