// SPDX-License-Identifier: MIT
// The three steps of read_job: each value by itself, values of several parts, then all of them together.
#pragma once

#include "schedulers/job/job_spec.hpp"
#include "schedulers/job/setting_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::schedulers {

// "1 rank", "4 ranks"
std::string counted(std::uint64_t number, std::string_view what);
// Whether something at this place was refused already.
bool has_error_at(const ParsedJob& parsed, const std::string& where);

// Each fills its fields; what is refused keeps the default.
void read_lifecycle(SettingReader& reader, JobSpec& job);        // signal, requeue, array, dependencies, mail
void read_job_environment(SettingReader& reader, JobSpec& job);  // modules .. data
void read_program(SettingReader& reader, JobSpec& job);          // program, directives
void read_passed_options(SettingReader& reader, JobSpec& job);   // verify .. doctor_warn

// dims, nodes, hosts and gpus agree; false where there is no shape to go on with.
bool read_shape(SettingReader& reader, ParsedJob& parsed);
// threads and cores; needs a shape.
void plan_threads(SettingReader& reader, ParsedJob& parsed, std::optional<std::uint64_t> nodes_there);
// Options of programs that the job does not run.
void check_passed_options(SettingReader& reader, const JobSpec& job);
// Directives that would change the value of a key.
void check_directives(SettingReader& reader, ParsedJob& parsed);
// What the chosen scheduler cannot express.
void check_portable_values(SettingReader& reader, ParsedJob& parsed);
std::string_view scheduler_name(SchedulerKind kind);
// What the scheduler and the other settings do not allow.
void check_combinations(SettingReader& reader, ParsedJob& parsed);

}  // namespace ddlrun::schedulers
