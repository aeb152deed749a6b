// SPDX-License-Identifier: MIT
// An exception of Python as the cause.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/log_facts.hpp"

#include <cstdint>
#include <string_view>

namespace ddlrun::diagnose {

// The signature of a Python exception; its title is the exception.
// A line of this score explains a KeyboardInterrupt after it.
constexpr int min_before_interrupt = 75;

constexpr std::string_view python_exception_id = "E24";

// Adds the first exception that is no consequence to `diagnosis.also_seen`, unless a signature explains its
// text. One before `last_episode` (its first line, episodes.hpp) is none: the run survived it.
void add_exception(Diagnosis& diagnosis, const LogFacts& log, std::uint64_t last_episode);

}  // namespace ddlrun::diagnose
