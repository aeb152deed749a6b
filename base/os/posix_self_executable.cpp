// SPDX-License-Identifier: MIT
#include "base/os/plugin.hpp"
#include "base/os/self_executable.hpp"

#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string_view>

namespace ddlrun {

namespace {

// What comes with the host's own C library and must match its loader.
bool belongs_to_libc(std::string_view name) {
  constexpr std::array prefixes{"linux-vdso", "linux-gate", "ld-linux", "ld64.so",    "libc.so",
                                "libm.so",    "libdl.so",   "librt.so", "libpthread", "libresolv.so"};
  for (const std::string_view prefix : prefixes) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

std::string name_of(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// The id in the notes of one segment, as hex digits.
std::string build_id_in(const char* notes, std::size_t size) {
  std::size_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= size) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof note);
    const std::size_t name = at + sizeof note;
    const std::size_t value = name + ((note.n_namesz + 3u) & ~3u);
    if (value + note.n_descsz > size) return {};
    if (note.n_type == NT_GNU_BUILD_ID && std::string_view(notes + name, 3) == "GNU") {
      constexpr std::string_view digits = "0123456789abcdef";
      std::string id;
      for (std::size_t i = 0; i < note.n_descsz; ++i) {
        const auto byte = static_cast<unsigned char>(notes[value + i]);
        id += digits[byte >> 4];
        id += digits[byte & 15];
      }
      return id;
    }
    at = value + ((note.n_descsz + 3u) & ~3u);
  }
  return {};
}

// The link leads to this program also where its file has been replaced.
std::string own_binary_path() {
  constexpr const char* link = "/proc/self/exe";
  std::array<char, PATH_MAX> buffer{};
  const ssize_t length = ::readlink(link, buffer.data(), buffer.size());
  const std::string_view linked(buffer.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::string own = own_program_file();
  return own.empty() || own == linked ? link : own;
}

int add_object(dl_phdr_info* info, std::size_t, void* data) {
  auto& binary = *static_cast<SelfExecutable*>(data);
  const std::string_view path = info->dlpi_name;
  const bool is_main = binary.files.empty();
  if (is_main) {
    binary.files.push_back({"ddlrun", own_binary_path()});
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[i];
      const char* bytes = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
      if (segment.p_type == PT_INTERP) binary.loader = bytes;
      if (segment.p_type == PT_NOTE && binary.build_id.empty()) {
        binary.build_id = build_id_in(bytes, segment.p_memsz);
      }
    }
  } else if (!path.empty() && !belongs_to_libc(name_of(path))) {
    binary.files.push_back({name_of(path), std::string(path)});
  }
  return 0;
}

}  // namespace

SelfExecutable read_own_binary() {
  SelfExecutable binary;
  ::dl_iterate_phdr(add_object, &binary);
  return binary;
}

std::vector<std::string> guard_own_path(std::vector<std::string> command) {
  std::string script(trusted_function);
  script +=
      R"(trusted "$0" && exec "$0" "$@"; )"
      R"(echo "ddlrun: error: $0 on $(uname -n) is missing, or another user can replace it" >&2; exit 126)";
  command.insert(command.begin(), {"/bin/sh", "-c", std::move(script)});
  return command;
}

}  // namespace ddlrun
