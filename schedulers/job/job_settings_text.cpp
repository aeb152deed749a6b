// SPDX-License-Identifier: MIT
#include "schedulers/job/job_settings_text.hpp"

#include "base/text/text.hpp"

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

// Words that YAML takes as they are stay without quotes.
std::string readable(const YamlValue& value) {
  if (value.kind == YamlValue::Kind::sequence) {
    std::string out;
    for (const YamlValue& item : value.items) out += (out.empty() ? "" : ", ") + readable(item);
    return "[" + out + "]";
  }
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./@+=";
  const std::string& text = value.text;
  const bool bare = value.kind == YamlValue::Kind::scalar && !text.empty() && text[0] != '-' &&
                    text[0] != '@' && text[0] != '=' && text.find_first_not_of(plain) == std::string::npos;
  return bare ? text : flow(value);
}

// What stands behind a key in the comment; keys without an option are lists.
std::string example_of_key(const JobKey& key) {
  if (key.name == "program") return "[python3, train.py, --epochs, \"3\"]";
  if (key.name == "setup") return "[export A=1, ./prepare.sh]";
  if (key.name == "directives") return "[\"-l software=matlab\"]";
  return std::string(key.value);
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

std::string render_job_lines(const JobSettings& settings) {
  std::string text;
  for (const JobKey& key : job_keys()) {
    const auto found = settings.find(std::string(key.name));
    if (found == settings.end()) continue;
    const YamlValue& value = found->second.value;
    const bool lines = key.name == "setup" && value.kind == YamlValue::Kind::sequence;
    text += fmt::format("{}:{}\n", key.name, lines ? "" : " " + readable(value));
    if (!lines) continue;
    for (const YamlValue& item : value.items) text += "  - " + flow(item) + "\n";
  }
  return text;
}

std::string render_applying_settings(const JobSettings& settings, bool origins) {
  std::string text;
  for (const JobKey& key : job_keys()) {
    const auto found = settings.find(std::string(key.name));
    if (found == settings.end() && key.standard.empty()) continue;
    const bool is_set = found != settings.end();
    const std::string line =
        fmt::format("{}: {}", key.name, is_set ? readable(found->second.value) : std::string(key.standard));
    const std::string origin = is_set ? found->second.origin : "built-in";
    text += origins ? fmt::format("{:<44}  # {}\n", line, printable(origin, 400)) : line + "\n";
  }
  return text;
}

std::string render_commented_job_file(const JobSettings& settings) {
  std::string text =
      "# A job: `ddlrun submit --dry-run` shows the script, `ddlrun submit` submits it.\n"
      "# Options and variables such as DDLRUN_WALLTIME win over this file.\n";
  std::string_view group;
  for (const JobKey& key : job_keys()) {
    if (key.group != group) text += fmt::format("\n# {}\n", key.group);
    group = key.group;
    const auto found = settings.find(std::string(key.name));
    const std::string line = found == settings.end()
                                 ? fmt::format("# {}: {}", key.name, example_of_key(key))
                                 : fmt::format("{}: {}", key.name, readable(found->second.value));
    text += fmt::format("{:<44}  # {}\n", line, key.summary);
  }
  return text;
}

}  // namespace ddlrun::schedulers
