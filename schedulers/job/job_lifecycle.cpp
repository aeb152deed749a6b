// SPDX-License-Identifier: MIT
// When a job starts, gets its warning signal, starts again, and which users get mail.
#include "base/text/text.hpp"
#include "schedulers/job/job_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ddlrun::schedulers {

namespace {

using Kind = YamlValue::Kind;

constexpr std::uint32_t longest_lead = 65535;  // Slurm's own limit

// "120" (seconds, as Slurm's --signal) or "2m".
std::optional<std::uint32_t> parse_lead(std::string_view text) {
  if (const auto bare = parse_unsigned(text, longest_lead); bare && *bare > 0)
    return static_cast<std::uint32_t>(*bare);
  const auto time = parse_walltime(text);
  if (!time || *time > longest_lead) return std::nullopt;
  return static_cast<std::uint32_t>(*time);
}

void read_signal(SettingReader& reader, JobSpec& job) {
  const Setting* setting = reader.find("signal");
  if (setting == nullptr) return;
  PlacedText name{job.signal.name, setting->origin}, before{"", setting->origin};
  if (setting->value.kind == Kind::mapping) {
    const std::vector<std::string> known{"name", "before"};
    reader.known_fields("signal", setting->value, known);
    if (const auto field = reader.field("signal", *setting, "name", "USR1")) name = *field;
    if (const auto field = reader.field("signal", *setting, "before", "120")) before = *field;
  } else {
    const auto written = reader.text("signal", "USR1@120");
    if (!written) return;
    const std::size_t at = written->find('@');
    name.text = written->substr(0, at);
    before.text = at == std::string::npos ? "" : written->substr(at + 1);
  }
  constexpr auto names = std::to_array<std::string_view>({"USR1", "USR2", "TERM", "INT"});
  if (std::find(names.begin(), names.end(), name.text) == names.end()) {
    const std::string bare = name.text.starts_with("SIG") ? name.text.substr(3) : "";
    const bool meant = std::find(names.begin(), names.end(), bare) != names.end();
    reader.add_error_at(fmt::format("signal {}: it is one of USR1, USR2, TERM, INT", shown(name.text)),
                        name.where,
                        reader.hint("signal", fmt::format("{}@{}", meant ? bare : "USR1",
                                                          parse_lead(before.text) ? before.text : "120")));
    return;
  }
  const auto lead = parse_lead(before.text);
  if (!lead) {
    reader.add_error_at(before.text.empty()
                            ? "signal: the time before the time limit is missing"
                            : fmt::format("signal: {} is not 1 to {} seconds before the time limit",
                                          shown(before.text), longest_lead),
                        before.where, reader.hint("signal", name.text + "@120"));
    return;
  }
  job.signal = {name.text, *lead};
}

void read_requeue(SettingReader& reader, JobSpec& job) {
  const auto written = reader.text("requeue", "yes");
  if (!written) return;
  if (*written == "yes" || *written == "true") {
    job.requeue.wanted = true;
  } else if (*written != "no" && *written != "false") {
    const auto most = reader.number("requeue", 0, 100, "3   # restarts; or yes, no");
    job.requeue = {most.value_or(0) > 0, most.value_or(0)};
  }
}

// "0-7", "0-6:2", "3"; at its end "%2".
std::optional<ArrayRange> parse_array_part(std::string_view text) {
  constexpr std::uint64_t most = 4'000'000;  // Slurm's largest MaxArraySize, less one
  ArrayRange range;
  const auto cut = [&](char sign, std::uint32_t& into) {
    const std::size_t at = text.find(sign);
    if (at == std::string_view::npos) return true;
    const auto number = parse_unsigned(text.substr(at + 1), most);
    text = text.substr(0, at);
    if (number) into = static_cast<std::uint32_t>(*number);
    return number && *number > 0;
  };
  if (!cut('%', range.max_parallel) || !cut(':', range.step)) return std::nullopt;
  const std::size_t dash = text.find('-');
  const auto first = parse_unsigned(text.substr(0, dash), most);
  const auto last = dash == std::string_view::npos ? first : parse_unsigned(text.substr(dash + 1), most);
  if (!first || !last || *first > *last) return std::nullopt;
  range.first = static_cast<std::uint32_t>(*first);
  range.last = static_cast<std::uint32_t>(*last);
  return range;
}

// "0,2,5-7%2": the limit holds for the whole list and is at its end.
std::optional<ArrayRange> parse_array(std::string_view text) {
  std::optional<ArrayRange> array;
  for (const std::string_view part : split(text, ',')) {
    if (array && array->max_parallel > 0) return std::nullopt;
    auto range = parse_array_part(part);
    if (!range) return std::nullopt;
    if (!array) {
      array = std::move(range);
      continue;
    }
    array->max_parallel = std::exchange(range->max_parallel, 0);
    array->more.push_back(std::move(*range));
  }
  return array;
}

void read_array(SettingReader& reader, JobSpec& job) {
  const auto written = reader.text("array", "0-7");
  if (!written) return;
  job.array = parse_array(*written);
  if (!job.array) {
    reader.add_error("array", fmt::format("array {}: not FIRST-LAST with FIRST <= LAST", shown(*written)),
                     "0-7   # also 0-7%2 (two at once), 0-6:2 (every other), with Slurm 0,2,5");
  } else if (!job.array->more.empty() && is_pbs_like(job.scheduler)) {
    reader.add_error("array",
                     fmt::format("array {}: a list is Slurm's, one range is taken here", shown(*written)),
                     fmt::format("0-{}   # and in the program a value for each DDLRUN_ARRAY_INDEX",
                                 array_tasks(*job.array) - 1));
  }
}

void read_dependencies(SettingReader& reader, JobSpec& job) {
  const std::string example = "afterok:123";
  constexpr auto kinds = std::to_array<std::string_view>({"after", "afterok", "afternotok", "afterany"});
  std::vector<PlacedText> all;
  for (const PlacedText& written : reader.texts("dependencies", example)) {
    for (const std::string_view one : split(written.text, ','))
      all.push_back({std::string(trim(one)), written.where});
  }
  for (const PlacedText& one : all) {
    const auto parts = split(one.text, ':');
    const std::string kind(parts.front());
    const bool known = std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    if (!known || parts.size() < 2) {
      const std::vector<std::string> words(kinds.begin(), kinds.end());
      const bool bare =
          parts.size() == 1 && parse_unsigned(one.text.substr(0, one.text.find_first_of("._["))).has_value();
      reader.add_error_at(
          known ? fmt::format("dependencies {}: after which job?", shown(one.text))
                : fmt::format("dependencies {}: not one of {}, and a job's id", shown(one.text),
                              join(words, ", ")),
          one.where,
          reader.hint("dependencies",
                      bare ? "afterok:" + printable(one.text, 60)
                           : closest_match(to_lower(kind), words).value_or("afterok") + ":123"));
      continue;
    }
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const std::string id(parts[i]);
      const bool good =
          id == newest_job || (!id.empty() && id[0] >= '0' && id[0] <= '9' && is_name(NameKind::job_id, id));
      if (good) {
        job.dependencies.push_back({kind, id});
      } else {
        reader.add_error_at(
            fmt::format("dependencies: {} is not a job's id as the scheduler prints it", shown(id)),
            one.where, reader.hint("dependencies", fmt::format("{}:123", kind)));
      }
    }
  }
}

