// SPDX-License-Identifier: MIT
#include "doctor/gather/pci_config.hpp"

namespace ddlrun::doctor {
namespace {

constexpr std::size_t first_extended = 0x100;
constexpr std::uint16_t acs_id = 0x000d;
constexpr std::size_t acs_control = 6;
constexpr unsigned source_validation = 1, request_redirect = 4, completion_redirect = 8;

std::uint32_t word_at(std::string_view config, std::size_t offset, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes; i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(config[offset + i - 1]);
  }
  return value;
}

}  // namespace

std::optional<std::size_t> find_extended_capability(std::string_view config, std::uint16_t id) {
  std::size_t offset = first_extended;
  // A list that runs in a circle ends: there is room for this many capabilities.
  for (std::size_t seen = 0; seen < (4096 - first_extended) / 4; ++seen) {
    if (offset < first_extended || offset % 4 != 0 || offset + 8 > config.size()) return std::nullopt;
    const std::uint32_t header = word_at(config, offset, 4);
    if (header == 0 || header == 0xffffffff) return std::nullopt;
    if ((header & 0xffff) == id) return offset;
    offset = header >> 20;
  }
  return std::nullopt;
}

AcsState read_acs(std::string_view config) {
  if (config.size() <= first_extended) return config.size() == 256 ? AcsState::absent : AcsState::unreadable;
  const auto at = find_extended_capability(config, acs_id);
  if (!at) return AcsState::absent;
  const std::uint32_t control = word_at(config, *at + acs_control, 2);
  return (control & (source_validation | request_redirect | completion_redirect)) != 0 ? AcsState::on
                                                                                       : AcsState::off;
}

}  // namespace ddlrun::doctor
