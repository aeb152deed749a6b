// SPDX-License-Identifier: MIT
#include "doctor/diagnose/time_stamp.hpp"

#include <array>
#include <chrono>
#include <cstdint>

namespace ddlrun::diagnose {

namespace {

// Reads one thing after another; once something does not fit, all that follows fails.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}
  bool ok() const { return ok_; }
  std::size_t at() const { return at_; }

  int number(std::size_t least, std::size_t most) {
    int value = 0;
    std::size_t count = 0;
    while (count < most && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      value = value * 10 + (text_[at_++] - '0');
      ++count;
    }
    ok_ = ok_ && count >= least;
    return value;
  }
  bool accept(std::string_view one_of) {
    if (!ok_ || at_ >= text_.size() || one_of.find(text_[at_]) == std::string_view::npos) return false;
    ++at_;
    return true;
  }
  void need(std::string_view one_of) { ok_ = accept(one_of) && ok_; }
  bool accept_word(std::string_view word) {
    if (!ok_ || !text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> days{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

struct Time {
  int year = 1970, month = 0, day = 0, hour = 0, minute = 0, second = 0, micro = 0;
};

std::optional<std::int64_t> to_microseconds(const Time& t) {
  using namespace std::chrono;
  const year_month_day date{year{t.year}, month{static_cast<unsigned>(t.month)},
                            day{static_cast<unsigned>(t.day)}};
  if (!date.ok() || t.hour > 23 || t.minute > 59 || t.second > 60) return std::nullopt;
  const auto since =
      sys_days{date}.time_since_epoch() + hours{t.hour} + minutes{t.minute} + seconds{t.second};
  return duration_cast<microseconds>(since).count() + t.micro;
}

void read_clock(Cursor& cursor, Time& time) {
  time.hour = cursor.number(2, 2);
  cursor.need(":");
  time.minute = cursor.number(2, 2);
  cursor.need(":");
  time.second = cursor.number(2, 2);
  if (!cursor.accept(".,")) return;
  const std::size_t begin = cursor.at();
  time.micro = cursor.number(1, 6);
  for (std::size_t i = cursor.at() - begin; i < 6; ++i) time.micro *= 10;
  while (cursor.accept("0123456789")) {
  }
}

// Z or +09:00; how many minutes it is ahead of UTC.
int read_zone(Cursor& cursor) {
  if (cursor.accept("Z")) return 0;
  const bool east = cursor.accept("+");
  if (!east && !cursor.accept("-")) return 0;
  const int hours = cursor.number(2, 2);
  cursor.accept(":");
  const int minutes = cursor.number(2, 2);
  return (east ? 1 : -1) * (hours * 60 + minutes);
}

int read_month_name(Cursor& cursor) {
  for (std::size_t i = 0; i < months.size(); ++i) {
    if (cursor.accept_word(months[i])) return static_cast<int>(i) + 1;
  }
  cursor.need("");
  return 0;
}

std::optional<FoundStamp> finish(const Cursor& cursor, const Time& time, Stamp::Kind kind, int zone_minutes) {
  if (!cursor.ok()) return std::nullopt;
  const auto micro = to_microseconds(time);
  if (!micro) return std::nullopt;
  return FoundStamp{{kind, *micro - zone_minutes * std::int64_t{60'000'000}}, cursor.at()};
}

std::optional<FoundStamp> read_iso(std::string_view text) {
  Cursor cursor(text);
  const bool bracket = cursor.accept("[");
  Time time;
  time.year = cursor.number(4, 4);
  cursor.need("-/");
  time.month = cursor.number(2, 2);
  cursor.need("-/");
  time.day = cursor.number(2, 2);
  cursor.need("T ");
  read_clock(cursor, time);
  const int zone = cursor.ok() ? read_zone(cursor) : 0;
  if (bracket) cursor.need("]");
  return finish(cursor, time, Stamp::Kind::dated, zone);
}

// "Sat Nov 21 06:34:14 2026<stderr>:" and "Nov 21 06:34:14".
std::optional<FoundStamp> read_named_month(std::string_view text) {
  Cursor cursor(text);
  bool has_day = false;
  for (const std::string_view day : days) has_day = has_day || cursor.accept_word(day);
  if (has_day) cursor.need(" ");
  Time time;
  time.month = read_month_name(cursor);
  cursor.need(" ");
  cursor.accept(" ");
  time.day = cursor.number(1, 2);
  cursor.need(" ");
  read_clock(cursor, time);
  if (!has_day) {
    time.year = 1972;  // a leap year
    return finish(cursor, time, Stamp::Kind::without_year, 0);
  }
  cursor.need(" ");
  time.year = cursor.number(4, 4);
  cursor.accept_word("<stderr>:") || cursor.accept_word("<stdout>:");
  return finish(cursor, time, Stamp::Kind::dated, 0);
}

// glog: "I1121 06:34:14.123456 1234 file.cc:1]"; the stamp only.
std::optional<FoundStamp> read_glog(std::string_view text) {
  Cursor cursor(text);
  cursor.need("IWEF");
  Time time;
  time.month = cursor.number(2, 2);
  time.day = cursor.number(2, 2);
  cursor.need(" ");
  read_clock(cursor, time);
  time.year = 1972;
  return finish(cursor, time, Stamp::Kind::without_year, 0);
}

// UCX: "[1637073423.811221] "; seconds since 1970.
std::optional<FoundStamp> read_epoch(std::string_view text) {
  Cursor cursor(text);
  cursor.need("[");
  const std::int64_t high = cursor.number(5, 5), low = cursor.number(5, 5);
  cursor.need(".");
  const int micro = cursor.number(6, 6);
  cursor.need("]");
  if (!cursor.ok()) return std::nullopt;
  return FoundStamp{{Stamp::Kind::dated, (high * 100'000 + low) * 1'000'000 + micro}, cursor.at()};
}

}  // namespace

std::optional<FoundStamp> read_stamp(std::string_view text) {
  if (text.size() < 14) return std::nullopt;
  const char first = text[0];
  if (first == '[' || (first >= '0' && first <= '9')) {
    const auto iso = read_iso(text);
    return iso ? iso : read_epoch(text);
  }
  if (first < 'A' || first > 'Z') return std::nullopt;
  if (auto glog = read_glog(text)) return glog;
  return read_named_month(text);
}

}  // namespace ddlrun::diagnose