bool is_address(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos || at == 0 || at + 1 == text.size() || text.size() > 254) return false;
  const std::string alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const std::string_view user = text.substr(0, at), domain = text.substr(at + 1);
  return alnum.find(user.front()) != std::string::npos && alnum.find(domain.front()) != std::string::npos &&
         user.find_first_not_of(alnum + "._+-") == std::string_view::npos &&
         domain.find_first_not_of(alnum + ".-") == std::string_view::npos;
}

void read_mail(SettingReader& reader, JobSpec& job) {
  if (const auto mail = reader.text("mail", "me@example.org")) {
    if (is_address(*mail)) {
      job.mail = *mail;
    } else {
      reader.add_error("mail", fmt::format("mail {}: not one address", shown(*mail)), "me@example.org");
    }
  }
  const std::vector<std::string> known{"begin", "end", "fail"};
  std::vector<std::string> wanted;
  for (const PlacedText& written : reader.texts("mail_events", "end,fail")) {
    for (const std::string_view part : split(written.text, ',')) {
      const std::string event(trim(part));
      if (std::find(known.begin(), known.end(), event) == known.end()) {
        reader.add_error_at(
            fmt::format("mail_events {}: it is one of begin, end, fail", shown(event)), written.where,
            reader.hint("mail_events", closest_match(to_lower(event), known).value_or("end,fail")));
      } else if (std::find(wanted.begin(), wanted.end(), event) == wanted.end()) {
        wanted.push_back(event);
      }
    }
  }
  if (wanted.empty() && !job.mail.empty() && reader.find("mail_events") == nullptr) wanted = {"end", "fail"};
  job.mail_events = join(wanted, ",");
}

}  // namespace

void read_lifecycle(SettingReader& reader, JobSpec& job) {
  read_signal(reader, job);
  read_requeue(reader, job);
  read_array(reader, job);
  read_dependencies(reader, job);
  read_mail(reader, job);
}

}  // namespace ddlrun::schedulers
