// SPDX-License-Identifier: MIT
// Settings that are to be written as a ddlrun.yaml, checked as `submit` reads them.
#pragma once

#include "base/os/system.hpp"
#include "base/text/error.hpp"
#include "schedulers/job/job_settings.hpp"

#include <string>
#include <vector>

namespace ddlrun::schedulers {

struct RemovedSetting {
  std::string key, value;
  Message error;  // why `submit` would reject it
};

struct Rejections {
  std::vector<RemovedSetting> removed;
  std::vector<Message> wanted;  // keys that the site requires and the job does not have
};

// Removes what `submit` would reject, one setting after another, until it accepts the rest or asks only for
// keys that the site requires. Each setting has its key as its origin. Error{request} where a job cannot do
// without the rejected setting, or lacks one.
Rejections remove_rejected(System& system, JobSettings& settings);

}  // namespace ddlrun::schedulers
