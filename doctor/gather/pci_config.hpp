// SPDX-License-Identifier: MIT
// The extended capabilities in a PCI device's configuration space, as /sys/bus/pci/devices/*/config holds it.
// An unprivileged reader gets its first 64 bytes only, which have none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::doctor {

// Offset of extended capability `id`; nothing where there is none or the list is malformed.
std::optional<std::size_t> find_extended_capability(std::string_view config, std::uint16_t id);

enum class AcsState { unreadable, absent, off, on };

// Access Control Services: `on` where requests between devices below the bridge are checked or redirected.
AcsState read_acs(std::string_view config);

}  // namespace ddlrun::doctor
