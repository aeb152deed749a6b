// SPDX-License-Identifier: MIT
#include "doctor/report/report.hpp"

#include "base/text/host_list.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t max_value = 400;

std::string title_of(std::string_view id, std::span<const Check> checks) {
  for (const Check& check : checks) {
    if (check.id == id) return std::string(check.title);
  }
  return {};
}

std::string_view colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::fail:
      return "\x1b[31m";
    case Verdict::error:
      return "\x1b[35m";
    case Verdict::warn:
      return "\x1b[33m";
    case Verdict::pass:
      return "\x1b[32m";
    case Verdict::skip:
      return "\x1b[2m";
  }
  return "";
}

std::string render_verdict(Verdict verdict, const ReportStyle& style) {
  if (!style.colour) return fmt::format("{:<5}", verdict_name(verdict));
  return fmt::format("{}{:<5}\x1b[0m", colour_of(verdict), verdict_name(verdict));
}

// "h2,h4 (2 of 4)"; nothing where the finding is about the whole job.
std::string render_where(const Finding& finding, std::size_t all) {
  if (finding.hosts.empty()) return {};
  const std::string folded = fold_host_list(finding.hosts);
  if (finding.hosts.size() == all && all > 1) return fmt::format("all {} hosts ({})", all, folded);
  return all > 1 ? fmt::format("{} ({} of {})", folded, finding.hosts.size(), all) : folded;
}

void add_line(std::string& text, std::string_view key, const std::string& value,
              std::size_t limit = max_value) {
  if (!value.empty()) text += fmt::format("  {:<5} {}\n", key, printable(value, limit));
}

std::string render_command(const std::string& command) {
  if (command.size() <= longest_command) return printable(command, longest_command);
  return fmt::format("# a command of {} bytes, too long to be shown: see --json", command.size());
}

void add_remedy(std::string& text, const Remedy& remedy) {
  std::string_view place = remedy.on_driver_host ? "here" : "there";
  if (!remedy.commands.empty()) {
    text += fmt::format("  try   {}{}:\n", place, remedy.needs_root ? ", as root" : "");
    for (const std::string& command : remedy.commands) text += "          " + render_command(command) + "\n";
  }
  add_line(text, remedy.commands.empty() ? "try" : "note", remedy.note, longest_command);
}

std::string render_finding(const Finding& finding, std::span<const Check> checks, std::size_t hosts,
                           const ReportStyle& style) {
  std::string text = fmt::format("{} {}  {}\n", render_verdict(finding.verdict, style), finding.id,
                                 title_of(finding.id, checks));
  add_line(text, "at", render_where(finding, hosts));
  add_line(text, "is", finding.observed);
  add_line(text, "want", finding.expected);
  add_line(text, "why", finding.why);
  add_remedy(text, finding.remedy);
  return text;
}

constexpr std::size_t shown_values = 3;

// Of many values of one check, the first few in full and the rest in a line: 4,000 hosts must fit a screen.
std::string render_rest(std::span<const Finding* const> rest, std::size_t hosts) {
  std::vector<std::string> names;
  for (const Finding* finding : rest) names.insert(names.end(), finding->hosts.begin(), finding->hosts.end());
  return fmt::format("      {}  {} more values on {} (--json has all)\n\n", rest.front()->id, rest.size(),
                     names.size() == hosts ? fmt::format("all {} hosts", hosts) : fold_host_list(names));
}

int order_of(Verdict verdict) {
  constexpr std::array order{Verdict::fail, Verdict::error, Verdict::warn, Verdict::pass, Verdict::skip};
  return static_cast<int>(std::find(order.begin(), order.end(), verdict) - order.begin());
}

// One line a reason: "needs root: IB-03, GPU-07".
std::string render_skips(std::span<const Finding> findings) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const Finding& finding : findings) {
    if (finding.verdict != Verdict::skip) continue;
    auto at = std::find_if(reasons.begin(), reasons.end(),
                           [&](const auto& reason) { return reason.first == finding.observed; });
    if (at == reasons.end()) at = reasons.insert(at, {finding.observed, {}});
    if (std::find(at->second.begin(), at->second.end(), finding.id) == at->second.end()) {
      at->second.push_back(finding.id);
    }
  }
  std::string text;
  for (const auto& [reason, ids] : reasons) {
    text += fmt::format("  {}: {}\n", printable(reason, 120), fold_host_list(ids, 100));
  }
  return text;
}

// The paths that reached a host; the only path of a run is among them in any case.
std::vector<Via> find_used_paths(const Examination& examination) {
  std::vector<Via> used;
  const bool is_only = examination.paths.size() == 1;
  const std::size_t all = examination.hosts.size();
  for (std::size_t i = 0; i < examination.paths.size(); ++i) {
    const auto is_this = [&](const LostPath& lost) { return lost.via == examination.paths[i]; };
    const auto lost = std::find_if(examination.lost.begin(), examination.lost.end(), is_this);
    const bool has_host = i == 0 ? examination.unreached.size() < all
                                 : lost == examination.lost.end() || lost->hosts.size() < all;
    if (is_only || has_host) used.push_back(examination.paths[i]);
  }
  return used;
}

