// SPDX-License-Identifier: MIT
#include "doctor/run/probe_plan.hpp"

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

ProbeRequest request_for_host(const Job& job, const ProbePlanOptions& options, const std::string& host,
                              const std::vector<std::string>& names) {
  ProbeRequest request;
  request.level = options.level;
  request.host = host;
  request.names = names;
  const auto ranks = job.ranks_of_host.find(host);
  request.ranks_here = ranks == job.ranks_of_host.end() ? 0 : ranks->second;
  request.ranks = job.ranks;
  request.cores_per_rank = job.cores_per_rank;
  fill_program_files(job, request);
  request.workdir = job.workdir;
  request.checkpoint_dir = job.checkpoint_dir;
  const auto temporary = job.environment.find("TMPDIR");
  const bool is_valid_there = !job.has_tmpdir_of_scheduler || options.is_this_host(host);
  if (temporary != job.environment.end() && is_valid_there) request.temporary_dir = temporary->second;
  request.data_paths = job.data_paths;
  request.interface = job.interface;
  request.ports = job.ports;
  request.groups = options.groups;
  return request;
}

}  // namespace

std::vector<ProbeRequest> plan_probe_requests(const Job& job, const ProbePlanOptions& options) {
  std::vector<ProbeRequest> requests;
  const std::vector<std::string> names = names_to_resolve(job, options.hosts);
  const std::vector<std::string> sample = sample_names(names);
  for (const std::string& host : options.hosts) {
    requests.push_back(request_for_host(job, options, host, sample));
    requests.back().is_driver_host = options.is_this_host(host);
  }
  if (options.include_driver_host) {
    requests.push_back(request_for_host(job, options, options.driver_host_name, names));
    requests.back().is_driver_host = true;
    requests.back().own_files = {job.hostfile_path, job.rankfile_path};
  }
  if (options.level != Level::quick) {
    plan_network_probes(job, std::span(requests).first(options.hosts.size()),
                        options.include_driver_host ? &requests.back() : nullptr, options.random);
  }
  return requests;
}

}  // namespace ddlrun::doctor
