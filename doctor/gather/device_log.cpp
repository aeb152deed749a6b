// SPDX-License-Identifier: MIT
#include "doctor/gather/device_log.hpp"

#include "base/text/text.hpp"

#include <charconv>
#include <optional>

namespace ddlrun::doctor {
namespace {

constexpr double start_seconds = 120;

// "[12345.678901] text" or "[12345.678901] host kernel: text"
std::optional<double> read_time(std::string_view line) {
  if (!line.starts_with('[')) return std::nullopt;
  const std::string_view digits = trim(line.substr(1, line.find(']') - 1));
  double seconds = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  if (problem != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return seconds;
}

// "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus."; old drivers write (0000:3b:00).
std::optional<XidEvent> read_xid(std::string_view line, double seconds) {
  constexpr std::string_view mark = "NVRM: Xid (";
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(at + mark.size());
  const std::size_t close = rest.find("): ");
  if (close == std::string_view::npos) return std::nullopt;
  std::string_view pci = rest.substr(0, close);
  if (pci.starts_with("PCI:")) pci.remove_prefix(4);
  rest.remove_prefix(close + 3);
  const auto number = parse_unsigned(rest.substr(0, rest.find_first_not_of("0123456789")), 9999);
  if (!number) return std::nullopt;
  return XidEvent{seconds, static_cast<unsigned>(*number), printable(pci, 32)};
}

bool is_name_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
         byte == '_';
}

bool has_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const bool begins = at == 0 || !is_name_byte(line[at - 1]);
    const std::size_t end = at + word.size();
    if (begins && (end == line.size() || !is_name_byte(line[end]))) return true;
  }
  return false;
}

bool tells_of_a_link_down(std::string_view line) {
  for (const std::string_view words :
       {"Link down", "Link Down", "link down", "Lost carrier", "Link is Down"}) {
    if (line.find(words) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

DeviceEvents parse_device_log(std::string_view text, std::span<const std::string> links) {
  DeviceEvents events;
  for (const std::string_view line : split(text, '\n')) {
    const bool down = tells_of_a_link_down(line);
    if (!down && line.find("NVRM: Xid") == std::string_view::npos) continue;
    const auto seconds = read_time(line);
    if (!seconds) continue;
    if (auto xid = read_xid(line, *seconds)) events.xids.push_back(std::move(*xid));
    if (!down || *seconds < start_seconds) continue;
    for (const std::string& name : links) {
      if (!has_word(line, name)) continue;
      events.links_down.push_back({*seconds, name});
      break;
    }
  }
  return events;
}

}  // namespace ddlrun::doctor
