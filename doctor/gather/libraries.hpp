// SPDX-License-Identifier: MIT
// Finds programs and shared libraries on this host as execvp and the loader would, without running anything.
#pragma once

#include "doctor/model/gather.hpp"
#include "doctor/parse/elf.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::doctor {

// Some bytes of a file below context.root.
std::optional<std::string> read_bytes(const GatherContext& context, const std::string& path,
                                      std::uint64_t offset, std::size_t bytes);
// A small text file below context.root; nothing where it cannot be read or is larger.
std::optional<std::string> read_small(const GatherContext& context, const std::string& path,
                                      std::size_t most_bytes = 64u << 10);
std::optional<ElfFile> read_elf_file(const GatherContext& context, const std::string& path);

// A variable as the job will have it on this host: what the job sets, else what this process has.
std::string job_variable(const GatherContext& context, const std::string& name);

// `name` itself where it has a slash (below the working directory where it is relative), else the first file
// of that name in PATH that may be executed; "" if there is none.
std::string find_in_path(const GatherContext& context, const std::string& name);
// The file that a chain of links ends in.
std::string real_path(const GatherContext& context, std::string path);

struct MissingLibrary {
  std::string name, needed_by;
};

struct LibraryTree {
  bool is_elf = false;
  ElfFile top;
  std::map<std::string, std::string> found;  // name as requested -> path
  std::vector<MissingLibrary> missing;
};

// Everything that `path` needs, and what that needs: RPATH, LD_LIBRARY_PATH, RUNPATH, the loader's cache and
// its own directories, in the loader's order. At most 400 libraries.
LibraryTree find_libraries(const GatherContext& context, const std::string& path);

// The names in /etc/ld.so.cache (the format of glibc 2.2 and later), each with its paths in order.
std::multimap<std::string, std::string> parse_loader_cache(std::string_view bytes);

}  // namespace ddlrun::doctor
