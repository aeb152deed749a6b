// SPDX-License-Identifier: MIT
#include "templates/site_profile_yaml.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::templates {

namespace {

using Kind = YamlValue::Kind;

const std::vector<std::string> known_keys{"name",
                                          "title",
                                          "source",
                                          "scheduler",
                                          "defaults",
                                          "required",
                                          "application_directive",
                                          "submit_below",
                                          "walltime_most",
                                          "queue_walltimes",
                                          "preamble",
                                          "directives"};

bool is_plain(std::string_view text) {
  const std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !text.empty() && text.size() <= 64 && text.find_first_not_of(allowed) == std::string_view::npos;
}

// "48:00:00" or "48h" or "2d"; a profile needs no more.
std::optional<std::uint64_t> parse_limit(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() == 3) {
    const auto hours = parse_unsigned(parts[0], 100'000), minutes = parse_unsigned(parts[1], 59),
               seconds = parse_unsigned(parts[2], 59);
    if (!hours || !minutes || !seconds) return std::nullopt;
    return *hours * 3600 + *minutes * 60 + *seconds;
  }
  if (text.size() < 2) return std::nullopt;
  const auto number = parse_unsigned(text.substr(0, text.size() - 1), 100'000);
  const std::uint64_t unit = text.back() == 'd'   ? 86400
                             : text.back() == 'h' ? 3600
                             : text.back() == 'm' ? 60
                                                  : 0;
  if (!number || *number == 0 || unit == 0) return std::nullopt;
  return *number * unit;
}

class Reader {
 public:
  Reader(const YamlValue& root, const std::string& file) : root_(root), file_(file) {}

  SiteProfile read(const std::string& name) const {
    check_keys();
    SiteProfile site;
    site.file = file_;
    site.name = text_or("name", name);
    if (!is_plain(site.name))
      refuse(root_, fmt::format("'{}' is no name of a profile", printable(site.name, 60)), "name: my-site");
    site.title = text_or("title", site.name);
    site.source = text_or("source", "");
    read_scheduler(site);
    if (const YamlValue* defaults = root_.find("defaults"))
      site.defaults = mapping(*defaults, "queue: normal");
    for (const YamlValue* key : list("required", "[walltime]")) site.required.push_back(key->text);
    read_application(site);
    read_directories(site);
    read_limits(site);
    for (const YamlValue* line : list("preamble", "- ulimit -c 0")) add_lines(site.preamble, *line);
    for (const YamlValue* line : list("directives", "- \"-W sandbox=PRIVATE\"")) add_directive(site, *line);
    return site;
  }

 private:
  [[noreturn]] void refuse(const YamlValue& at, std::string what, std::string hint) const {
    throw Error(ErrorKind::request,
                {std::move(what), at.line > 0 ? place_in(file_, at) : file_, std::move(hint)});
  }
  void check_keys() const {
    if (root_.kind != Kind::mapping) refuse(root_, "a profile is a mapping (KEY: VALUE)", "scheduler: slurm");
    for (const auto& [key, value] : root_.fields) {
      if (std::find(known_keys.begin(), known_keys.end(), key) != known_keys.end()) continue;
      const auto near = closest_match(key, known_keys);
      refuse(value, fmt::format("unknown key '{}' in a profile", printable(key, 60)),
             near ? fmt::format("did you mean {}?", *near)
                  : fmt::format("settings of jobs belong under defaults:; a profile has the keys {}",
                                join(known_keys, ", ")));
    }
  }
  const std::string& text_of(const YamlValue& value, std::string_view example) const {
    if (value.kind != Kind::scalar || trim(value.text).empty())
      refuse(value, "one value is expected here", std::string(example));
    if (value.text.find('\0') != std::string::npos) refuse(value, "a NUL byte", std::string(example));
    return value.text;
  }
  std::string text_or(std::string_view key, const std::string& otherwise) const {
    const YamlValue* value = root_.find(key);
    return value == nullptr ? otherwise : text_of(*value, fmt::format("{}: ...", key));
  }
  const std::vector<YamlField>& mapping(const YamlValue& value, std::string_view example) const {
    if (value.kind != Kind::mapping)
      refuse(value, "a mapping (KEY: VALUE) is expected here", std::string(example));
    return value.fields;
  }
  // One text or a list of them.
  std::vector<const YamlValue*> list(std::string_view key, std::string_view example) const {
    std::vector<const YamlValue*> all;
    const YamlValue* value = root_.find(key);
    if (value == nullptr) return all;
    if (value->kind == Kind::sequence) {
      for (const YamlValue& item : value->items) all.push_back(&item);
    } else {
      all.push_back(value);
    }
    for (const YamlValue* item : all) text_of(*item, fmt::format("{}: {}", key, example));
    return all;
  }
  void read_scheduler(SiteProfile& site) const {
    const YamlValue* value = root_.find("scheduler");
    if (value == nullptr)
      refuse(root_, "a profile says whose site it is: 'scheduler:' is missing",
             "scheduler: slurm   # or pbs, torque, local");
    const std::vector<std::string> known{"slurm", "pbs", "torque", "local"};
    site.scheduler = text_of(*value, "scheduler: slurm");
    if (std::find(known.begin(), known.end(), site.scheduler) == known.end()) {
      refuse(*value,
             fmt::format("scheduler '{}' is not one of {}", printable(site.scheduler, 60), join(known, ", ")),
             fmt::format("scheduler: {}", closest_match(site.scheduler, known).value_or("slurm")));
    }
  }
  void read_application(SiteProfile& site) const {
    const YamlValue* value = root_.find("application_directive");
    if (value == nullptr) return;
    site.application_directive = text_of(*value, "application_directive: \"-A {}\"");
    const std::size_t placeholder = site.application_directive.find("{}");
    const bool one = placeholder != std::string::npos &&
                     site.application_directive.find("{}", placeholder + 2) == std::string::npos;
    if (!one || !site.application_directive.starts_with('-')) {
      refuse(*value,
             fmt::format("'{}' is no directive with one {{}}", printable(site.application_directive, 60)),
             "application_directive: \"--comment={}\"");
    }
  }
  void read_directories(SiteProfile& site) const {
    for (const YamlValue* directory : list("submit_below", "[/scratch]")) {
      if (!directory->text.starts_with('/')) {
        refuse(*directory, fmt::format("'{}' is not an absolute path", printable(directory->text, 60)),
               "submit_below: [/scratch]");
      }
      site.submit_below.push_back(directory->text);
    }
  }
  std::uint64_t limit(const YamlValue& value) const {
    const auto seconds = parse_limit(text_of(value, "48h"));
    if (!seconds)
      refuse(value, fmt::format("'{}' is not a time", printable(value.text, 60)), "48h   # or 48:00:00");
    return *seconds;
  }
  void read_limits(SiteProfile& site) const {
    if (const YamlValue* most = root_.find("walltime_most")) site.walltime_most_seconds = limit(*most);
    const YamlValue* queues = root_.find("queue_walltimes");
    if (queues == nullptr) return;
    for (const auto& [queue, value] : mapping(*queues, "normal: 48h"))
      site.queue_walltimes.emplace_back(queue, limit(value));
  }
  static void add_lines(std::vector<std::string>& lines, const YamlValue& value) {
    for (const std::string_view line : split(value.text, '\n')) {
      if (!trim(line).empty()) lines.emplace_back(line);
    }
  }
  void add_directive(SiteProfile& site, const YamlValue& value) const {
    const bool printable_ascii =
        std::all_of(value.text.begin(), value.text.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
    if (!printable_ascii || !value.text.starts_with('-')) {
      refuse(value, fmt::format("'{}' is no directive (without #SBATCH or #PBS)", printable(value.text, 60)),
             "- \"-W sandbox=PRIVATE\"");
    }
    site.directives.push_back(value.text);
  }

  const YamlValue& root_;
  const std::string& file_;
};

}  // namespace

SiteProfile parse_profile(std::string_view text, const std::string& name, const std::string& file) {
  const YamlValue root =
      parse_yaml(text, file, "KEY: VALUE on each line, as in the profiles that came with ddlrun");
  return Reader(root, file).read(name);
}

}  // namespace ddlrun::templates
