// SPDX-License-Identifier: MIT
#include "launch/history/file_link.hpp"

#include <fmt/format.h>

namespace ddlrun::launch {

std::string render_file_link(std::string_view path) {
  std::string link;
  for (const char byte : path) {
    const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    const bool plain = letter || (byte >= '0' && byte <= '9') ||
                       std::string_view("/._~-").find(byte) != std::string_view::npos;
    link += plain ? std::string(1, byte) : fmt::format("%{:02X}", static_cast<unsigned char>(byte));
  }
  return link;
}

}  // namespace ddlrun::launch
