// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "base/text/utf8.hpp"
#include "launch/monitor/usage_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ddlrun::launch {

namespace {

using UsageJson = nlohmann::json;

constexpr std::string_view usage_schema = "ddlrun.usage/1";
constexpr std::string_view phase_letters = "srwtle";  // as RankPhase: one letter a rank
constexpr std::size_t most_texts = 1024;              // ranks with a last line, or a place where they wait

// By columns, and written by hand: 65,536 ranks are 2 MB in 20 ms.
template <typename Each>
void put_column(std::string& text, std::string_view name, std::size_t size, Each each) {
  fmt::format_to(std::back_inserter(text), ",\n\"{}\": [", name);
  for (std::size_t i = 0; i < size; ++i) {
    if (i > 0) text += ',';
    each(i);
  }
  text += ']';
}

template <typename Number>
void put_numbers(std::string& text, std::string_view name, const std::vector<RankState>& ranks,
                 Number RankState::*value) {
  put_column(text, name, ranks.size(),
             [&](std::size_t i) { text += fmt::format_int(ranks[i].*value).c_str(); });
}

std::string quote_json(std::string_view text, std::size_t most = 200) {
  return UsageJson(printable(text, most)).dump(-1, ' ', false, UsageJson::error_handler_t::replace);
}

// Of the ranks that have one.
void put_texts(std::string& text, std::string_view name, const std::vector<RankState>& ranks,
               std::string RankState::*value) {
  fmt::format_to(std::back_inserter(text), ",\n\"{}\": {{", name);
  std::size_t count = 0;
  for (const RankState& rank : ranks) {
    if ((rank.*value).empty() || count == most_texts) continue;
    fmt::format_to(std::back_inserter(text), "{}\"{}\": {}", count++ > 0 ? ", " : "", rank.rank,
                   quote_json(rank.*value));
  }
  text += '}';
}

void put_real(std::string& text, double value) {
  if (std::isnan(value))
    text += "null";
  else
    fmt::format_to(std::back_inserter(text), "{:.6g}", std::round(value * 100) / 100);
}

void put_reals(std::string& text, std::string_view name, const std::vector<double>& values) {
  put_column(text, name, values.size(), [&](std::size_t i) { put_real(text, values[i]); });
}

std::string render_timeline(const UsageTimeline& timeline) {
  std::string text = "{\"points\": " + std::to_string(timeline.seconds.size());
  put_reals(text, "seconds", timeline.seconds);
  put_column(text, "series", timeline.series.size(), [&](std::size_t i) {
    const UsageSeries& series = timeline.series[i];
    text += "{\"name\": " + quote_json(series.name);
    put_reals(text, "cores", series.cores);
    put_reals(text, "mib", series.mib);
    text += '}';
  });
  return text + "}";
}

std::string render_standstill(const Standstill& standstill) {
  constexpr std::size_t most = 1000;
  const Message& message = standstill.message;
  const std::size_t named = std::min(standstill.ranks.size(), most_texts);
  return fmt::format(
      ",\n\"standstill\": {{\"severity\": {}, \"what\": {}, \"at\": {}, \"try\": {}, \"ranks\": [{}]}}",
      quote_json(standstill.severity), quote_json(message.what, most), quote_json(message.where, most),
      quote_json(message.hint, most),
      fmt::join(standstill.ranks.begin(), standstill.ranks.begin() + static_cast<std::ptrdiff_t>(named),
                ","));
}

std::optional<Standstill> read_standstill(const UsageJson& json) {
  const auto found = json.find("standstill");
  if (found == json.end()) return std::nullopt;
  const auto text = [&](const char* name) { return found->at(name).get<std::string>(); };
  Standstill standstill{text("severity"), {text("what"), text("at"), text("try")}, {}};
  for (const UsageJson& rank : found->at("ranks")) standstill.ranks.push_back(rank.get<std::uint32_t>());
  std::ranges::sort(standstill.ranks);
  return standstill;
}

std::vector<double> read_reals(const UsageJson& values) {
  std::vector<double> reals;
  for (const UsageJson& value : values) reals.push_back(value.is_null() ? std::nan("") : value.get<double>());
  return reals;
}

UsageTimeline read_timeline(const UsageJson& json) {
  UsageTimeline timeline;
  timeline.seconds = read_reals(json.at("seconds"));
  for (const UsageJson& each : json.at("series")) {
    UsageSeries series{each.at("name").get<std::string>(), read_reals(each.at("cores")),
                       read_reals(each.at("mib"))};
    const std::size_t points = timeline.seconds.size();
    if (series.cores.size() != points || series.mib.size() != points) throw std::out_of_range("timeline");
    timeline.series.push_back(std::move(series));
  }
  return timeline;
}

void read_texts(const UsageJson& json, std::vector<RankState>& ranks, std::string RankState::*value) {
  for (RankState& rank : ranks) {
    const auto found = json.find(std::to_string(rank.rank));
    if (found != json.end()) rank.*value = found->get<std::string>();
  }
}

UsageState read_state(const UsageJson& json) {
  UsageState state;
  state.written_s = json.at("written").get<std::int64_t>();
  state.interval_s = json.at("interval").get<double>();
  state.over = json.at("over").get<bool>();
  for (const UsageJson& each : json.at("hosts")) {
    HostState host{each.at(0).get<std::string>(), std::nullopt};
    if (each.size() == 3) host.traffic = {each.at(1).get<std::uint64_t>(), each.at(2).get<std::uint64_t>()};
    state.hosts.push_back(std::move(host));
  }
  const std::string phases = json.at("phase").get<std::string>();
  for (std::size_t i = 0; i < phases.size(); ++i) {
    RankState rank;
    const auto number = [&](const char* name) { return json.at(name).at(i).get<std::int64_t>(); };
    const std::size_t phase = phase_letters.find(phases[i]);
    rank.rank = static_cast<std::uint32_t>(number("rank"));
    rank.host = static_cast<std::uint32_t>(number("host"));
    if (phase == std::string_view::npos || rank.host >= state.hosts.size()) throw std::out_of_range("rank");
    rank.phase = static_cast<RankPhase>(phase);
    rank.cores = static_cast<int>(number("cores"));
    rank.cpu_percent = static_cast<int>(number("cpu"));
    rank.resident_kib = static_cast<std::uint64_t>(number("rss_kib"));
    rank.io_kib_s = static_cast<std::uint64_t>(number("io_kib_s"));
    rank.quiet_s = static_cast<int>(number("quiet_s"));
    rank.exit_status = static_cast<int>(number("status"));
    state.ranks.push_back(std::move(rank));
  }
  read_texts(json.at("is_in"), state.ranks, &RankState::is_in);
  read_texts(json.at("last_line"), state.ranks, &RankState::last_line);
  state.standstill = read_standstill(json);
  state.timeline = read_timeline(json.at("timeline"));
  return state;
}

}  // namespace

