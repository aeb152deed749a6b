// SPDX-License-Identifier: MIT
#include "launch/rank/status_line.hpp"

#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "launch/rank/control_line.hpp"
#include "topology/dims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ddlrun::launch {

namespace {

std::string rank_lead(std::string_view token) { return fmt::format("ddlrun-rank token={} ", token); }

constexpr std::string_view sign_names[] = {"alive", "stalled", "moves", "ended", "computes"};

std::string render_usage(const RankUsage& usage) {
  std::string text = fmt::format(" cpu={} rss={} io={} quiet={} stopped={}", usage.cpu_percent,
                                 usage.resident_kib, usage.io_kib_s, usage.quiet_s, usage.stopped ? 1 : 0);
  if (usage.host) text += fmt::format(" rx={} tx={}", usage.host->received_kib_s, usage.host->sent_kib_s);
  return text;
}

// Two frames hold the line.
bool fits_word(std::string_view file) {
  constexpr std::size_t most = 300;
  return !file.empty() && file.size() <= most &&
         std::ranges::all_of(file, [](char byte) { return byte > ' ' && byte <= '~' && byte != ';'; });
}

std::string render_end(const RankReport& report) {
  std::string text =
      fmt::format(" status={} signal={} alone={}", report.exit_status, report.signal, report.alone ? 1 : 0);
  if (report.start_error != 0) text += fmt::format(" errno={}", report.start_error);
  if (report.oom_file) text += " oom=" + (fits_word(*report.oom_file) ? *report.oom_file : "?");
  return text;
}

std::string render_details(const RankReport& report) {
  const Stall& stall = report.stall;
  switch (report.sign) {
    case RankStatus::heartbeat:
      return report.usage ? render_usage(*report.usage) : std::string();
    case RankStatus::stalled:
    case RankStatus::computes:
      return fmt::format(" seconds={} state={} pid={} name={} in={}", stall.seconds, stall.state, stall.pid,
                         stall.name.empty() ? "?" : stall.name,
                         stall.waits_in.empty() ? "?" : stall.waits_in);
    case RankStatus::resumed:
      return fmt::format(" seconds={}", stall.seconds);
    case RankStatus::ended:
      return render_end(report);
  }
  return {};
}

std::string text_or_nothing(std::string_view text) { return text == "?" ? std::string() : std::string(text); }

// The words of a status line, in order; a missing or invalid one makes it an ordinary line.
class Fields {
 public:
  explicit Fields(std::string_view body) : words_(split(body, ' ')) {}
  bool has_more() const { return good_ && next_ < words_.size(); }
  bool has(std::string_view key) const { return has_more() && value_of(words_[next_], key); }
  bool good() const { return good_ && next_ == words_.size(); }
  std::string_view word() {
    good_ = good_ && next_ < words_.size();
    return good_ ? words_[next_++] : std::string_view();
  }
  std::string_view text(std::string_view key) {
    const auto value = value_of(word(), key);
    good_ = good_ && value.has_value();
    return value.value_or(std::string_view());
  }
  std::uint64_t count(std::string_view key, std::uint64_t max = UINT64_MAX) {
    const auto value = parse_unsigned(text(key), max);
    good_ = good_ && value.has_value();
    return value.value_or(0);
  }
  int number(std::string_view key, std::uint64_t max = 1u << 30) { return static_cast<int>(count(key, max)); }
  void fail() { good_ = false; }

 private:
  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
  bool good_ = true;
};

RankUsage parse_usage(Fields& fields) {
  RankUsage usage;
  usage.cpu_percent = fields.number("cpu");
  usage.resident_kib = fields.count("rss");
  usage.io_kib_s = fields.count("io");
  usage.quiet_s = fields.number("quiet");
  usage.stopped = fields.number("stopped", 1) == 1;
  if (fields.has_more()) usage.host = {fields.count("rx"), fields.count("tx")};
  return usage;
}

void parse_details(Fields& fields, RankReport& report) {
  if (report.sign == RankStatus::heartbeat && fields.has_more()) report.usage = parse_usage(fields);
  if (report.sign == RankStatus::ended) {
    report.exit_status = fields.number("status", 255);
    report.signal = fields.number("signal", 64);
    report.alone = fields.number("alone", 1) == 1;
    if (fields.has("errno")) report.start_error = fields.number("errno", 4095);
    if (fields.has("oom")) report.oom_file = text_or_nothing(fields.text("oom"));
  }
  const bool has_process = report.sign == RankStatus::stalled || report.sign == RankStatus::computes;
  if (has_process || report.sign == RankStatus::resumed) report.stall.seconds = fields.number("seconds");
  if (!has_process) return;
  const std::string_view state = fields.text("state");
  if (state.size() != 1) return fields.fail();
  report.stall.state = state[0];
  report.stall.pid = fields.number("pid");
  report.stall.name = text_or_nothing(fields.text("name"));
  report.stall.waits_in = text_or_nothing(fields.text("in"));
}

std::optional<RankReport> parse_report(std::string_view body) {
  Fields fields(body);
  RankReport report;
  report.rank = static_cast<std::uint32_t>(fields.number("rank", topology::max_ranks - 1));
  report.host = fields.text("host");
  if (!is_reported_host(report.host)) return std::nullopt;
  const std::string_view sign = fields.word();
  bool known = false;
  for (std::size_t i = 0; i < std::size(sign_names); ++i) {
    if (sign != sign_names[i]) continue;
    report.sign = static_cast<RankStatus>(i);
    known = true;
  }
  if (!known) return std::nullopt;
  parse_details(fields, report);
  return fields.good() ? std::optional<RankReport>(report) : std::nullopt;
}

}  // namespace

std::string render_status_line(std::string_view token, const RankReport& report) {
  return fmt::format("{}rank={} host={} {}{};\n", rank_lead(token), report.rank, report.host,
                     sign_names[static_cast<std::size_t>(report.sign)], render_details(report));
}

bool is_reported_host(std::string_view host) {
  return is_host_name(host) || (!host.empty() && host.find_first_not_of("0123456789") == host.npos);
}

std::string describe_start_error(int code) {
  if (code == ENOENT) return "the program or its interpreter does not exist there";
  if (code == ECHILD) return "its process guard, ddlrun-guard, was killed there";
  return fmt::format("the program cannot be started there: {}", std::strerror(code));
}

ParsedStatusLine find_status_line(std::string_view line, std::string_view token) {
  Marked marked = cut_marker(line, rank_lead(token));
  const auto report = marked.body ? parse_report(*marked.body) : std::nullopt;
  if (!report) return {std::nullopt, std::string(line)};
  return {report, std::move(marked.rest)};
}

}  // namespace ddlrun::launch
