// SPDX-License-Identifier: MIT
// What each host, and the head, is asked about a job.
#pragma once

#include "doctor/model/question.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ddlrun::doctor {

struct QuestionRequest {
  Level level = Level::quick;
  std::vector<std::string> hosts;   // in order, each once
  std::vector<std::string> groups;  // gatherers to run; empty = all of the level
  std::function<bool(const std::string&)> is_this_host;
  std::string head_name;     // gethostname() here
  bool ask_head = true;      // one more question, the last, for the head
  std::uint64_t random = 0;  // spreads the probes of several examinations
};

// One question a host, in order. Each host resolves every name of the job up to 512; of more, a spread of
// 128, the same for all: names times hosts are questions to one DNS. The head resolves all.
std::vector<Question> plan_questions(const Job& job, const QuestionRequest& request);

}  // namespace ddlrun::doctor
