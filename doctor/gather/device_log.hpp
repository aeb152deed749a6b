// SPDX-License-Identifier: MIT
// Lines of the kernel's log that report broken GPUs and links, from `dmesg` or `journalctl -o
// short-monotonic`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

struct XidEvent {
  double seconds = 0;  // since the host started
  unsigned xid = 0;
  std::string pci;  // "0000:3b:00"
};

struct LinkEvent {
  double seconds = 0;
  std::string name;
};

struct DeviceEvents {
  std::vector<XidEvent> xids;
  std::vector<LinkEvent> links_down;
};

// `links`: names of devices and interfaces whose links count. What comes in the first 120 s after the start
// is a link that was never up.
DeviceEvents parse_device_log(std::string_view text, std::span<const std::string> links);

}  // namespace ddlrun::doctor
