// SPDX-License-Identifier: MIT
#include "topology/rankfile/slot_parser.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::rankfile {

using namespace topology;  // the words of machines and plans

namespace {

constexpr std::uint64_t largest_index = 1u << 20;

// A part of the text, with its position.
struct Part {
  std::string_view text;
  std::size_t offset = 0;

  Part after(std::size_t bytes) const { return {text.substr(bytes), offset + bytes}; }
};

std::vector<Part> parts_of(const Part& whole, char separator) {
  std::vector<Part> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= whole.text.size(); ++i) {
    if (i < whole.text.size() && whole.text[i] != separator) continue;
    parts.push_back({whole.text.substr(begin, i - begin), whole.offset + begin});
    begin = i + 1;
  }
  return parts;
}

bool contains(std::string_view text, char c) { return text.find(c) != std::string_view::npos; }

class SlotParser {
 public:
  explicit SlotParser(int mpi_major) : mpi_major_(mpi_major) {}

  ParsedSlots parse(std::string_view text) {
    if (text.find_first_not_of(";,") == std::string_view::npos) {
      undecided("empty-slot", 0,
                fmt::format("only separators follow slot=: \"{}\"; mpirun dies of it with a "
                            "segmentation fault",
                            printable(text)),
                "name the cores, as in slot=0:0-3");
      return std::move(result_);
    }
    for (const Part& group : parts_of({text, 0}, ';')) read_group(group);
    return std::move(result_);
  }

 private:
  void problem(std::string_view id, Severity severity, std::size_t offset, std::string what,
               std::string hint) {
    result_.problems.push_back({std::string(id), severity, offset, std::move(what), std::move(hint), ""});
  }
  void undecided(std::string_view id, std::size_t offset, std::string what, std::string hint) {
    problem(id, Severity::error, offset, std::move(what), std::move(hint));
    result_.decidable = false;
  }
  void add(const SlotRange& range, std::size_t offset, bool whole_package = false) {
    result_.ranges.push_back({range, offset, whole_package});
  }
  void empty_item(const Part& part) {
    problem("empty-slot-item", Severity::warning, part.offset,
            "a separator with nothing before or after it; Open MPI skips it",
            "leave the extra separator out");
  }

  bool names_packages(char c) const {
    return c == 'S' || c == 's' || (mpi_major_ >= 5 && (c == 'P' || c == 'p'));
  }

  void read_group(const Part& group) {
    if (group.text.empty()) return empty_item(group);
    if (group.text.find_first_not_of(',') == std::string_view::npos) {
      return problem("empty-slot", Severity::error, group.offset,
                     "nothing but commas between semicolons: mpirun dies of it with a segmentation fault",
                     "leave the extra separators out");
    }
    const bool by_package = names_packages(group.text.front());
    const Part body = by_package ? group.after(1) : group;
    if (contains(body.text, ':')) return read_package_cores(body);
    if (by_package && body.text.find_first_not_of(',') == std::string_view::npos) {
      return undecided("empty-slot", group.offset,
                       "no package number follows the S; mpirun dies of it with a segmentation fault",
                       "write S0 for all of package 0, or name cores: 0:0-3");
    }
    for (const Part& item : parts_of(body, ',')) {
      if (item.text.empty()) {
        empty_item(item);
      } else if (by_package) {
        read_packages(item);
      } else {
        read_range(item, -1);
      }
    }
  }

  void read_packages(const Part& item) {
    if (item.text == "*") return add({SlotRange::every_package, 0, SlotRange::all}, item.offset, true);
    const auto span = read_numbers(item);
    if (!span) return;
    for (int package = span->first; package <= std::min(span->last, span->first + 63); ++package) {
      add({package, 0, SlotRange::all}, item.offset, true);
    }
  }

  // "0:0-4", "0:0-1:3", and what stands behind commas: "0:0,0:2" and the traps "1:0,1" and "0:0-1,3".
  void read_package_cores(const Part& body) {
    const std::vector<Part> items = parts_of(body, ',');
    int package = -1;
    bool only_singles = true;
    bool package_repeated = false;
    for (const Part& item : items) {
      if (item.text.empty() && mpi_major_ >= 5) {
        problem("empty-slot-item", Severity::error, item.offset,
                "Open MPI 5 reads a list with an empty part as other cores", "remove the extra comma");
      } else if (item.text.empty()) {
        empty_item(item);
      } else if (contains(item.text, ':')) {
        package_repeated = package_repeated || package >= 0;
        package = read_one_package(item);
        only_singles = only_singles && !contains(item.text, '-') && !contains(item.text, '*');
      } else {
        only_singles = only_singles && !contains(item.text, '-') && !contains(item.text, '*');
        read_behind_comma(item, package);
      }
    }
    if (mpi_major_ >= 5 && items.size() > 1) judge_commas_5(items.front(), package_repeated, only_singles);
  }

