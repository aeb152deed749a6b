// SPDX-License-Identifier: MIT
// Amounts of memory: several that exclude each other, and numbers without a unit.
#include "base/text/text.hpp"
#include "schedulers/scripts/lint_internal.hpp"

#include <fmt/format.h>

namespace ddlrun::job_scripts {

namespace {

// Such an amount is too small for a job: another unit was meant.
constexpr std::uint64_t doubtful_mib = 1024;
constexpr std::uint64_t doubtful_bytes = 1u << 20;

class MemoryRules : private RuleSet {
 public:
  explicit MemoryRules(const ScriptView& view) : RuleSet(view) {}
  std::vector<Finding> check() {
    if (view_.script.dialect == Dialect::slurm) check_slurm();
    if (view_.script.dialect == Dialect::pbs)
      for (const Directive* directive : directives_of(view_, "", 'l')) check_resources(*directive);
    return std::move(findings_);
  }

 private:
  void check_slurm() {
    const Directive* first = nullptr;
    for (const char* name : {"mem", "mem-per-cpu", "mem-per-gpu"}) {
      const auto given = directives_of(view_, name, 0);
      if (given.empty()) continue;
      const Directive& memory = *given.back();
      const Place place{memory.line, memory.column};
      if (first != nullptr) {
        add("memory-twice", Severity::error, {first->line, first->column},
            "two of --mem, --mem-per-cpu and --mem-per-gpu", "they exclude each other", "one of them");
        return;
      }
      first = &memory;
      const auto number = parse_unsigned(memory.value, doubtful_mib - 1);
      if (number && *number > 0 && !has_split_value(view_, memory))
        add("bare-memory", Severity::warning, place, fmt::format("--{0}={1} means {1} MiB", name, *number),
            "Slurm reads a number without a unit as MiB, PBS as bytes",
            fmt::format("#SBATCH --{0}={1}G, or --{0}={1}M if that is meant", name, *number));
    }
  }

  // "select=2:ncpus=4:mem=64", "mem=64,walltime=1:00:00".
  void check_resources(const Directive& directive) {
    if (has_split_value(view_, directive)) return;
    for (const std::string_view item : split(directive.value, ',')) {
      for (const std::string_view part : split(item, ':')) {
        const std::size_t equals = part.find('=');
        const std::string_view key = part.substr(0, equals);
        if (equals == std::string_view::npos || (key != "mem" && key != "pmem" && key != "vmem")) continue;
        const auto number = parse_unsigned(part.substr(equals + 1), doubtful_bytes - 1);
        if (number && *number > 0)
          add("bare-memory", Severity::warning, {directive.line, directive.column},
              fmt::format("{} means {} bytes", part, *number),
              "PBS reads a number without a unit as bytes, Slurm as MiB",
              fmt::format("{}={}gb", key, *number));
      }
    }
  }
};

}  // namespace

std::vector<Finding> lint_memory(const ScriptView& view) { return MemoryRules(view).check(); }

}  // namespace ddlrun::job_scripts
