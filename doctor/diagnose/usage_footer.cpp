// SPDX-License-Identifier: MIT
#include "doctor/diagnose/usage_footer.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>

namespace ddlrun::diagnose {

namespace {

constexpr std::uint64_t footer_window = 40;  // lines; GNU time -v prints 23
constexpr std::size_t longest_footer = 160;

// "0m0.004s", "0.00", "0:00:12", "1h 2m", "12 seconds": a duration begins with a digit.
bool is_duration(std::string_view text) {
  constexpr std::string_view units = "0123456789.,:-+ hmsdHMSDinutecorays()";
  text = trim(text);
  return !text.empty() && text.front() >= '0' && text.front() <= '9' && text.find_first_not_of(units) == npos;
}

// bash, ksh and dash: "real\t0m0.004s", or "real 0.00" with -p.
bool is_of_shell(std::string_view text) {
  const auto words = split_blanks(text, " \t");
  constexpr std::string_view clocks[] = {"real", "user", "sys"};
  return words.size() == 2 && std::ranges::find(clocks, words[0]) != std::end(clocks) &&
         is_duration(words[1]);
}

// csh: "0.000u 0.001s 0:00.00 0.0%\t0+0k 0+0io 0pf+0w"
bool is_of_csh(std::string_view text) {
  const auto words = split_blanks(text, " \t");
  const auto is_time = [](std::string_view word, char unit) {
    return word.size() > 1 && word.back() == unit &&
           parse_number(word.substr(0, word.size() - 1)).has_value();
  };
  return words.size() >= 4 && is_time(words[0], 'u') && is_time(words[1], 's') && is_duration(words[2]) &&
         words[3].ends_with('%');
}

bool is_of_zsh(std::string_view text) {
  return has(text, "s user ") && has(text, "s system ") && has(text, " cpu ") && text.ends_with(" total");
}

bool is_of_gnu_time(std::string_view text) {
  constexpr std::string_view of_time[] = {"Command being timed: ",
                                          "User time (seconds): ",
                                          "System time (seconds): ",
                                          "Percent of CPU this job got: ",
                                          "Elapsed (wall clock) time ",
                                          "Average shared text size (kbytes): ",
                                          "Average unshared data size (kbytes): ",
                                          "Average stack size (kbytes): ",
                                          "Average total size (kbytes): ",
                                          "Maximum resident set size (kbytes): ",
                                          "Average resident set size (kbytes): ",
                                          "Major (requiring I/O) page faults: ",
                                          "Minor (reclaiming a frame) page faults: ",
                                          "Voluntary context switches: ",
                                          "Involuntary context switches: ",
                                          "Swaps: ",
                                          "File system inputs: ",
                                          "File system outputs: ",
                                          "Socket messages sent: ",
                                          "Socket messages received: ",
                                          "Signals delivered: ",
                                          "Page size (bytes): "};
  if (starts_with_any(text, of_time)) return true;
  const bool first = has(text, "user ") && has(text, "system ") && has(text, "elapsed ");
  return first || (has(text, "inputs+") && has(text, "outputs ") && text.ends_with("swaps"));
}

// "Elapsed: 0:12", "Elapsed time = 12 s" of a job script.
bool is_elapsed(std::string_view text) {
  constexpr std::string_view spans[] = {"Elapsed",   "Elapsed time", "Time elapsed",
                                        "Wall time", "Walltime",     "Wall clock time",
                                        "Run time",  "Runtime",      "Job duration"};
  const std::size_t end = text.find_first_of(":=");
  if (end == npos) return false;
  const std::string name = to_upper(trim(text.substr(0, end)));
  return is_duration(text.substr(end + 1)) &&
         std::ranges::any_of(spans, [&](std::string_view one) { return to_upper(one) == name; });
}

// The summary of LSF, of seff of Slurm and of PBS.
bool is_batch_summary(std::string_view text) {
  constexpr std::string_view of_batch[] = {"CPU time",
                                           "Max Memory",
                                           "Average Memory",
                                           "Max Swap",
                                           "Max Processes",
                                           "Max Threads",
                                           "Delta Memory",
                                           "Turnaround time",
                                           "Total Requested Memory",
                                           "CPU Utilized",
                                           "CPU Efficiency",
                                           "Job Wall-clock time",
                                           "Memory Utilized",
                                           "Memory Efficiency",
                                           "Cores per node",
                                           "Resource usage summary",
                                           "Resources Used",
                                           "Resources used",
                                           "resources_used.",
                                           "ru_wallclock",
                                           "ru_maxrss"};
  return starts_with_any(text, of_batch) && text.find_first_of(":=") != npos;
}

}  // namespace

bool is_usage_footer(std::string_view line) {
  const std::string_view text = trim(line);
  if (text.empty() || text.size() > longest_footer) return false;
  return is_of_shell(text) || is_of_csh(text) || is_of_zsh(text) || is_of_gnu_time(text) ||
         is_elapsed(text) || is_batch_summary(text);
}

void UsageFooters::take(std::string_view text, std::uint64_t last) {
  std::erase_if(lines_, [last](std::uint64_t line) { return line + footer_window <= last; });
  if (text.ends_with('\n')) text.remove_suffix(1);
  bool is_above_footer = false;
  for (std::uint64_t line = last; line > 0 && line + footer_window > last; --line) {
    const std::size_t before = text.rfind('\n');
    const std::string_view one = text.substr(before == npos ? 0 : before + 1);
    is_above_footer = is_usage_footer(one) || (is_above_footer && trim(one).empty());
    if (is_above_footer) lines_.push_back(line);
    if (before == npos) break;
    text = text.substr(0, before);
  }
}

std::uint64_t UsageFooters::count_after(std::uint64_t line) const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(lines_, [line](std::uint64_t one) { return one > line; }));
}

}  // namespace ddlrun::diagnose
