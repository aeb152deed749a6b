// SPDX-License-Identifier: MIT
// mutants [--jobs J] OMPI_MAP DIRECTORY COUNT [5]: mutated rankfiles until COUNT of them have no error by
// check_rankfile(); each of those must be taken by Open MPI exactly as written. This is the search for what
// the linter does not know yet. COUNT/4 files with errors are tried too, to count how Open MPI fares with
// them. With 5, OMPI_MAP is that of Open MPI 5.
#include "judge.hpp"
#include "tests/support/mutate.hpp"
#include "topology/rankfile/rankfile_check.hpp"
#include "topology/rankfile/rankfile_fix.hpp"

using namespace ddlrun;
using namespace ddlrun::tests;

namespace {

constexpr std::string_view seeds[] = {
    "# job\nrank 0=a slot=0:0-1\nrank 1=b  slot=1:0;0:2\n\nrank 2=a slot=0:2-3 # third\nrank 3=b slot=6\n",
    "#dims = 2x1x1\nrank 0=n1.x.org    slot=0:0\n/* two */ rank 1=n1.x.org\tslot=1:*\n",
    "rank 0=10.0.0.1 slot=S0\nrank 1=10.0.0.1 slot=1:0,1:2 // end\n",
};

struct Mutant {
  std::string text;
  bool clean = false;  // ours finds no error
  bool fixed = false;  // it is what --fix made of one
};

std::vector<Mutant> make_mutants(std::size_t count, const CheckContext& context) {
  std::vector<Mutant> mutants;
  std::size_t clean = 0, flagged = 0, fixed = 0;
  for (std::uint64_t number = 0; clean < count; ++number) {
    std::string text = mutate(std::string(seeds[number % std::size(seeds)]), number);
    const auto findings = check_rankfile(text, context);
    if (!has_errors(findings)) {
      ++clean;
      mutants.push_back({std::move(text), true, false});
      continue;
    }
    if (fixed < count / 4) {
      auto mended = fix_rankfile(text, context);
      if (!has_errors(mended.remaining)) {
        ++fixed;
        mutants.push_back({std::move(mended.text), true, true});
      }
    }
    if (flagged >= count / 4) continue;
    ++flagged;
    mutants.push_back({std::move(text), false, false});
  }
  return mutants;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const unsigned jobs = take_jobs(words);
  const int mpi_major = words.size() == 4 && words.back() == "5" ? 5 : 4;
  const auto count = words.size() == 3 || mpi_major == 5 ? parse_unsigned(words[2], 1'000'000) : std::nullopt;
  if (!count) {
    fmt::print(stderr, "usage: mutants [--jobs J] OMPI_MAP DIRECTORY COUNT [5]\n");
    return 2;
  }
  const OracleMachine machine = synthetic_machine("pack:2 core:4 pu:2", words[1]);
  CheckContext context;
  context.mpi_major = mpi_major;
  context.machine_of = [&machine](std::string_view) { return &machine.topology; };
  const auto mutants = make_mutants(*count, context);
  std::vector<Command> commands;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const std::string file = fmt::format("{}/mutant{}.rf", words[1], i);
    PosixFiles().write(file, mutants[i].text);
    commands.push_back({words[0], machine.xml_file, file});
    if (mpi_major < 5) continue;
    const auto options = prrte_options(mutants[i].text, 0);
    commands.back().insert(commands.back().end(), options.begin(), options.end());
  }
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(120);
  const auto said = PosixProcesses().run_many(commands, limits, jobs);
  std::map<std::string, int> counts;
  int failures = 0;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const Outcome real = real_outcome(mutants[i].text, machine, said[i], mpi_major);
    const std::string_view kind = mutants[i].fixed ? "fixed" : mutants[i].clean ? "clean" : "flagged";
    ++counts[fmt::format("{} and {}", kind, name_of(real))];
    if (!mutants[i].clean || real == Outcome::bound) continue;
    ++failures;
    fmt::print("MISSED ({}, {}) {}:\n{}{}\n", kind, name_of(real),
               first_difference(mutants[i].text, machine, said[i], mpi_major), mutants[i].text,
               said[i].err.substr(0, 500));
  }
  for (const auto& [what, number] : counts) fmt::print("{} {}, ", number, what);
  fmt::print("{} failures\n", failures);
  return failures == 0 ? 0 : 1;
}
