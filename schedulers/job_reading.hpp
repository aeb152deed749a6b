// SPDX-License-Identifier: MIT
// The three steps of read_job: each value by itself, values of several parts, then all of them together.
#pragma once

#include "schedulers/job_spec.hpp"
#include "schedulers/setting_reader.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace ddlrun::schedulers {

// "1 rank", "4 ranks"
std::string counted(std::uint64_t number, std::string_view what);
// Whether something at this place was refused already.
bool is_refused(const JobReading& reading, const std::string& where);

// Each fills its fields; what is refused keeps the default.
void read_life(SettingReader& reader, JobSpec& job);          // signal, requeue, array, dependencies, mail
void read_surroundings(SettingReader& reader, JobSpec& job);  // modules .. data
void read_program(SettingReader& reader, JobSpec& job);       // program, directives

// dims, nodes, hosts and gpus agree; false where there is no shape to go on with.
bool read_shape(SettingReader& reader, JobReading& reading);
// threads and cores; needs a shape.
void decide_threads(SettingReader& reader, JobReading& reading);
// Directives that would change what a key says.
void check_directives(SettingReader& reader, JobReading& reading);
// What the chosen scheduler cannot express.
void check_forms(SettingReader& reader, JobReading& reading);
std::string_view word_of(SchedulerKind kind);
// What the scheduler and the other settings do not allow.
void check_together(SettingReader& reader, JobReading& reading);

}  // namespace ddlrun::schedulers
