// SPDX-License-Identifier: MIT
#include "runtime/telemetry/timeline_json.hpp"

#include "runtime/telemetry/timeline_clock.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <map>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t text_at_once = 1 << 20;
// Numbers of processes and threads; readers take 0 for the kernel's.
constexpr int first_process = 1000;
constexpr int first_row = 1;
constexpr int rows_per_lane = 100;
constexpr std::string_view lane_names[part_lanes] = {"compute", "sums", "input", "saving", "steps"};
constexpr PartLane lanes_from_top[part_lanes] = {PartLane::steps, PartLane::compute, PartLane::sums,
                                                 PartLane::input, PartLane::saving};

std::string quote_json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

int row_number(PartLane lane, int row) {
  const auto* at = std::find(std::begin(lanes_from_top), std::end(lanes_from_top), lane);
  return first_row + static_cast<int>(at - std::begin(lanes_from_top)) * rows_per_lane + row;
}

// Microseconds with the nanoseconds behind the point.
std::string render_micro(std::int64_t ns) {
  const auto size = static_cast<std::uint64_t>(ns < 0 ? -ns : ns);
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

}  // namespace

std::vector<int> plan_rows(const std::vector<PartSpan>& spans, PartLane lane) {
  std::vector<int> rows(spans.size(), -1);
  std::vector<std::vector<std::int64_t>> open;  // of each row, the ends of the spans that are not over
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].lane != lane || spans[i].duration_ns == 0) continue;
    const std::int64_t end = spans[i].begin_ns + spans[i].duration_ns;
    int& row = rows[i];
    for (row = 0; row < rows_per_lane - 1; ++row) {
      if (static_cast<std::size_t>(row) == open.size()) open.emplace_back();
      auto& ends = open[static_cast<std::size_t>(row)];
      while (!ends.empty() && ends.back() <= spans[i].begin_ns) ends.pop_back();
      if (ends.empty() || ends.back() >= end) break;
    }
    if (static_cast<std::size_t>(row) == open.size()) open.emplace_back();
    open[static_cast<std::size_t>(row)].push_back(end);
  }
  return rows;
}

