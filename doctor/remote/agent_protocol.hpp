// SPDX-License-Identifier: MIT
// What the head and an agent say to each other over one connection. The remote shell prints "wanted" if this
// build is not there, and is sent it; the agent prints "ready", reads the question to the end of its stdin,
// prints "answer" and one line of JSON. Shell start-up files may print what they like before.
#pragma once

#include "doctor/model/check.hpp"
#include "doctor/model/question.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

constexpr std::string_view wanted_line = "ddlrun-agent wanted";
constexpr std::string_view answer_line = "ddlrun-agent answer";
constexpr std::size_t max_answer_bytes = 1u << 20;
constexpr std::size_t max_question_bytes = 4u << 20;
constexpr int other_build_status = 9;  // `ddlrun agent --id` of another build

std::string ready_line(std::string_view build_id);

// sh: runs $0 as the agent of build $1, or takes the files behind $2 (the loader there): name, size, ...
std::string_view agent_script();

// What an agent found.
struct Answer {
  Facts facts;
  std::map<std::string, std::string> failed_gatherers;
  std::int64_t ready_us = 0;  // its clock when it printed "ready", microseconds since 1970
  std::int64_t asked_us = 0;  // its clock when it had read the question
};

std::string render_question_json(const Question& question);  // one line
Question parse_question_json(std::string_view text);         // Error{request} on anything odd
std::string render_answer_json(const Answer& answer);        // one line
Answer parse_answer_json(std::string_view text, const std::string& host);

}  // namespace ddlrun::doctor