  void judge_commas_5(const Part& first, bool package_repeated, bool only_singles) {
    if (package_repeated) {
      problem("comma-between-packages", Severity::error, first.offset,
              "Open MPI 5 reads all cores after a comma as cores of the first package",
              "join the packages with a semicolon: 0:0;1:0");
    } else if (!only_singles) {
      problem("comma-in-package-list", Severity::error, first.offset,
              "Open MPI 5 does not read a list that mixes commas and ranges: the rest is lost",
              "repeat the package and join with a semicolon: 0:0-1;0:3");
    }
  }

  void read_behind_comma(const Part& item, int package) {
    if (package < 0) {
      return undecided("bad-slot-number", item.offset,
                       fmt::format("\"{}\" comes before any package number", printable(item.text)),
                       "write PACKAGE:CORES for each package, as in 0:0-3;1:0-3");
    }
    read_range(item, package);
    if (mpi_major_ >= 5) return;  // checked for the whole list
    problem(
        "comma-in-package-list", Severity::error, item.offset,
        fmt::format("Open MPI 4 reads the \"{}\" after the comma as a package, not as a core: the core is "
                    "dropped silently, or the file refused where there is no such package",
                    printable(item.text)),
        fmt::format("repeat the package and join with a semicolon: ...;{}:{}", package,
                    printable(item.text)));
  }

  // PACKAGE:CORES, perhaps with more ":CORES"; returns the package, or -1.
  int read_one_package(const Part& item) {
    const std::vector<Part> fields = parts_of(item, ':');
    const Part& name = fields.front();
    if (contains(name.text, '-') || contains(name.text, '*')) {
      undecided("package-range-with-cores", name.offset,
                fmt::format("\"{}\" before the colon is read as one package, its first number",
                            printable(name.text)),
                "write each package by itself: 0:0-3;1:0-3");
      return -1;
    }
    const auto package = read_number(name);
    if (!package) return -1;
    for (std::size_t i = 1; i < fields.size(); ++i) read_cores(fields[i], *package);
    if (fields.size() > 2) {
      problem("colon-chain", Severity::warning, fields[2].offset,
              fmt::format("more than one colon: each part after the first is taken as cores of package {}, "
                          "never as hardware threads",
                          *package),
              "write the package before each list of cores");
    }
    return *package;
  }

  void read_cores(Part field, int package) {
    if (!field.text.empty() && (field.text[0] == 'C' || field.text[0] == 'c')) field = field.after(1);
    if (field.text.empty()) {
      return undecided("no-core", field.offset,
                       fmt::format("no core follows package {}'s colon: Open MPI binds the rank to nothing, "
                                   "which means to everything",
                                   package),
                       fmt::format("name the cores, as in {}:0-3, or all of them: {}:*", package, package));
    }
    if (field.text == "*") return add({package, 0, SlotRange::all}, field.offset);
    read_range(field, package);
  }

  void read_range(const Part& item, int package) {
    if (item.text == "*" && package < 0) {
      return undecided("star-alone", item.offset, "a star by itself is read as the number 0: core 0 only",
                       "for all cores write S*, for those of one package 0:*");
    }
    const auto span = read_numbers(item);
    if (span) add({package, span->first, span->last}, item.offset);
  }

  struct Span {
    int first;
    int last;
  };

  std::optional<Span> read_numbers(const Part& item) {
    const std::vector<Part> ends = parts_of(item, '-');
    if (ends.size() > 2 || (ends.size() == 2 && (ends[0].text.empty() || ends[1].text.empty()))) {
      undecided("bad-range", item.offset,
                fmt::format("\"{}\" is not a range; Open MPI skips the extra dashes or refuses the file",
                            printable(item.text)),
                "a range is FIRST-LAST, as in 0-3");
      return std::nullopt;
    }
    const auto first = read_number(ends.front());
    const auto last = ends.size() == 2 ? read_number(ends.back()) : first;
    if (!first || !last) return std::nullopt;
    if (*first > *last) {
      problem(
          "reversed-range", Severity::error, item.offset,
          fmt::format("the range {} runs backwards: Open MPI takes it as empty and starts the rank unbound",
                      item.text),
          fmt::format("write {}-{}", *last, *first));
      return Span{*last, *first};
    }
    return Span{*first, *last};
  }

  std::optional<int> read_number(const Part& part) {
    if (const auto number = parse_unsigned(part.text, largest_index)) return static_cast<int>(*number);
    if (parse_unsigned(part.text) ||
        (!part.text.empty() && part.text.find_first_not_of("0123456789") == std::string_view::npos)) {
      undecided("number-too-large", part.offset,
                fmt::format("{} is larger than any core number ({}); larger ones wrap around in mpirun",
                            printable(part.text, 24), largest_index),
                "give core numbers that the machine has: ddlrun topo lists them");
    } else {
      undecided(
          "bad-slot-number", part.offset,
          fmt::format("\"{}\" is not a number; Open MPI reads the digits it begins with, and 0 where there "
                      "are none, or refuses the file",
                      printable(part.text, 40)),
          "write PACKAGE:FIRST-LAST, as in 0:0-3, joined by semicolons");
    }
    return std::nullopt;
  }

  int mpi_major_;
  ParsedSlots result_;
};

}  // namespace

ParsedSlots parse_slots(std::string_view text, int mpi_major) { return SlotParser(mpi_major).parse(text); }

}  // namespace ddlrun::rankfile
