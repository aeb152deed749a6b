// SPDX-License-Identifier: MIT
// A job of Slurm that failed, with its log and the file in which its script wrote why it stopped.
#pragma once

#include "schedulers/client/failure_summary.hpp"
#include "tests/support/fake_host_info.hpp"
#include "tests/support/fake_system.hpp"

#include <string>

namespace ddlrun::tests {

struct FailedJob : FakeSystem {
  FakeHostInfo host;
  schedulers::JobRef job;
  schedulers::JobStatus status;
  FailedJob() {
    job.id = "42";
    job.scheduler = schedulers::SchedulerKind::slurm;
    job.dir = "/w/ddlrun-jobs/job";
    job.output = "/w/ddlrun-jobs/job/output.log";
    status.state = schedulers::JobState::failed;
    status.exit_status = 1;
    status.hosts = "node2";
    host.who.uid = 1001;
  }
  System system_with_host() {
    System system = interfaces();
    system.kernel = &host;
    return system;
  }
  // What the job's script wrote to its own file as it stopped the job.
  FileInfo& stop(const std::string& text, const std::string& name = "stop_reason") {
    const std::string path = job.dir + "/" + name;
    files.files[path] = text;
    FileInfo& info = host.add(path);
    info.uid = 1001;
    return info;
  }
  schedulers::FailureSummary summary(const std::string& log) {
    files.files[job.output] = log;
    System system = system_with_host();
    return read_job_words(system, job, status);
  }
};

}  // namespace ddlrun::tests
