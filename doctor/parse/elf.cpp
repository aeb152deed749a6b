// SPDX-License-Identifier: MIT
#include "doctor/parse/elf.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t header_bytes = 64;
constexpr std::size_t segment_bytes = 56;
constexpr std::size_t most_segments = 64;
constexpr std::size_t most_dynamic_bytes = 64u << 10;
constexpr std::size_t most_needed = 256;
constexpr std::size_t most_string_bytes = 4096;

// Little-endian numbers of a text; 0 behind its end.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t width) {
  if (at > bytes.size() || bytes.size() - at < width) return 0;
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

struct Segment {
  std::uint64_t type, offset, address, bytes;
};

// Tags of the dynamic section; the numbers are the ABI's.
enum Tag : std::uint64_t {
  tag_end = 0,
  tag_needed = 1,
  tag_strings = 5,
  tag_soname = 14,
  tag_rpath = 15,
  tag_runpath = 29,
  tag_versions = 0x6ffffffe,
  tag_version_count = 0x6fffffff
};

class ElfReader {
 public:
  explicit ElfReader(const PartReader& read) : read_(read) {}

  std::optional<ElfFile> run() {
    if (!read_segments()) return std::nullopt;
    for (const Segment& segment : segments_) {
      if (segment.type == 3) elf_.interpreter = string_at(segment.offset);
      if (segment.type == 4 && elf_.build_id.empty()) read_notes(segment);
      if (segment.type == 2) read_dynamic(segment);
    }
    return elf_;
  }

 private:
  std::string part(std::uint64_t offset, std::size_t bytes) { return read_(offset, bytes).value_or(""); }

  std::string string_at(std::uint64_t offset) {
    const std::string bytes = part(offset, most_string_bytes);
    return bytes.substr(0, bytes.find('\0'));
  }

  bool read_segments() {
    const std::string header = part(0, header_bytes);
    if (header.size() < header_bytes || !header.starts_with("\x7f"
                                                            "ELF"))
      return false;
    if (header[4] != 2 || header[5] != 1) return false;  // 64 bits, little-endian
    elf_.machine = static_cast<std::uint16_t>(number_at(header, 18, 2));
    const std::size_t count = number_at(header, 56, 2);
    if (number_at(header, 54, 2) != segment_bytes || count > most_segments) return false;
    const std::string table = part(number_at(header, 32, 8), count * segment_bytes);
    for (std::size_t at = 0; at + segment_bytes <= table.size(); at += segment_bytes) {
      segments_.push_back({number_at(table, at, 4), number_at(table, at + 8, 8), number_at(table, at + 16, 8),
                           number_at(table, at + 32, 8)});
    }
    return true;
  }

  std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
    for (const Segment& segment : segments_) {
      if (segment.type == 1 && address >= segment.address && address - segment.address < segment.bytes)
        return address - segment.address + segment.offset;
    }
    return std::nullopt;
  }

  // The build id is the note of type 3 by "GNU".
  void read_notes(const Segment& segment) {
    const std::string notes = part(segment.offset, std::min<std::size_t>(segment.bytes, 4096));
    for (std::size_t at = 0; at + 12 <= notes.size();) {
      const std::size_t name = number_at(notes, at, 4), bytes = number_at(notes, at + 4, 4);
      const std::size_t text = at + 12 + (name + 3) / 4 * 4;
      if (name > notes.size() || bytes > notes.size() || text + bytes > notes.size()) return;
      if (number_at(notes, at + 8, 4) == 3 && notes.compare(at + 12, 4, std::string_view("GNU\0", 4)) == 0) {
        for (std::size_t i = 0; i < std::min<std::size_t>(bytes, 32); ++i)
          elf_.build_id += fmt::format("{:02x}", static_cast<unsigned char>(notes[text + i]));
        return;
      }
      at = text + (bytes + 3) / 4 * 4;
    }
  }

  void read_dynamic(const Segment& segment) {
    const std::string table = part(segment.offset, std::min<std::size_t>(segment.bytes, most_dynamic_bytes));
    std::uint64_t strings_address = 0, versions = 0, version_count = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> texts;  // tag, offset in the string table
    for (std::size_t at = 0; at + 16 <= table.size(); at += 16) {
      const std::uint64_t tag = number_at(table, at, 8), value = number_at(table, at + 8, 8);
      if (tag == tag_end) break;
      if (tag == tag_strings) strings_address = value;
      if (tag == tag_versions) versions = value;
      if (tag == tag_version_count) version_count = value;
      const bool is_text = tag == tag_needed || tag == tag_soname || tag == tag_rpath || tag == tag_runpath;
      if (is_text && texts.size() < most_needed) texts.emplace_back(tag, value);
    }
    const auto strings = offset_of(strings_address);
    if (!strings) return;
    for (const auto& [tag, at] : texts) take_text(tag, string_at(*strings + at));
    if (const auto from = offset_of(versions)) read_versions(*from, version_count, *strings);
  }

  void take_text(std::uint64_t tag, std::string text) {
    if (tag == tag_needed)
      elf_.needed.push_back(std::move(text));
    else if (tag == tag_soname)
      elf_.soname = std::move(text);
    else if (tag == tag_rpath)
      elf_.rpath = std::move(text);
    else
      elf_.runpath = std::move(text);
  }

  // Walks the chain of needed versions, each with a chain of its own; both are relative.
  void read_versions(std::uint64_t offset, std::uint64_t count, std::uint64_t strings) {
    const std::string table = part(offset, most_dynamic_bytes);
    std::size_t at = 0;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, most_needed) && at < table.size(); ++i) {
      std::size_t one = at + number_at(table, at + 8, 4);
      for (std::uint64_t k = 0; k < number_at(table, at + 2, 2) && k < most_needed; ++k) {
        const std::string name = string_at(strings + number_at(table, one + 8, 4));
        const std::string_view version = std::string_view(name).substr(std::min<std::size_t>(6, name.size()));
        const bool counts = name.starts_with("GLIBC_") && !version.empty() && version[0] <= '9';
        if (counts && compare_versions(version, elf_.glibc) > 0) elf_.glibc = version;
        one += number_at(table, one + 12, 4);
      }
      const std::uint64_t next = number_at(table, at + 12, 4);
      if (next == 0) break;
      at += next;
    }
  }

  const PartReader& read_;
  std::vector<Segment> segments_;
  ElfFile elf_;
};

std::uint64_t leading_number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::optional<ElfFile> read_elf(const PartReader& read) { return ElfReader(read).run(); }

int compare_versions(std::string_view a, std::string_view b) {
  const auto parts_a = split(a, '.'), parts_b = split(b, '.');
  for (std::size_t i = 0; i < std::max(parts_a.size(), parts_b.size()); ++i) {
    const std::uint64_t x = i < parts_a.size() ? leading_number(parts_a[i]) : 0;
    const std::uint64_t y = i < parts_b.size() ? leading_number(parts_b[i]) : 0;
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

}  // namespace ddlrun::doctor