// The events of one part.
class TraceJson::PartEvents {
 public:
  PartEvents(TraceJson& out, const Part& part) : out_(out), part_(part), rows_(part.spans.size(), -1) {
    for (const std::string& name : part.names) names_.push_back(quote_json(name));
    for (const PartLane lane : lanes_from_top) {
      const std::vector<int> rows = plan_rows(part.spans, lane);
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i] >= 0) rows_[i] = row_number(lane, rows[i]);
    }
  }

  void write() {
    write_names();
    for (std::size_t i = 0; i < part_.spans.size(); ++i) {
      write_span(i);
      write_arrow(i);
    }
    write_counters();
  }

 private:
  template <typename... Values>
  void event(fmt::format_string<Values...> format, Values&&... values) {
    out_.text_ += out_.first_ ? "\n{" : ",\n{";
    out_.first_ = false;
    fmt::format_to(std::back_inserter(out_.text_), "\"pid\":{},", first_process + part_.facts.rank);
    fmt::format_to(std::back_inserter(out_.text_), format, std::forward<Values>(values)...);
    out_.text_ += '}';
    out_.flush(text_at_once);
  }

  std::int64_t time(std::int64_t ns) const { return align_time(part_.clocks, ns) - out_.base_ns_; }
  static std::int64_t end_of(const PartSpan& span) { return span.begin_ns + span.duration_ns; }

  void write_names() {
    const PartFacts& facts = part_.facts;
    event(R"("ph":"M","name":"process_name","args":{{"name":{}}})",
          quote_json(fmt::format("rank {} ({})", facts.rank, facts.host)));
    event(R"("ph":"M","name":"process_sort_index","args":{{"sort_index":{}}})", facts.rank);
    std::map<int, bool> used;
    for (const int row : rows_)
      if (row >= 0) used[row] = true;
    for (const auto& [row, is_used] : used) {
      const std::string_view lane =
          lane_names[static_cast<std::size_t>(lanes_from_top[(row - first_row) / rows_per_lane])];
      const int beside = (row - first_row) % rows_per_lane;
      event(R"("tid":{},"ph":"M","name":"thread_name","args":{{"name":"{}{}"}})", row, lane,
            beside == 0 ? "" : fmt::format(" {}", beside + 1));
      event(R"("tid":{},"ph":"M","name":"thread_sort_index","args":{{"sort_index":{}}})", row, row);
    }
  }

  void write_span(std::size_t i) {
    const PartSpan& span = part_.spans[i];
    if (rows_[i] < 0) return;
    const std::int64_t begin = time(span.begin_ns);
    const std::int64_t duration = time(end_of(span)) - begin;
    const std::string_view lane = lane_names[static_cast<std::size_t>(span.lane)];
    if (span.lane == PartLane::steps) {
      event(R"("tid":{},"ph":"X","ts":{},"dur":{},"name":"step {}","cat":"{}","args":{{"step":{}}})",
            rows_[i], render_micro(begin), render_micro(duration), span.value, lane, span.value);
    } else if (span.value != 0) {
      event(R"("tid":{},"ph":"X","ts":{},"dur":{},"name":{},"cat":"{}","args":{{"bytes":{}}})", rows_[i],
            render_micro(begin), render_micro(duration), names_[span.name], lane, span.value);
    } else {
      event(R"("tid":{},"ph":"X","ts":{},"dur":{},"name":{},"cat":"{}")", rows_[i], render_micro(begin),
            render_micro(duration), names_[span.name], lane);
    }
  }

  // From where a bucket was ready, within what the rank computed then, to its sum.
  void write_arrow(std::size_t i) {
    const PartSpan& span = part_.spans[i];
    if (span.lane == PartLane::compute && rows_[i] >= 0) {
      computed_ = i;
    } else if (span.lane == PartLane::compute && computed_) {
      const PartSpan& within = part_.spans[*computed_];
      const std::int64_t at = std::max(within.begin_ns, std::min(span.begin_ns, end_of(within) - 1));
      ready_[part_.names[span.name]] = {at, rows_[*computed_]};
    } else if (span.lane == PartLane::sums && rows_[i] >= 0) {
      const auto found = ready_.find(part_.names[span.name]);
      if (found == ready_.end()) return;
      const std::uint64_t id = (static_cast<std::uint64_t>(part_.facts.rank) << 32U) + arrows_++;
      event(R"("tid":{},"ph":"s","id":{},"ts":{},"name":"ready","cat":"sums")", found->second.second, id,
            render_micro(time(found->second.first)));
      event(R"("tid":{},"ph":"f","bp":"e","id":{},"ts":{},"name":"ready","cat":"sums")", rows_[i], id,
            render_micro(time(span.begin_ns)));
      ready_.erase(found);
    }
  }

  // Step by step: images/s of this rank, and what it summed with the others.
  void write_counters() {
    std::size_t next = 0;
    for (const PartSpan& step : part_.spans) {
      if (step.lane != PartLane::steps) continue;
      std::uint64_t bytes = 0;
      for (; next < part_.spans.size() && part_.spans[next].begin_ns < end_of(step); ++next)
        if (part_.spans[next].lane == PartLane::sums) bytes += part_.spans[next].value;
      const std::string at = render_micro(time(step.begin_ns));
      const double seconds = 1e-9 * static_cast<double>(std::max<std::int64_t>(step.duration_ns, 1));
      event(R"("ph":"C","ts":{},"name":"images/s","args":{{"images/s":{:.1f}}})", at,
            static_cast<double>(part_.facts.images_per_step) / seconds);
      event(R"("ph":"C","ts":{},"name":"bytes summed","args":{{"bytes":{}}})", at, bytes);
    }
  }

  TraceJson& out_;
  const Part& part_;
  std::vector<int> rows_;
  std::vector<std::string> names_;  // in quotes
  std::optional<std::size_t> computed_;
  std::map<std::string, std::pair<std::int64_t, int>> ready_;  // by bucket: when, and on which row
  std::uint64_t arrows_ = 0;
};

TraceJson::TraceJson(WriteText write, std::int64_t base_ns) : write_(std::move(write)), base_ns_(base_ns) {
  text_ = R"({"displayTimeUnit":"ms","traceEvents":[)";
}

void TraceJson::flush(std::size_t most) {
  if (text_.size() < most) return;
  write_(text_);
  text_.clear();
}

void TraceJson::add(const Part& part) { PartEvents(*this, part).write(); }

void TraceJson::end(const std::vector<std::pair<std::string, std::string>>& facts) {
  text_ += "\n],\"otherData\":{";
  for (std::size_t i = 0; i < facts.size(); ++i)
    text_ += (i == 0 ? "" : ",") + quote_json(facts[i].first) + ":" + quote_json(facts[i].second);
  text_ += "}}\n";
  flush(0);
}

}  // namespace ddlrun::runtime
