// SPDX-License-Identifier: MIT
// Exit statuses and signals in words, by the program that reported them.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"

#include <string>

namespace ddlrun::diagnose {

// One sentence, or "" for 0 and for statuses that only the program can explain.
std::string status_meaning(const RunStatus& end);

// What wait(2) returned, which some launchers print as an exit code: 65280 is "exit status 255: ...", 9 is
// "signal 9 (SIGKILL)...".
std::string wait_status_words(int raw);

// The signal that the status stands for (137 -> 9, PBS's 271 -> 15, torchrun's -9 -> 9), or 0.
int signal_of(const RunStatus& end);

}  // namespace ddlrun::diagnose
