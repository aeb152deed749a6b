// SPDX-License-Identifier: MIT
// Random jobs for the judges of rendered scripts: words, names and values that try to become commands or
// directives, and plain ones.
#pragma once

#include "schedulers/job/script_forms.hpp"

#include <random>
#include <string>
#include <vector>

using Random = std::mt19937_64;

struct AttackedJob {
  ddlrun::schedulers::JobSpec job;
  ddlrun::schedulers::JobDirectory directory;
};

std::uint64_t below(Random& random, std::uint64_t limit);
// A word of any bytes but NUL; `canary` is a file that a shell would make if it read the word as code.
std::string attack_word(Random& random, const std::string& canary);
// The same as a name of a file: no '/', never empty, "." or "..".
std::string attack_file_name(Random& random, const std::string& canary);
// A job whose words, values and directories are attacks; `place` is a directory for its directories.
AttackedJob attacked_job(Random& random, const std::string& place, const std::string& canary);
// A job as people have them, with every block and directive now and then.
ddlrun::schedulers::JobSpec plain_job(Random& random, ddlrun::schedulers::SchedulerKind kind);
// One of a job's fields that reach directives gets this text; its key.
std::string attack_directive(ddlrun::schedulers::JobSpec& job, Random& random, const std::string& text);

ddlrun::schedulers::Script render_any(const ddlrun::schedulers::JobSpec& job,
                                      const ddlrun::schedulers::JobDirectory& directory);
