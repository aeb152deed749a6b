// SPDX-License-Identifier: MIT
// The program of the job as this host has it. Nothing of it is executed.
//   program.path         the file that would be run; not known where there is none (why: what was searched)
//   program.near         where it is not in PATH, a program there that may be meant: "python3" of "python"
//   program.size         bytes
//   program.modified     seconds since 1970
//   program.executable   "yes", "no"
//   program.kind         "elf", "script", "other"
//   program.interpreter  named by a script's first line or an ELF header; "missing: PATH" if it is absent
//   program.build_id     of an ELF file that has one
//   program.hash         16 hexadecimal digits; at level quick only of files up to 4 MiB
//   program.missing      libraries not found, "NAME, needed by FILE", at most 64
//   program.libmpi       the MPI library that its loader would take; unknown if it requires none
//   program.home_paths   search paths built into it that lie below a home directory
//   program.glibc        the newest symbol version of glibc that it requires
//   program.file.N.name, .size, .hash    the same of the N-th other file that the arguments name
//   software.system, .release, .machine  uname
//   software.glibc       of this host, "2.36"
#include "base/os/nearest_file.hpp"
#include "base/text/text.hpp"
#include "doctor/gather/content_hash.hpp"
#include "doctor/gather/libraries.hpp"
#include "doctor/gather/software.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {

namespace {

constexpr std::uint64_t quick_bytes = 4u << 20;
constexpr std::uint64_t full_bytes = 4ull << 30;
constexpr std::size_t piece_bytes = 1u << 20;
constexpr std::size_t most_missing = 64;
constexpr std::size_t most_files = 16;

std::optional<std::string> hash_file(const GatherContext& context, const std::string& path,
                                     std::uint64_t size) {
  ContentHash hash;
  for (std::uint64_t at = 0; at < size; at += piece_bytes) {
    const auto piece = read_bytes(context, path, at, piece_bytes);
    if (!piece) return std::nullopt;
    hash.add(*piece);
    if (piece->size() < piece_bytes) break;
  }
  return fmt::format("{:016x}", hash.value());
}

void set_hash(const GatherContext& context, const std::string& path, const std::string& prefix,
              std::uint64_t most_bytes, Facts& facts) {
  const auto size = facts.number(prefix + "size");
  if (!size) return;
  if (*size > most_bytes) {
    facts.set_unknown(prefix + "hash", fmt::format("{} MiB: {}", *size >> 20,
                                                   most_bytes == quick_bytes ? "read at level full only"
                                                                             : "too large to be read"));
    return;
  }
  const auto hash = hash_file(context, path, *size);
  if (hash)
    facts.set(prefix + "hash", *hash);
  else
    facts.set_unknown(prefix + "hash", "not readable");
}

// Where "python3" or "./train" was looked for.
std::string searched(const GatherContext& context, const std::string& name) {
  if (name.find('/') == std::string::npos) return fmt::format("{} is not in PATH", printable(name, 120));
  const std::string path = find_in_path(context, name);
  return fmt::format("no file {}", printable(path, 400));
}

// Many systems have no `python`.
std::optional<std::string> near_program(const GatherContext& context, const std::string& name) {
  if (name.find('/') != std::string::npos) return std::nullopt;
  if (name == "python" && !find_in_path(context, "python3").empty()) return "python3";
  return nearest_program(context.system, name);
}

bool set_file(const GatherContext& context, const std::string& path, const std::string& prefix,
              Facts& facts) {
  const auto info = context.kernel.file_info(context.root + path, true);
  if (!info || info->kind != FileInfo::Kind::file) return false;
  facts.set(prefix + "size", info->size_bytes);
  facts.set(prefix + "modified",
            static_cast<std::uint64_t>(std::max<std::int64_t>(0, info->modified_seconds)));
  return true;
}

void set_interpreter(const GatherContext& context, const std::string& interpreter, Facts& facts) {
  const bool here = context.kernel.file_info(context.root + interpreter, true).has_value();
  facts.set("program.interpreter", here ? printable(interpreter) : "missing: " + printable(interpreter));
}

void look_at_elf(const GatherContext& context, const std::string& path, Facts& facts) {
  const LibraryTree tree = find_libraries(context, path);
  if (!tree.is_elf) return;
  facts.set("program.kind", "elf");
  if (!tree.top.interpreter.empty()) set_interpreter(context, tree.top.interpreter, facts);
  if (!tree.top.build_id.empty()) facts.set("program.build_id", tree.top.build_id);
  if (!tree.top.glibc.empty()) facts.set("program.glibc", printable(tree.top.glibc, 20));
  std::vector<std::string> missing, home_paths;
  for (const MissingLibrary& library : tree.missing) {
    if (missing.size() < most_missing)
      missing.push_back(printable(fmt::format("{}, needed by {}", library.name, library.needed_by)));
  }
  facts.set_list("program.missing", missing);
  for (const std::string& paths : {tree.top.rpath, tree.top.runpath}) {
    for (const std::string_view dir : split(paths, ':')) {
      if (dir.starts_with("/home/") || dir.starts_with("/root/")) home_paths.push_back(printable(dir));
    }
  }
  facts.set_list("program.home_paths", home_paths);
  const auto libmpi = std::find_if(tree.found.begin(), tree.found.end(), [](const auto& entry) {
    return entry.first.starts_with("libmpi.so") || entry.first.starts_with("libmpich.so");
  });
  if (libmpi == tree.found.end())
    facts.set_unknown("program.libmpi", "the program is linked to no MPI library");
  else
    facts.set("program.libmpi", real_path(context, libmpi->second));
}

void look_at_script(const GatherContext& context, const std::string& path, Facts& facts) {
  const auto start = read_bytes(context, path, 0, 512);
  if (!start || !start->starts_with("#!")) {
    facts.set("program.kind", "other");
    return;
  }
  facts.set("program.kind", "script");
  std::string_view line = trim(std::string_view(*start).substr(2, start->find('\n') - 2));
  set_interpreter(context, std::string(line.substr(0, line.find_first_of(" \t"))), facts);
}

void look_at_files(const GatherContext& context, Facts& facts) {
  const auto& files = context.request.program_files;
  for (std::size_t i = 0; i < files.size() && i < most_files; ++i) {
    const std::string prefix = fmt::format("program.file.{}.", i);
    const bool relative = !files[i].starts_with('/') && !context.request.workdir.empty();
    const std::string path = relative ? context.request.workdir + "/" + files[i] : files[i];
    facts.set(prefix + "name", printable(files[i]));
    if (set_file(context, path, prefix, facts))
      set_hash(context, path, prefix, quick_bytes, facts);
    else
      facts.set_unknown(prefix + "size", fmt::format("no file {}", printable(path)));
  }
}

void look_at_system(const GatherContext& context, Facts& facts) {
  const KernelName name = context.kernel.kernel_name();
  facts.set("software.system", printable(name.system, 60));
  facts.set("software.release", printable(name.release, 120));
  facts.set("software.machine", printable(name.machine, 60));
  const std::string_view libc = name.libc;
  if (libc.starts_with("glibc ")) facts.set("software.glibc", libc.substr(6));
}

}  // namespace

