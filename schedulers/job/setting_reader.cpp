// SPDX-License-Identifier: MIT
#include "schedulers/job/setting_reader.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::schedulers {

namespace {

using Kind = YamlValue::Kind;

bool has_control_byte(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

// As a word of a command line: "[a, b]" is a,b and "# and walltime: 4h" is "# and --walltime 4h".
std::string typed_example(std::string_view example, std::string_view separator) {
  const std::size_t end = example.find("   # ");
  std::string value(example.substr(0, end));
  std::string rest(end == std::string_view::npos ? std::string_view() : example.substr(end));
  if (value.starts_with('[') && value.ends_with(']')) {
    value = value.substr(1, value.size() - 2);
    for (std::size_t at = value.find(", "); at != std::string::npos; at = value.find(", ", at + 1)) {
      value.replace(at, 2, separator);
    }
  }
  constexpr std::string_view also = "   # and ";
  const std::size_t colon = rest.find(": ");
  if (rest.starts_with(also) && colon != std::string::npos) {
    rest.replace(colon, 2, " ");
    rest.insert(also.size(), "--");
  }
  return value + rest;
}

}  // namespace

std::string shown(std::string_view text) { return "'" + printable(text, 60) + "'"; }

const Setting* SettingReader::find(std::string_view key) const {
  const auto found = settings_.find(std::string(key));
  return found == settings_.end() ? nullptr : &found->second;
}

std::string SettingReader::origin_of(std::string_view key) const {
  const Setting* setting = find(key);
  return setting == nullptr ? std::string() : setting->origin;
}

// As it is typed where the setting came from: a flag or a line of a file.
std::string SettingReader::hint(std::string_view key, std::string_view example) const {
  const Setting* setting = find(key);
  const std::string_view origin = setting == nullptr ? std::string_view() : setting->origin;
  if (origin == "the command line") return typed_example(example, ",");
  if (origin == "behind '--'") return "-- " + typed_example(example, " ");
  if (!origin.starts_with("--")) return fmt::format("{}: {}", key, example);
  std::string flag(key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return fmt::format("--{} {}", flag, typed_example(example, ","));
}

void SettingReader::add_error(std::string_view key, std::string what, std::string_view example) {
  add_error_at(std::move(what), origin_of(key), hint(key, example));
}

void SettingReader::add_error_at(std::string what, std::string where, std::string hint) {
  errors_.push_back({std::move(what), std::move(where), std::move(hint)});
}

void SettingReader::leave_out(std::string_view key, std::string what, std::string_view instead) {
  const std::string origin = origin_of(key);
  add_error_at(std::move(what), origin,
               fmt::format("leave out {}, or {}", origin.starts_with("--") ? origin : key, instead));
}

std::optional<std::string> SettingReader::text(std::string_view key, std::string_view example) {
  const Setting* setting = find(key);
  if (setting == nullptr) return std::nullopt;
  if (setting->value.kind == Kind::sequence && setting->origin.starts_with("--")) {
    std::vector<std::string> given;
    for (const YamlValue& item : setting->value.items) given.push_back(printable(item.text, 40));
    add_error(key, fmt::format("{} is given {} times: {}", setting->origin, given.size(), join(given, ", ")),
              given.empty() ? example : std::string_view(given.back()));
    return std::nullopt;
  }
  if (setting->value.kind == Kind::sequence || setting->value.kind == Kind::mapping) {
    add_error(key,
              fmt::format("{}: one value is wanted, this is a {}", key,
                          setting->value.kind == Kind::sequence ? "list" : "mapping"),
              example);
    return std::nullopt;
  }
  if (trim(setting->value.text).empty()) {
    add_error(key, fmt::format("{}: there is no value", key), example);
    return std::nullopt;
  }
  return setting->value.text;
}

std::string SettingReader::name(std::string_view key, NameKind kind, std::string_view example) {
  const auto written = text(key, example);
  if (!written) return {};
  if (is_name(kind, *written)) return *written;
  std::string meant = *written;
  std::replace(meant.begin(), meant.end(), ' ', '_');
  add_error(key, fmt::format("{} {} may hold only {}", key, shown(*written), alphabet_of(kind)),
            is_name(kind, meant) ? std::string_view(meant) : example);
  return {};
}

std::optional<std::uint32_t> SettingReader::checked_number(std::string_view key, const PlacedText& written,
                                                           std::uint32_t least, std::uint32_t most,
                                                           std::string_view example) {
  const auto value = parse_unsigned(written.text);
  const bool octal = written.text.size() > 1 && written.text.starts_with('0');
  if (value && !octal && *value >= least && *value <= most) return static_cast<std::uint32_t>(*value);
  const bool in_range = value && *value >= least && *value <= most;
  add_error_at(fmt::format("{} {}: {}", key, shown(written.text),
                           in_range ? "a number has no leading 0"
                                    : fmt::format("not a number from {} to {}", least, most)),
               written.where, hint(key, in_range ? std::to_string(*value) : std::string(example)));
  return std::nullopt;
}

std::optional<std::uint32_t> SettingReader::number(std::string_view key, std::uint32_t least,
                                                   std::uint32_t most, std::string_view example) {
  const auto written = text(key, example);
  if (!written) return std::nullopt;
  return checked_number(key, {*written, origin_of(key)}, least, most, example);
}

std::optional<bool> SettingReader::yes_no(std::string_view key) {
  const auto written = text(key, "yes");
  if (!written) return std::nullopt;
  if (*written == "yes" || *written == "true") return true;
  if (*written == "no" || *written == "false") return false;
  add_error(key, fmt::format("{} {}: neither yes nor no", key, shown(*written)), "yes");
  return std::nullopt;
}

std::optional<std::size_t> SettingReader::choice(std::string_view key,
                                                 std::span<const std::string_view> choices) {
  std::vector<std::string> words(choices.begin(), choices.end());
  const auto written = text(key, words.front());
  if (!written) return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), *written);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  add_error(key, fmt::format("{} {}: it is one of {}", key, shown(*written), join(words, ", ")),
            closest_match(*written, words).value_or(words.front()));
  return std::nullopt;
}

