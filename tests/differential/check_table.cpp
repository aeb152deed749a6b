// SPDX-License-Identifier: MIT
// check_table [--jobs J] OMPI_MAP UNEVEN.xml DIRECTORY [5]: every row of the table through Open MPI itself
// and through check_rankfile(). The outcome must be the row's, and every finding too; where Open MPI accepts
// a file that we find no error in, each rank must be bound exactly where we read it. With 5, OMPI_MAP is that
// of Open MPI 5, and the table has no outcomes: we find an error exactly where a file is not bound as
// written. The last line counts; exit 1 on a difference.
#include "tests/support/check_table.hpp"

#include "judge.hpp"
#include "topology/rankfile/rankfile_check.hpp"

#include <algorithm>
#include <optional>

using namespace ddlrun;
using namespace ddlrun::topology;
using namespace ddlrun::rankfile;
using namespace ddlrun::tests;

namespace {

std::string our_findings(const CheckRow& row, const OracleMachine& machine, int mpi_major, bool& errors) {
  CheckContext context;
  context.mpi_major = mpi_major;
  if (row.ranks > 0) context.ranks = static_cast<std::uint32_t>(row.ranks);
  context.machine_of = [&machine](std::string_view) { return &machine.topology; };
  const auto findings = check_rankfile(row.text, context);
  errors = has_errors(findings);
  std::vector<std::string> ids;
  for (const RankfileFinding& finding : findings) {
    if (finding.severity != Severity::note) ids.push_back(fmt::format("{}@{}", finding.id, finding.line));
  }
  std::sort(ids.begin(), ids.end());
  return join(ids, " ");
}

std::string sorted_words(std::string_view text) {
  if (text.empty()) return "";
  std::vector<std::string> words;
  for (const auto word : split(text, ' ')) words.emplace_back(word);
  std::sort(words.begin(), words.end());
  return join(words, " ");
}

// Empty, or what is wrong with this row.
std::string judge_row(const CheckRow& row, const OracleMachine& machine, const ProcessResult& said) {
  bool errors = false;
  const std::string ours = our_findings(row, machine, 4, errors);
  if (ours != sorted_words(row.findings))
    return fmt::format("our findings: \"{}\", not \"{}\"", ours, row.findings);
  const Outcome real = real_outcome(row.text, machine, said);
  if (real != row.outcome) {
    return fmt::format("Open MPI: {} ({}), not {}", name_of(real), first_difference(row.text, machine, said),
                       name_of(row.outcome));
  }
  if (real != Outcome::bound && !errors) return "Open MPI does otherwise than written and ours has no error";
  return "";
}

// PRRTE's map numbers the cores of unequal packages by another count, so their numbers are not compared.
std::string judge_row_for_5(const CheckRow& row, const OracleMachine& machine, const ProcessResult& said) {
  bool errors = false;
  const std::string ours = our_findings(row, machine, 5, errors);
  const Outcome real = real_outcome(row.text, machine, said, 5);
  const bool is_bound = real == Outcome::bound || (real == Outcome::different && row.machine == "uneven");
  if (is_bound && errors) fmt::print("STRICTER {}: {}\n", row.name, ours);
  if (is_bound || errors) return "";
  return fmt::format("Open MPI 5: {} ({}), and we find no error: \"{}\"", name_of(real),
                     real == Outcome::refused ? "" : first_difference(row.text, machine, said, 5), ours);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const unsigned jobs = take_jobs(words);
  const bool is_prrte = words.size() == 4 && words[3] == "5";
  if (words.size() != 3 && !is_prrte) {
    fmt::print(stderr, "usage: check_table [--jobs J] OMPI_MAP UNEVEN.xml DIRECTORY [5]\n");
    return 2;
  }
  const auto rows = check_rows();
  std::map<std::string_view, OracleMachine> machines;
  std::vector<Command> commands;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto known = machines.find(rows[i].machine);
    if (known == machines.end()) {
      machines.emplace(rows[i].machine, rows[i].machine == "uneven"
                                            ? machine_of_file(words[1])
                                            : synthetic_machine(std::string(rows[i].machine), words[2]));
    }
    const std::string file = fmt::format("{}/row{}.rf", words[2], i);
    PosixFiles().write(file, rows[i].text);
    commands.push_back({words[0], machines.at(rows[i].machine).xml_file, file});
    if (is_prrte) {
      const auto options = prrte_options(rows[i].text, static_cast<std::size_t>(std::max(rows[i].ranks, 0)));
      commands.back().insert(commands.back().end(), options.begin(), options.end());
    } else if (rows[i].ranks > 0) {
      commands.back().insert(commands.back().end(), {"-np", std::to_string(rows[i].ranks)});
    }
  }
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(120);
  const auto said = PosixProcesses().run_many(commands, limits, jobs);
  std::size_t differences = 0;
  std::map<std::string_view, int> outcomes;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const OracleMachine& machine = machines.at(rows[i].machine);
    ++outcomes[name_of(is_prrte ? real_outcome(rows[i].text, machine, said[i], 5) : rows[i].outcome)];
    const std::string wrong =
        is_prrte ? judge_row_for_5(rows[i], machine, said[i]) : judge_row(rows[i], machine, said[i]);
    if (wrong.empty()) continue;
    ++differences;
    fmt::print("DIFFERS {}: {}\n{}", rows[i].name, wrong, said[i].err.substr(0, 300));
  }
  for (const auto& [outcome, count] : outcomes) fmt::print("{} {}, ", count, outcome);
  fmt::print("{} rows, {} differences\n", rows.size(), differences);
  return differences == 0 ? 0 : 1;
}