std::string render_usage_json(const UsageState& state) {
  std::string text = fmt::format("{{\"schema\": \"{}\", \"written\": {}, \"interval\": {:.3f}, \"over\": {}",
                                 usage_schema, state.written_s, state.interval_s, state.over);
  put_column(text, "hosts", state.hosts.size(), [&](std::size_t i) {
    const HostState& host = state.hosts[i];
    text += "[" + quote_json(host.name);
    if (host.traffic)
      fmt::format_to(std::back_inserter(text), ",{},{}", host.traffic->received_kib_s,
                     host.traffic->sent_kib_s);
    text += ']';
  });
  const auto& ranks = state.ranks;
  text += ",\n\"phase\": \"";
  for (const RankState& rank : ranks) text += phase_letters[static_cast<std::size_t>(rank.phase)];
  text += '"';
  put_numbers(text, "rank", ranks, &RankState::rank);
  put_numbers(text, "host", ranks, &RankState::host);
  put_numbers(text, "cores", ranks, &RankState::cores);
  put_numbers(text, "cpu", ranks, &RankState::cpu_percent);
  put_numbers(text, "rss_kib", ranks, &RankState::resident_kib);
  put_numbers(text, "io_kib_s", ranks, &RankState::io_kib_s);
  put_numbers(text, "quiet_s", ranks, &RankState::quiet_s);
  put_numbers(text, "status", ranks, &RankState::exit_status);
  put_texts(text, "is_in", ranks, &RankState::is_in);
  put_texts(text, "last_line", ranks, &RankState::last_line);
  if (state.standstill) text += render_standstill(*state.standstill);
  return text + ",\n\"timeline\": " + render_timeline(state.timeline) + "}\n";
}

UsageState parse_usage_json(std::string_view text, const std::string& where) {
  const auto refuse = [&](const std::string& what) -> UsageState {
    throw Error(ErrorKind::request,
                {what, where, "ddlrun report RUN   # its record; the state of the ranks is lost"});
  };
  const UsageJson json = UsageJson::parse(text, nullptr, false);
  if (!json.is_object()) return refuse("the state of the ranks is damaged: it is no JSON");
  try {
    if (json.at("schema").get<std::string>() != usage_schema)
      return refuse("the state of the ranks is of another version of ddlrun");
    return read_state(json);
  } catch (const UsageJson::exception&) {
    return refuse("the state of the ranks is damaged");
  } catch (const std::out_of_range&) {
    return refuse("the state of the ranks is damaged");
  }
}

}  // namespace ddlrun::launch
