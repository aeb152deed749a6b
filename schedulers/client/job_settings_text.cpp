// SPDX-License-Identifier: MIT
#include "schedulers/client/job_options.hpp"

#include <fmt/format.h>

namespace ddlrun::schedulers {

namespace {

// Double quotes with JSON's escapes: every text, on one line.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string flow(const YamlValue& value) {
  std::string out;
  switch (value.kind) {
    case YamlValue::Kind::nothing:
      return "~";
    case YamlValue::Kind::scalar:
      return quoted(value.text);
    case YamlValue::Kind::sequence:
      for (const YamlValue& item : value.items) out += (out.empty() ? "" : ", ") + flow(item);
      return "[" + out + "]";
    case YamlValue::Kind::mapping:
      for (const auto& [name, field] : value.fields) {
        out += (out.empty() ? "" : ", ") + quoted(name) + ": " + flow(field);
      }
      return "{" + out + "}";
  }
  return "~";
}

}  // namespace

std::string render_job_settings(const JobSettings& settings) {
  std::string text = "# The job as it was submitted: ddlrun submit --job THIS_FILE\n";
  for (const auto& [key, setting] : settings) {
    std::string origin;
    for (const char c : setting.origin) origin += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    text += fmt::format("{}: {}  # {}\n", key, flow(setting.value), origin);
  }
  return text;
}

}  // namespace ddlrun::schedulers