std::optional<std::uint64_t> SettingReader::seconds(std::string_view key) {
  const auto written = text(key, "4h");
  if (!written) return std::nullopt;
  const auto value = parse_walltime(*written);
  if (value) return value;
  const auto bare = parse_unsigned(*written, 1'000'000);
  if (bare && *bare > 0) {
    add_error(key,
              fmt::format("{} {}: minutes for Slurm, seconds for PBS; it needs a unit", key, shown(*written)),
              fmt::format("{0}m or {0}s", *bare));
  } else {
    add_error(key, fmt::format("{} {}: not a time", key, shown(*written)),
              "1h30m   # or 01:30:00, 1-12:00:00");
  }
  return std::nullopt;
}

std::string SettingReader::checked_path(std::string_view key, const PlacedText& written,
                                        const std::string& base) {
  const std::string& path = written.text;
  const auto bad = [&](std::string_view why, std::string_view example) {
    add_error_at(fmt::format("{} {}: {}", key, shown(path), why), written.where, hint(key, example));
    return std::string();
  };
  if (has_control_byte(path)) return bad("a path has no control bytes", "/scratch/me/run");
  if (path.find('$') != std::string::npos || path.starts_with('~') || path.find("/~/") != std::string::npos) {
    return bad("variables and ~ are not expanded here", "/the/whole/path");
  }
  if (path.starts_with('/')) return path;
  if (base.starts_with('/')) return base + (base.ends_with('/') ? "" : "/") + path;
  return bad("not an absolute path", "/" + printable(path, 60));
}

std::string SettingReader::path(std::string_view key, const std::string& base, std::string_view example) {
  const auto written = text(key, example);
  return written ? checked_path(key, {*written, origin_of(key)}, base) : std::string();
}

std::vector<PlacedText> SettingReader::texts(std::string_view key, std::string_view example) {
  std::vector<PlacedText> all;
  const Setting* setting = find(key);
  if (setting == nullptr) return all;
  if (setting->value.kind != Kind::sequence) {
    if (const auto one = text(key, example)) all.push_back({*one, setting->origin});
    return all;
  }
  if (setting->value.items.empty()) add_error(key, fmt::format("{}: the list is empty", key), example);
  for (const YamlValue& item : setting->value.items) {
    const std::string where = place_of(*setting, item);
    const bool mapping = item.kind == Kind::mapping || item.kind == Kind::sequence;
    if (mapping) {
      add_error_at(fmt::format("{}: a text is wanted in the list, this is a {}", key,
                               item.kind == Kind::mapping ? "mapping" : "list"),
                   where, "quote a text that holds ': '   # - 'like: this'");
    } else if (item.kind == Kind::nothing) {
      add_error_at(fmt::format("{}: ~ and null are no text in YAML, but nothing at all", key), where,
                   "'~'   # in quotes it is a text; the home directory is $HOME, spelt out");
    } else {
      all.push_back({item.text, where});
    }
  }
  return all;
}

void SettingReader::known_fields(std::string_view key, const YamlValue& value,
                                 std::span<const std::string> known) {
  const Setting* setting = find(key);
  for (const auto& [word, field] : value.fields) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    const auto near = closest_match(word, known);
    add_error_at(
        fmt::format("{}: unknown key '{}'", key, printable(word, 60)), place_of(*setting, field),
        near ? fmt::format("did you mean {}?", *near) : fmt::format("{} allows {}", key, join(known, ", ")));
  }
}

std::optional<PlacedText> SettingReader::field(std::string_view key, const Setting& setting,
                                               std::string_view name, std::string_view example) {
  const YamlValue* value = setting.value.find(name);
  if (value == nullptr) return std::nullopt;
  if (value->kind == Kind::scalar && !trim(value->text).empty()) {
    return PlacedText{value->text, place_of(setting, *value)};
  }
  add_error_at(fmt::format("{}: {}: one value is wanted", key, name), place_of(setting, *value),
               fmt::format("{}: {}", name, example));
  return std::nullopt;
}

}  // namespace ddlrun::schedulers
