// SPDX-License-Identifier: MIT
#include "schedulers/scripts/job_file_request.hpp"

#include "base/text/text.hpp"
#include "schedulers/scripts/job_file_losses.hpp"

#include <fmt/format.h>

namespace ddlrun::job_scripts {

namespace {

using schedulers::flag_setting;
using schedulers::list_setting;

class JobFileRequestWriter {
 public:
  JobFileRequestWriter(const ResourceRequest& request, const CarriedSignal& signal, JobFile& file)
      : request_(request), signal_(signal), file_(file) {}

  // Where a site has the application in the account's place or in a comment.
  void write_queue(const std::string& application_form) {
    set("name", request_.name);
    set("walltime", request_.walltime_seconds > 0 ? render_time(request_.walltime_seconds) : "");
    set("queue", request_.queue);
    const bool is_application =
        application_form.starts_with("-A") || application_form.starts_with("--account");
    set(is_application ? "application" : "account", request_.account);
    if (application_form.starts_with("--comment")) set("application", request_.comment);
    set("project", request_.project);
    set("qos", request_.qos);
    set("reservation", request_.reservation);
  }

  void write_life(bool carries_requeue) {
    std::string output = request_.output;
    for (std::size_t at = 0; !request_.name.empty() && (at = output.find("%x", at)) != std::string::npos;
         at += request_.name.size())
      output.replace(at, 2, request_.name);
    set("output", output);
    set("mail", request_.mail_user);
    std::vector<std::string> events;
    if (request_.mail_begin) events.emplace_back("begin");
    if (request_.mail_end) events.emplace_back("end");
    if (request_.mail_fail) events.emplace_back("fail");
    if (!request_.mail_user.empty()) set("mail_events", join(events, ","));
    if (request_.array)
      set("array", request_.array->range +
                       (request_.array->max_parallel.empty() ? "" : "%" + request_.array->max_parallel));
    std::vector<std::string> dependencies;
    for (const auto& [kind, jobs] : request_.dependencies)
      for (const std::string_view job : split(jobs, ':'))
        dependencies.push_back(kind + ":" + std::string(job));
    set_list("dependencies", dependencies);
    set("signal", signal_.signal);
    if (signal_.requeues || carries_requeue) set("requeue", "yes");
    set("workdir", request_.dir);
  }

  void write_losses(const Losses& losses) {
    set_list("directives", losses.directives);
    file_.unsupported.insert(file_.unsupported.end(), losses.notes.begin(), losses.notes.end());
  }

 private:
  void set(const std::string& key, const std::string& text) {
    if (!text.empty()) file_.settings[key] = flag_setting("", text, key);
  }
  void set_list(const std::string& key, const std::vector<std::string>& words) {
    if (!words.empty()) file_.settings[key] = list_setting(words, key);
  }

  const ResourceRequest& request_;
  const CarriedSignal& signal_;
  JobFile& file_;
};

}  // namespace

void write_request(const JobScript& script, const ResourceRequest& request, const CarriedSignal& signal,
                   const templates::SiteProfile* site, JobFile& file) {
  const std::string form = site == nullptr ? "" : site->application_directive;
  JobFileRequestWriter writer(request, signal, file);
  writer.write_queue(form);
  writer.write_life(can_carry_requeue(script, request));
  const bool has_comment = form.starts_with("--comment");
  writer.write_losses(find_losses(script, request, file.settings.at("scheduler").value.text, has_comment));
}

}  // namespace ddlrun::job_scripts
