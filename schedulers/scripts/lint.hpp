// SPDX-License-Identifier: MIT
// What is wrong with anyone's job script: what the scheduler refuses, ignores or reads otherwise than meant,
// and what the shell, the launcher and the OpenMP runtime then make of it.
#pragma once

#include "schedulers/scripts/job_script.hpp"
#include "templates/site_profile.hpp"
#include "topology/affinity/thread_map.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::job_scripts {

enum class Severity { error, warning, note };
std::string_view name_of(Severity severity);

struct Finding {
  std::string id;  // stable, kebab-case: "place-missing"
  Severity severity = Severity::warning;
  Place place;  // line 0: about the script as a whole
  std::string what;
  std::string why;
  std::string hint;
};

enum class PbsKind { unspecified, open_pbs, torque };

// The files that a job finds in the directory of its submission; the linter itself reads none.
struct ScriptFiles {
  std::function<bool(const std::string& path)> exists;
  std::function<std::optional<std::string>(const std::string& path)> nearest;  // for a mistyped name
};

struct LintContext {
  Dialect scheduler = Dialect::none;               // none: by the script's own directives
  PbsKind pbs_kind = PbsKind::unspecified;         // unspecified: by what the script uses
  const templates::SiteProfile* site = nullptr;    // the centre's rules, or null
  std::optional<affinity::ThreadMachine> machine;  // a node of the job, if it is known
  const ScriptFiles* files = nullptr;              // null: files are not looked for
};

// In the order of the lines.
std::vector<Finding> lint_script(const JobScript& script, const LintContext& context);

// The longest walltime of the queue at the centre, of its usual queue where none is named; 0: not known.
std::uint64_t walltime_limit(const templates::SiteProfile& site, std::string_view queue);

// True where anything but notes was found.
bool needs_attention(const std::vector<Finding>& findings);

// "2 errors, 1 warning, 1 note"; "nothing" without findings.
std::string render_counts(const std::vector<Finding>& findings);
// "FILE:LINE:COLUMN: severity: what [id]\n  why: ...\n  try: ...\n"
std::string render_finding(std::string_view file, const Finding& finding);
std::string render_findings_json(const JobScript& script, const std::vector<Finding>& findings);

}  // namespace ddlrun::job_scripts