void gather_programs(const GatherContext& context, Facts& facts) {
  look_at_system(context, facts);
  look_at_files(context, facts);
  const std::string& name = context.request.executable;
  if (name.empty()) return;
  const std::string path = find_in_path(context, name);
  if (path.empty() || !set_file(context, path, "program.", facts)) {
    facts.set_unknown("program.path", searched(context, name));
    if (const auto near = near_program(context, name)) facts.set("program.near", printable(*near, 120));
    return;
  }
  facts.set("program.path", printable(path, 1000));
  facts.set("program.executable",
            context.kernel.may_access(context.root + path, Access::execute) ? "yes" : "no");
  set_hash(context, path, "program.", quick_bytes, facts);
  look_at_elf(context, path, facts);
  if (!facts.text("program.kind")) look_at_script(context, path, facts);
}

// What was too large to be read at level quick.
void gather_program_contents(const GatherContext& context, Facts& facts) {
  const std::string& name = context.request.executable;
  const std::string path = find_in_path(context, name);
  const auto info = name.empty() ? std::nullopt : context.kernel.file_info(context.root + path, true);
  if (!info || info->kind != FileInfo::Kind::file || info->size_bytes <= quick_bytes) return;
  facts.set("program.size", info->size_bytes);
  set_hash(context, path, "program.", full_bytes, facts);
}

}  // namespace ddlrun::doctor
