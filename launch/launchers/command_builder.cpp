// SPDX-License-Identifier: MIT
#include "launch/launchers/command_builder.hpp"

#include "base/text/text.hpp"
#include "launch/rank/rank_setup.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

// Linux refuses longer ones, name, "=" and end included.
constexpr std::size_t longest_variable = 128u << 10;

}  // namespace

std::vector<std::string> find_library_variables(const EnvVars& environment,
                                                std::initializer_list<std::string_view> beginnings) {
  std::vector<std::string> names;
  for (const auto& [name, value] : environment) {
    const bool is_one = std::any_of(beginnings.begin(), beginnings.end(),
                                    [&name = name](std::string_view lead) { return name.starts_with(lead); });
    if (is_one) names.push_back(name);
  }
  return names;
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

CommandBuilder::CommandBuilder(const LaunchRequest& request)
    : request_(request), program_(request.program), names_(request.exports.names) {
  line_.environment = request.exports.set_by_us;
  for (const auto& [name, value] : request.exports.set_by_user) line_.environment[name] = value;
  if (request.rank_map) take_rank_map();
}

void CommandBuilder::add(std::vector<std::string> words, std::string why) {
  line_.reasons.push_back({join(words, " "), std::move(why)});
  for (std::string& word : words) line_.argv.push_back(std::move(word));
}

void CommandBuilder::leave_out(const std::vector<std::string>& names, std::string why) {
  if (!names.empty()) add(env_without(names), std::move(why));
}

void CommandBuilder::set(const std::string& name, std::string value, std::string why) {
  line_.reasons.push_back({name + "=" + value, std::move(why)});
  line_.own[name] = value;
  line_.environment[name] = std::move(value);
}

void CommandBuilder::set_unless_given(const EnvVars& environment, const std::string& name, std::string value,
                                      std::string why) {
  const bool is_given = environment.count(name) != 0 || request_.exports.set_by_user.count(name) != 0;
  if (!is_given) set(name, std::move(value), std::move(why));
}

void CommandBuilder::add_asked(const std::vector<std::string>& words) {
  for (const std::string& word : words) add({word}, "you requested it");
}

std::string CommandBuilder::reason_of(const std::string& name) const {
  if (name == rank_map_variable) return "what each rank is to get; ddlrun exec reads it";
  const auto& reasons = request_.exports.reasons;
  const auto reason = std::find_if(reasons.begin(), reasons.end(),
                                   [&](const Reason& r) { return r.subject == "-x " + name; });
  return reason == reasons.end() ? "" : reason->why;
}

void CommandBuilder::add_name_reasons() {
  for (const std::string& name : names_) line_.reasons.push_back({"  " + name, reason_of(name)});
}

void CommandBuilder::take_rank_map() {
  std::string text = render_rank_map(*request_.rank_map);
  const std::string path = request_.run_dir + "/ranks.json";
  if (std::string_view(rank_map_variable).size() + 1 + text.size() + 1 <= longest_variable) {
    program_.rank_map = {"--rank-map"};
    names_.emplace_back(rank_map_variable);
    line_.environment[rank_map_variable] = text;
    line_.rank_map_path = path;
  } else if (!program_.needs_rank_map) {
    return;  // numbers alone are not worth a file that all hosts must see
  } else {
    program_.rank_map = {"--rank-map-file", path};  // a directory that all hosts see, as homes mostly are
  }
  add_file(path, text + "\n");
}

LaunchCommand CommandBuilder::finish() && {
  const Command rank = plan_rank_command(program_);
  if (rank != program_.program)
    line_.reasons.push_back({fmt::format("{} exec", program_.ddlrun), wrapper_reason(program_)});
  line_.argv.insert(line_.argv.end(), rank.begin(), rank.end());
  return std::move(line_);
}

}  // namespace ddlrun::launch
