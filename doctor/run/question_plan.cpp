// SPDX-License-Identifier: MIT
#include "doctor/run/question_plan.hpp"

#include "doctor/checks/network_plan.hpp"
#include "doctor/model/job.hpp"

#include <span>
#include <unordered_set>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t most_asked_names = 512;
constexpr std::size_t sampled_names = 128;

// Every name that the job uses, each once.
std::vector<std::string> names_to_resolve(const Job& job, const std::vector<std::string>& hosts) {
  std::vector<std::string> names = hosts;
  names.insert(names.end(), job.allocation.begin(), job.allocation.end());
  for (const auto& [host, ranks] : job.ranks_of_host) names.push_back(host);
  std::vector<std::string> unique;
  std::unordered_set<std::string> seen;
  for (std::string& name : names) {
    if (seen.insert(name).second) unique.push_back(std::move(name));
  }
  return unique;
}

std::vector<std::string> sample_names(const std::vector<std::string>& names) {
  if (names.size() <= most_asked_names) return names;
  std::vector<std::string> sample;
  for (std::size_t i = 0; i < sampled_names; ++i) sample.push_back(names[i * names.size() / sampled_names]);
  return sample;
}

Question question_of(const Job& job, const QuestionRequest& request, const std::string& host,
                     const std::vector<std::string>& names) {
  Question question;
  question.level = request.level;
  question.host = host;
  question.names = names;
  const auto ranks = job.ranks_of_host.find(host);
  question.ranks_here = ranks == job.ranks_of_host.end() ? 0 : ranks->second;
  question.ranks = job.ranks;
  question.cores_per_rank = job.cores_per_rank;
  ask_about_program(job, question);
  question.working_folder = job.working_folder;
  question.checkpoint_folder = job.checkpoint_folder;
  const auto temporary = job.environment.find("TMPDIR");
  if (temporary != job.environment.end()) question.temporary_folder = temporary->second;
  question.data_paths = job.data_paths;
  question.interface = job.interface;
  question.ports = job.ports;
  question.groups = request.groups;
  return question;
}

}  // namespace

std::vector<Question> plan_questions(const Job& job, const QuestionRequest& request) {
  std::vector<Question> questions;
  const std::vector<std::string> names = names_to_resolve(job, request.hosts);
  const std::vector<std::string> sample = sample_names(names);
  for (const std::string& host : request.hosts) {
    questions.push_back(question_of(job, request, host, sample));
    questions.back().is_head = request.is_this_host(host);
  }
  if (request.ask_head) {
    questions.push_back(question_of(job, request, request.head_name, names));
    questions.back().is_head = true;
    questions.back().own_files = {job.hostfile_path, job.rankfile_path};
  }
  if (request.level != Level::quick) {
    plan_network_questions(job, std::span(questions).first(request.hosts.size()),
                           request.ask_head ? &questions.back() : nullptr, request.random);
  }
  return questions;
}

}  // namespace ddlrun::doctor
