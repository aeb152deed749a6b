// SPDX-License-Identifier: MIT
#include "doctor/gather/tool_output.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <charconv>

namespace ddlrun::doctor {
namespace {

std::optional<double> parse_real(std::string_view text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || !(value >= 0) || value > 1e9)
    return std::nullopt;
  return value;
}

// "| PCIe   | Pass - All |" -> {"PCIe", "Pass - All"}
std::optional<std::pair<std::string_view, std::string_view>> read_row(std::string_view line) {
  if (!line.starts_with("| ") || !trim(line).ends_with('|')) return std::nullopt;
  const auto cells = split(trim(line), '|');
  if (cells.size() != 4) return std::nullopt;
  return std::pair(trim(cells[1]), trim(cells[2]));
}

}  // namespace

std::optional<DcgmReport> parse_dcgm(std::string_view text) {
  DcgmReport report;
  bool last_failed = false, seen = false;
  for (const std::string_view line : split(text, '\n')) {
    const auto row = read_row(line);
    if (!row) continue;
    const auto& [name, result] = *row;
    if (result.starts_with("Pass")) {
      ++report.passed;
      last_failed = false;
    } else if (result.starts_with("Fail")) {
      if (report.failed.size() < 32)
        report.failed.push_back(printable(fmt::format("{}: {}", name, result), 120));
      last_failed = true;
    } else if (result.starts_with("Skip")) {
      last_failed = false;
    } else if (last_failed && !report.failed.empty() && report.failed.back().size() < 800) {
      report.failed.back() +=
          ": " + printable(result, 200);  // the rows below give the reason, broken into lines
    }
    seen |= result.starts_with("Pass") || result.starts_with("Fail");
  }
  return seen ? std::optional(report) : std::nullopt;
}

std::optional<NcclReport> parse_nccl_tests(std::string_view text) {
  NcclReport report;
  bool seen = false;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with('#') || colon == std::string_view::npos) continue;
    const auto words = split_blanks(line.substr(colon + 1));
    if (words.empty()) continue;
    if (line.find("Avg bus bandwidth") != std::string_view::npos) {
      const auto value = parse_real(words[0]);
      if (!value) return std::nullopt;
      report.bus_hundredths = static_cast<std::uint64_t>(*value * 100 + 0.5);
      seen = true;
    }
    if (line.find("Out of bounds values") != std::string_view::npos)
      report.wrong = parse_unsigned(words[0]).value_or(0);
  }
  return seen ? std::optional(report) : std::nullopt;
}

std::optional<std::uint64_t> parse_write_bandwidth(std::string_view text) {
  bool in_gigabits = false;
  std::optional<std::uint64_t> mbits;
  for (const std::string_view line : split(text, '\n')) {
    if (line.find("#bytes") != std::string_view::npos)
      in_gigabits = line.find("BW average[Gb/sec]") != std::string_view::npos;
    const auto words = split_blanks(line);
    if (!in_gigabits || words.size() < 4 || !parse_unsigned(words[0]) || !parse_unsigned(words[1])) continue;
    if (const auto average = parse_real(words[3])) mbits = static_cast<std::uint64_t>(*average * 1000 + 0.5);
  }
  return mbits;
}

}  // namespace ddlrun::doctor
