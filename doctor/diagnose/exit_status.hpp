// SPDX-License-Identifier: MIT
// Exit statuses and signals in words, by the program that reported them.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"

#include <string>

namespace ddlrun::diagnose {

// One sentence, or "" for 0 and for statuses that only the program can explain.
std::string status_meaning(const RunStatus& end);

// The signal that the status stands for (137 -> 9, PBS's 271 -> 15, torchrun's -9 -> 9), or 0.
int signal_of(const RunStatus& end);

}  // namespace ddlrun::diagnose
