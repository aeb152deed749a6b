// SPDX-License-Identifier: MIT
#include "launch/top/top_view.hpp"

#include "base/text/text.hpp"
#include "base/text/utf8.hpp"
#include "launch/top/slowest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace ddlrun::launch {

namespace {

constexpr std::size_t wide_screen = 100;  // columns, from which on bytes moved have theirs
constexpr std::size_t most_output = 100, most_place = 24;
constexpr std::string_view keys_line =
    "q quit   sort: t most telling  r rank  c CPU  m memory  w waiting time";

constexpr std::string_view named_colour = "\x1b[1;31m";

std::string render_kib(std::uint64_t kib) { return render_bytes(kib * 1024); }

std::string state_word(const RankState& rank, bool over) {
  switch (rank.phase) {
    case RankPhase::starting:
      return over ? "no report" : "starting";
    case RankPhase::running:
      return over ? "unknown" : "running";
    case RankPhase::waiting:
      return over ? "unknown" : "waiting";
    case RankPhase::stopped:
      return over ? "unknown" : "stopped";
    case RankPhase::silent:
      return "silent";
    case RankPhase::ended:
      return end_words(rank.exit_status);
  }
  return {};
}

std::string_view colour_of(const RankState& rank) {
  if (rank.phase == RankPhase::ended) return rank.exit_status == 0 ? "\x1b[2m" : "\x1b[1;31m";
  if (rank.phase == RankPhase::stopped || rank.phase == RankPhase::silent) return "\x1b[1;31m";
  return rank.phase == RankPhase::waiting ? "\x1b[33m" : "";
}

// Counts of one kind, "6 running, 1 waiting".
std::string count_phases(const UsageState& state) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const RankState& rank : state.ranks) {
    const std::string word = state_word(rank, state.over);
    const auto found =
        std::find_if(counts.begin(), counts.end(), [&](auto& one) { return one.first == word; });
    if (found == counts.end())
      counts.emplace_back(word, 1);
    else
      ++found->second;
  }
  std::vector<std::string> words;
  for (const auto& [word, count] : counts) words.push_back(fmt::format("{} {}", count, word));
  return join_first(words, 6);
}

std::string describe_run(const TopInput& input) {
  const RunRecord& run = input.run;
  HistoryRow row;
  row.state = input.state;
  if (input.run.end) row.exit_status = run.end->exit_status;
  row.cancelled = run.end && run.end->is_cancelled();
  row.saved = run.end && run.end->is_saved();
  row.running_on = input.running_on;
  std::string text = fmt::format("run {}: {}", printable(run.id, 40), status_words(row));
  if (input.seconds) text += ", " + render_duration(*input.seconds);
  if (!run.launcher.empty()) text += "   " + printable(run.launcher, 20);
  if (!run.job.empty()) text += ", job " + printable(run.job, 40);
  return text;
}

std::string describe_progress(const TrainingProgress& progress) {
  std::vector<std::string> words;
  if (progress.epoch) words.push_back(fmt::format("epoch {:.0f}", progress.epoch->epoch));
  if (progress.step) {
    words.push_back(fmt::format("step {:.0f}", progress.step->step));
    words.push_back(fmt::format("loss {:.4g}", progress.step->loss));
    words.push_back(fmt::format("{:.1f} images/s", progress.step->images_per_second));
  }
  if (progress.epoch)
    words.push_back(fmt::format("test accuracy {:.1f} %", 100 * progress.epoch->test_accuracy));
  if (words.empty()) return {};
  std::string text = "progress: " + join(words, ", ");
  if (progress.age_s && *progress.age_s > 5)
    text += fmt::format(" ({} ago)", render_duration(*progress.age_s));
  return text;
}

// The hosts that move most, as many as fit.
std::string describe_network(const UsageState& state, std::size_t columns) {
  std::vector<const HostState*> hosts;
  for (const HostState& host : state.hosts)
    if (host.traffic) hosts.push_back(&host);
  if (hosts.empty()) return {};
  const auto sum = [](const HostState* host) {
    return host->traffic->received_kib_s + host->traffic->sent_kib_s;
  };
  std::stable_sort(hosts.begin(), hosts.end(), [&](auto* a, auto* b) { return sum(a) > sum(b); });
  std::string text = "network:";
  std::size_t shown = 0;
  for (const HostState* host : hosts) {
    const std::string one =
        fmt::format("{} {} in {}/s out {}/s", shown > 0 ? ";" : "", printable(host->name, 40),
                    render_kib(host->traffic->received_kib_s), render_kib(host->traffic->sent_kib_s));
    const std::size_t room_for_more =
        shown + 1 < hosts.size() ? std::string_view("; and 9999 more").size() : 0;
    const std::size_t most = columns == 0 ? 200 : columns;
    if (shown > 0 && text.size() + one.size() + room_for_more > most) break;
    text += one;
    ++shown;
  }
  if (shown < hosts.size()) text += fmt::format("; and {} more", hosts.size() - shown);
  return text;
}

