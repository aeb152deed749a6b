// SPDX-License-Identifier: MIT
// What the loader needs of a program or library, read from its headers: nothing is executed, as
// `ldd` would. 64-bit little-endian files only; anything malformed is no ELF file to us.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

struct ElfFile {
  std::uint16_t machine = 0;  // e_machine: 62 x86-64, 183 AArch64, 21 POWER
  std::string interpreter;    // "/lib64/ld-linux-x86-64.so.2"
  std::string soname;
  std::vector<std::string> needed;  // DT_NEEDED, in order
  std::string rpath, runpath;       // as written, with $ORIGIN
  std::string build_id;             // hexadecimal
  std::string glibc;                // the newest GLIBC_x.y that it asks for: "2.34"
};

// The bytes from `offset` on, fewer at the end of the file, nothing where it cannot be read.
using PartReader = std::function<std::optional<std::string>(std::uint64_t offset, std::size_t bytes)>;

std::optional<ElfFile> read_elf(const PartReader& read);

// -1, 0, 1 as "2.9" is older than, equal to, newer than "2.34": by numbers, not by letters.
int compare_versions(std::string_view a, std::string_view b);

}  // namespace ddlrun::doctor
