// SPDX-License-Identifier: MIT
// The smallest ELF file that a loader would look through: a header, three segments, a dynamic section and its
// texts. Written after the ABI's tables, not after our reader.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ddlrun::tests {

struct ElfImage {
  std::vector<std::string> needed;
  std::string rpath, runpath, soname;
  std::uint16_t machine = 62;  // x86-64

  std::string bytes() const {
    constexpr std::uint64_t base = 0x400000, dynamic_at = 0x200, strings_at = 0x800;
    std::string strings(1, '\0');
    const auto text = [&](const std::string& word) {
      const std::uint64_t at = strings.size();
      strings += word + '\0';
      return at;
    };
    std::vector<std::pair<std::uint64_t, std::uint64_t>> entries;
    for (const std::string& name : needed) entries.emplace_back(1, text(name));
    if (!soname.empty()) entries.emplace_back(14, text(soname));
    if (!rpath.empty()) entries.emplace_back(15, text(rpath));
    if (!runpath.empty()) entries.emplace_back(29, text(runpath));
    entries.emplace_back(5, base + strings_at);
    entries.emplace_back(0, 0);
    std::string dynamic;
    for (const auto& [tag, value] : entries) dynamic += number(tag, 8) + number(value, 8);
    const std::uint64_t size = strings_at + strings.size();
    std::string file = std::string(
                           "\x7f"
                           "ELF\x02\x01\x01",
                           7) +
                       std::string(9, '\0');
    file += number(3, 2) + number(machine, 2) + number(1, 4) + number(base, 8) + number(64, 8) + number(0, 8);
    file += number(0, 4) + number(64, 2) + number(56, 2) + number(2, 2) + number(64, 2) + number(0, 2) +
            number(0, 2);
    file += segment(1, 0, base, size) + segment(2, dynamic_at, base + dynamic_at, dynamic.size());
    file.resize(dynamic_at, '\0');
    file += dynamic;
    file.resize(strings_at, '\0');
    return file + strings;
  }

 private:
  static std::string number(std::uint64_t value, int width) {
    std::string text;
    for (int i = 0; i < width; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
    return text;
  }
  static std::string segment(std::uint64_t type, std::uint64_t offset, std::uint64_t address,
                             std::uint64_t size) {
    return number(type, 4) + number(4, 4) + number(offset, 8) + number(address, 8) + number(address, 8) +
           number(size, 8) + number(size, 8) + number(8, 8);
  }
};

}  // namespace ddlrun::tests
