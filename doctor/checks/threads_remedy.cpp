// SPDX-License-Identifier: MIT
#include "doctor/checks/threads_remedy.hpp"

#include <fmt/format.h>

namespace ddlrun::doctor {

Remedy threads_remedy(const Job& job, std::uint64_t threads) {
  Remedy remedy;
  remedy.on_driver_host = true;
  if (job.of_submit) {
    remedy.commands = {fmt::format("ddlrun submit --threads {} ...", threads)};
    remedy.note = fmt::format("or threads: {} in ddlrun.yaml", threads);
  } else {
    remedy.commands = {fmt::format("export OMP_NUM_THREADS={}", threads)};
    remedy.note = "before the launch; it is passed on by name";
  }
  return remedy;
}

}  // namespace ddlrun::doctor