// At blanks, in lines of so many columns (0: one line), behind a label that stands on the first of them.
std::vector<std::string> wrap(std::string_view label, std::string_view text, std::size_t columns) {
  constexpr std::size_t least_columns = 40;
  std::vector<std::string> lines{std::string(label)};
  std::size_t words = 0;  // of the last line
  for (const std::string_view word : split_blanks(text)) {
    if (columns >= least_columns && words > 0 && lines.back().size() + 1 + word.size() > columns) {
      lines.emplace_back(label.size(), ' ');
      words = 0;
    }
    lines.back() += (words++ > 0 ? " " : "") + std::string(word);
  }
  return lines;
}

std::vector<std::string> describe_standstill(const Standstill& standstill, std::size_t columns) {
  auto lines = wrap("stall: ", printable(standstill.message.what, 1000), columns);
  lines.push_back("try:   " + printable(standstill.message.hint, 400));
  return lines;
}

std::vector<std::string> render_head(const TopInput& input, std::size_t columns) {
  std::vector<std::string> lines{describe_run(input),
                                 "program: " + printable(program_title(input.run.program), 200)};
  if (!input.usage) {
    lines.emplace_back("ranks: none has reported yet");
    return lines;
  }
  const UsageState& usage = *input.usage;
  std::string ranks = fmt::format("ranks: {} on {}: {}", usage.ranks.size(),
                                  count_of(usage.hosts.size(), "host"), count_phases(usage));
  if (!usage.over && input.is_stale()) ranks += fmt::format("; this is {} old", render_duration(input.age_s));
  lines.push_back(std::move(ranks));
  if (input.progress)
    if (std::string progress = describe_progress(*input.progress); !progress.empty())
      lines.push_back(std::move(progress));
  const bool goes_on = !usage.over && !input.is_over();
  if (goes_on && usage.standstill)
    for (std::string& line : describe_standstill(*usage.standstill, columns))
      lines.push_back(std::move(line));
  else if (goes_on)
    lines.push_back("slowest: " + describe_slowest(usage));
  if (std::string network = describe_network(usage, columns); !network.empty())
    lines.push_back(std::move(network));
  return lines;
}

// The table's own columns.
struct Table {
  std::size_t host = 4;   // width
  std::size_t place = 0;  // likewise; 0: no such column
  bool moves = false, output = false;

  Table(const UsageState& state, const std::vector<const RankState*>& shown, std::size_t columns) {
    constexpr std::size_t most_host = 20;
    for (const RankState* rank : shown) {
      host = std::max(host, std::min(printable(state.hosts[rank->host].name, 40).size(), most_host));
      place = std::max(place, printable(rank->is_in, most_place).size());
    }
    moves = columns == 0 || columns >= wide_screen;
    output = std::ranges::any_of(shown, [](const RankState* rank) { return !rank->last_line.empty(); });
  }
  std::string line(std::string_view rank, std::string_view name, std::string_view cores,
                   std::string_view state, std::string_view cpu, std::string_view memory,
                   std::string_view moved, std::string_view wait, std::string_view in,
                   std::string_view said) const {
    std::string text = fmt::format("{:>6}  {:<{}}  {:>5}  {:<10} {:>5}  {:>10}", rank, clip_line(name, host),
                                   host, cores, state, cpu, memory);
    if (moves) text += fmt::format("  {:>12}", moved);
    text += fmt::format("  {:>8}", wait);
    if (place > 0) text += fmt::format("  {:<{}}", in, place);
    if (output && !said.empty()) text += "  " + std::string(said);
    return text.substr(0, text.find_last_not_of(' ') + 1);
  }
};

std::string render_row(const UsageState& state, const RankState& rank, const Table& table) {
  const bool is_known = rank.cpu_percent >= 0;
  const bool is_there = rank.phase == RankPhase::running || rank.phase == RankPhase::waiting ||
                        rank.phase == RankPhase::stopped;
  const bool waits = rank.phase != RankPhase::ended && rank.quiet_s > 0;
  std::string row =
      table.line(fmt::format("{}", rank.rank), printable(state.hosts[rank.host].name, 40),
                 rank.cores > 0 ? fmt::format("{}", rank.cores) : "-", state_word(rank, state.over),
                 is_known && is_there ? fmt::format("{:.0f}", 100 * core_use(rank)) : "-",
                 is_known ? render_kib(rank.resident_kib) : "-",
                 is_known && is_there ? render_kib(rank.io_kib_s) + "/s" : "-",
                 waits ? render_duration(rank.quiet_s) : "-", printable(rank.is_in, most_place),
                 printable(trim(rank.last_line), most_output));
  if (state.is_named(rank.rank) && row.front() == ' ') row.front() = '>';
  return row;
}