// "4 hosts by ssh", this host among them or not; "this host" where it is the only one and no other path
// reached it.
std::string render_hosts(const Examination& examination) {
  const bool is_alone = examination.local > 0 && examination.local == examination.hosts.size();
  const std::vector<Via> used = find_used_paths(examination);
  if (is_alone && used.size() == 1) return "this host";
  const std::string hosts = count_of(examination.hosts.size(), "host");
  return used.empty() ? hosts : fmt::format("{} by {}", hosts, join_paths(used, " and "));
}

// "; not reached: h3", or by each path where there are several.
std::string render_unreached(const Examination& examination) {
  std::string text;
  if (!examination.unreached.empty()) {
    const bool is_only = examination.paths.size() == 1;
    text += fmt::format("; not reached{}: {}",
                        is_only ? "" : fmt::format(" by {}", via_name(examination.paths[0])),
                        fold_host_list(examination.unreached));
  }
  for (const LostPath& lost : examination.lost)
    text += fmt::format("; not reached by {}: {}", via_name(lost.via), fold_host_list(lost.hosts));
  return text;
}

std::string render_summary(const Examination& examination) {
  const Summary summary = count_checks(examination.findings);
  std::string text = fmt::format(
      "{}{}, {}: {} in {:.1f} s: {} pass", render_hosts(examination),
      examination.relayed == 0 ? "" : fmt::format(", {} through others", examination.relayed),
      level_name(examination.level), count_of(static_cast<std::uint64_t>(summary.checks), "check"),
      examination.seconds, summary[Verdict::pass]);
  for (const Verdict verdict : {Verdict::fail, Verdict::error, Verdict::warn, Verdict::skip}) {
    if (summary[verdict] > 0) text += fmt::format(", {} {}", summary[verdict], verdict_name(verdict));
    if (verdict == Verdict::skip && summary[verdict] > 0) text += " (--all shows why)";
  }
  return text + render_unreached(examination) + "\n";
}

}  // namespace

std::string render_report(const Examination& examination, std::span<const Check> checks,
                          const ReportStyle& style) {
  std::vector<const Finding*> shown;
  for (const Finding& finding : examination.findings) {
    const bool telling = order_of(finding.verdict) < order_of(Verdict::pass);
    if (telling || style.all) shown.push_back(&finding);
  }
  std::stable_sort(shown.begin(), shown.end(), [](const Finding* a, const Finding* b) {
    return order_of(a->verdict) < order_of(b->verdict);
  });  // the values of one check stay together: checks come in the order of the table
  std::string text;
  for (std::size_t i = 0; i < shown.size();) {
    std::size_t end = i;
    while (end < shown.size() && shown[end]->id == shown[i]->id && shown[end]->verdict == shown[i]->verdict)
      ++end;
    const std::size_t whole = end - i <= shown_values + 1 ? end : i + shown_values;
    for (; i < whole; ++i) {
      text += render_finding(*shown[i], checks, examination.hosts.size(), style) + "\n";
    }
    if (i < end) text += render_rest(std::span(shown).subspan(i, end - i), examination.hosts.size());
    i = end;
  }
  const std::string skips = style.all ? std::string() : render_skips(examination.findings);
  if (!skips.empty() && std::count(skips.begin(), skips.end(), '\n') <= 12)
    text += "not evaluated:\n" + skips + "\n";
  return text + render_summary(examination);
}

std::string render_check_list(std::span<const Check> checks) {
  std::string text;
  for (const Check& check : checks) {
    text += fmt::format("{:<10} {:<7} {}\n", check.id, level_name(check.level), check.title);
  }
  return text;
}

// Text in lines of at most 100 columns, each behind 8 blanks.
std::string wrap(std::string_view text) {
  std::string lines;
  std::size_t column = 8;
  for (const std::string_view word : split(text, ' ')) {
    if (column + word.size() > 100) {
      lines += "\n       ";
      column = 7;
    }
    if (!lines.empty()) lines += ' ';
    lines += word;
    column += word.size() + 1;
  }
  return lines;
}

std::string render_explanation(const Check& check) {
  constexpr std::array places{"on the driver host", "on every host",
                              "between hosts, evaluated on the driver host"};
  return fmt::format("{}  {}\n\nwhy     {}\nread    {}\nremedy  {}\nlevel   {}; {}\n", check.id, check.title,
                     wrap(check.why), wrap(check.how), wrap(check.remedy), level_name(check.level),
                     places[static_cast<std::size_t>(check.place)]);
}

}  // namespace ddlrun::doctor