// Smaller: more telling.
auto telling_key(const RankState& rank, double median, bool few_wait, bool is_named) {
  int group = 4;
  double within = 0;
  if (rank.phase == RankPhase::ended) group = rank.exit_status == 0 ? 7 : 0;
  if (rank.phase == RankPhase::stopped) group = 1;
  if (rank.phase == RankPhase::silent) group = 2;
  if (rank.phase == RankPhase::waiting) group = few_wait ? 3 : 5;
  if (rank.phase == RankPhase::starting) group = 6;
  if (is_named && rank.phase != RankPhase::ended) group = 1;
  if (rank.phase == RankPhase::running) within = -std::abs(core_use(rank) - median);
  if (rank.phase != RankPhase::running && rank.phase != RankPhase::ended) within = -rank.quiet_s;
  return std::tuple(group, within, rank.rank);
}

}  // namespace

std::string clip_line(std::string_view text, std::size_t columns) {
  std::size_t at = 0, count = 0;
  while (at < text.size() && (columns == 0 || count < columns)) {
    at += std::max<std::size_t>(utf8_length(text.substr(at)), 1);
    ++count;
  }
  return std::string(text.substr(0, at));
}

std::vector<const RankState*> sort_ranks(const UsageState& state, TopOrder order) {
  std::vector<const RankState*> ranks;
  std::size_t waiting = 0, running = 0;
  for (const RankState& rank : state.ranks) {
    ranks.push_back(&rank);
    waiting += rank.phase == RankPhase::waiting ? 1 : 0;
    running += rank.phase == RankPhase::running ? 1 : 0;
  }
  const double median = median_use(state);
  const bool few_wait = waiting < running;
  const auto by = [&](auto key) {
    std::stable_sort(ranks.begin(), ranks.end(), [&](auto* a, auto* b) { return key(*a) < key(*b); });
  };
  if (order == TopOrder::telling)
    by([&](const RankState& rank) { return telling_key(rank, median, few_wait, state.is_named(rank.rank)); });
  if (order == TopOrder::cpu) by([](const RankState& rank) { return -core_use(rank); });
  if (order == TopOrder::memory)
    by([](const RankState& rank) { return -static_cast<double>(rank.resident_kib); });
  if (order == TopOrder::wait)
    by([](const RankState& rank) { return rank.phase == RankPhase::ended ? 1 : -rank.quiet_s; });
  return ranks;  // by rank, as they came
}

std::vector<std::string> render_top(const TopInput& input, const TopLook& look) {
  const auto paint = [&](std::string_view colour, const std::string& line) {
    const std::string text = clip_line(line, look.columns);
    return look.colour && !colour.empty() ? std::string(colour) + text + "\x1b[0m" : text;
  };
  std::vector<std::string> lines;
  for (const std::string& line : render_head(input, look.columns))
    lines.push_back(paint(lines.empty() ? "\x1b[1m" : "", line));
  const std::size_t foot = look.keys ? 1 : 0;
  if (input.usage) {
    const UsageState& usage = *input.usage;
    const std::size_t head = lines.size() + 2 + foot;  // an empty line, the names of columns
    const std::size_t room = look.rows == 0 ? usage.ranks.size() : look.rows > head ? look.rows - head : 1;
    const bool fits = usage.ranks.size() <= room;
    const TopOrder by_room = fits ? TopOrder::rank : TopOrder::telling;
    auto ranks = sort_ranks(usage, look.order == TopOrder::automatic ? by_room : look.order);
    if (!fits) ranks.resize(std::max<std::size_t>(room, 2) - 1);
    const Table table(usage, ranks, look.columns);
    lines.emplace_back();
    lines.push_back(paint("\x1b[7m", table.line("RANK", "HOST", "CORES", "STATE", "CPU %", "MEMORY",
                                                "READ+WRITE", "WAITS", "IN", "LAST OUTPUT")));
    for (const RankState* rank : ranks)
      lines.push_back(paint(usage.is_named(rank->rank) ? named_colour : colour_of(*rank),
                            render_row(usage, *rank, table)));
    if (!fits) lines.push_back(paint("", fmt::format("and {} more", usage.ranks.size() - ranks.size())));
  }
  if (!look.keys) return lines;
  while (lines.size() + 1 < look.rows) lines.emplace_back();
  lines.push_back(paint("\x1b[2m", std::string(keys_line)));
  return lines;
}

}  // namespace ddlrun::launch
