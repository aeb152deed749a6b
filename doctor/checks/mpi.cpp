// SPDX-License-Identifier: MIT
// The MPI of the program against mpirun's, and what else mpirun needs on the driver host.
#include "base/text/text.hpp"
#include "doctor/checks/software.hpp"
#include "doctor/model/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::doctor {

namespace {

// libmpi.so.40.30.4 -> 40, 30: Open MPI 4.1; libmpi.so.12: MPICH and Intel MPI.
struct LibraryNumber {
  std::uint64_t major = 0, minor = 0;
};
LibraryNumber number_of(std::string_view path) {
  const auto at = path.rfind(".so.");
  if (at == std::string_view::npos) return {};
  const auto parts = split(path.substr(at + 4), '.');
  return {parse_unsigned(parts[0]).value_or(0), parts.size() > 1 ? parse_unsigned(parts[1]).value_or(0) : 0};
}

std::string release_of_library(const LibraryNumber& number) {
  struct Row {
    std::uint64_t major, minor;
    const char* release;
  };
  constexpr std::array<Row, 6> rows{
      {{20, 10, "2.1"}, {40, 0, "3.0"}, {40, 10, "3.1"}, {40, 20, "4.0"}, {40, 30, "4.1"}, {40, 40, "5.0"}}};
  for (const Row& row : rows) {
    if (row.major == number.major && row.minor == number.minor) return row.release;
  }
  return {};
}

CheckResult evaluate_library(const HostReport& host) {
  const auto library = text_of(host, "program.libmpi");
  if (!library) return skip(host.facts.why_missing("program.libmpi"));
  const std::string vendor = mpi_vendor(host);
  const auto version = text_of(host, "mpi.version");
  if (vendor.empty() || !version)
    return skip(fmt::format("the program takes {}; mpirun is not known here", *library));
  const LibraryNumber number = number_of(*library);
  const bool mpich = number.major == 12 || library->find("libmpich") != std::string::npos;
  const Remedy remedy{{},
                      false,
                      false,
                      fmt::format("build the program with this mpirun's mpicc, or load the module of the MPI "
                                  "that it was built with; which library it takes: ldd {}",
                                  quote_shell(host.facts.text("program.path").value_or("PROGRAM")))};
  if (mpich != (vendor != "Open MPI")) {
    return fail(fmt::format("the program takes {}, mpirun is {} {}", *library, vendor, *version),
                fmt::format("a library of {}", vendor),
                "the ranks do not find each other: each becomes rank 0 of 1, and the job runs as many times "
                "as it has ranks",
                remedy);
  }
  const std::string release = release_of_library(number);
  if (!release.empty() && release != minor_version(*version)) {
    return warn(fmt::format("the program takes {} (Open MPI {}), mpirun is {}", *library, release, *version),
                fmt::format("a library of Open MPI {}", minor_version(*version)),
                "starting across releases is not promised to work: at times the ranks do not find each other",
                remedy);
  }
  return pass(fmt::format("{} under {} {}", *library, vendor, *version));
}

std::vector<Finding> check_library(const CheckInput& input) {
  if (input.job.program.empty())
    return single_finding("MPI-02", skip("no program was named (-- PROGRAM ...)"));
  return evaluate_each(input, "MPI-02", evaluate_library, "programs");
}

bool wants_gpu_buffers(const Job& job) {
  return std::any_of(job.environment.begin(), job.environment.end(), [](const auto& variable) {
    const bool asks = variable.first == "OMPI_MCA_opal_cuda_support" ||
                      variable.first == "OMPI_MCA_mpi_cuda_support" || variable.first == "MV2_USE_CUDA";
    return asks ? variable.second == "1" || variable.second == "true"
                : variable.first == "UCX_TLS" && variable.second.find("cuda") != std::string::npos;
  });
}

std::vector<Finding> check_gpu_buffers(const CheckInput& input) {
  const bool asked = wants_gpu_buffers(input.job);
  return evaluate_each(
      input, "MPI-03",
      [&](const HostReport& host) {
        const auto support = text_of(host, "mpi.cuda_support");
        if (!support) return skip(host.facts.why_missing("mpi.cuda_support"));
        if (*support == "true" || !asked)
          return pass(*support == "true"
                          ? "built with CUDA"
                          : "built without CUDA; nothing shows that GPU memory goes through MPI");
        return warn("this Open MPI was built without CUDA",
                    "mpi_built_with_cuda_support true, as the settings of the job ask",
                    "a rank that hands GPU memory to MPI ends with a segmentation fault",
                    {{},
                     false,
                     false,
                     "an Open MPI built with --with-cuda, or copy through host memory; ompi_info --parsable "
                     "--all | grep mpi_built_with_cuda_support:value"});
      },
      "mpi-details");
}

CheckResult evaluate_pmi(const CheckInput& input) {
  if (input.job.allocation_source != "SLURM_JOB_NODELIST" &&
      !text_of(input.driver_host, "environment.SLURM_JOB_ID"))
    return skip("not inside a Slurm job");
  const auto kinds = input.driver_host.facts.list("scheduler.slurm.mpi");
  if (kinds.empty()) return skip(input.driver_host.facts.why_missing("scheduler.slurm.mpi"));
  const auto has = [&](std::string_view start) {
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](std::string_view kind) { return kind.starts_with(start); });
  };
  if (has("pmix")) return pass("srun supports pmix");
  const Remedy remedy{{"mpirun hostname"},
                      false,
                      true,
                      "launch with mpirun, as ddlrun does, not with srun PROGRAM; or let the administrator "
                      "install Slurm's pmix plug-in"};
  if (text_of(input.driver_host, "mpi.program.mpirun"))
    return pass("srun does not support pmix, but mpirun is there and needs none");
  CheckResult result = warn("srun supports pmi2 but not pmix", "pmix",
                            "Open MPI 4 and 5 started by srun come up as rank 0 of 1 each", remedy);
  if (!has("pmi2")) result.verdict = Verdict::fail;
  return result;
}

std::vector<Finding> check_pmi(const CheckInput& input) {
  return single_finding("MPI-05", evaluate_pmi(input));
}

CheckResult evaluate_root(const CheckInput& input) {
  const auto uid = input.driver_host.facts.number("environment.uid");
  if (!uid) return skip(input.driver_host.facts.why_missing("environment.uid"));
  if (*uid != 0) return pass(fmt::format("user id {}", *uid));
  if (!starts_ranks(input.job)) return skip("no job was named; as root, mpirun would refuse one");
  if (!text_of(input.driver_host, "mpi.program.mpirun") || mpi_vendor(input.driver_host) != "Open MPI")
    return skip("user id 0, but no mpirun of Open MPI here that would refuse it");
  if (input.driver_host.facts.is("environment.root_allowed", "yes"))
    return pass("user id 0, allowed by OMPI_ALLOW_RUN_AS_ROOT and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM");
  return fail("user id 0", "another user",
              "mpirun refuses: \"mpirun has detected an attempt to run as root\"",
              {{"export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
               false,
               true,
               "better run it as a user; in a container where only root exists, these two variables or "
               "ddlrun launch --allow-run-as-root"});
}

std::vector<Finding> check_root(const CheckInput& input) {
  return single_finding("MPI-09", evaluate_root(input));
}

CheckResult evaluate_signals(const CheckInput& input) {
  constexpr std::uint64_t longest_wait = 1;  // Open MPI's own default, seconds
  if (input.job.checkpoint_dir.empty()) return skip("no checkpoint directory was named");
  const auto set = input.job.environment.find("OMPI_MCA_odls_base_sigkill_timeout");
  const auto wait =
      set == input.job.environment.end() ? std::optional(longest_wait) : parse_unsigned(set->second);
  if (wait && *wait > longest_wait) {
    return warn(
        fmt::format("OMPI_MCA_odls_base_sigkill_timeout={}", *wait), "1 s, the default",
        "mpirun sleeps that long before it passes TERM on, not after: the warning comes later, not the end",
        {{"unset OMPI_MCA_odls_base_sigkill_timeout"},
         false,
         true,
         "to save on the way out, have the scheduler send USR1 minutes before the end: ranks get about 1 s "
         "after TERM"});
  }
  const auto kill_wait = input.driver_host.facts.number("scheduler.slurm.kill_wait");
  return skip(
      fmt::format("how long a checkpoint takes is not known yet; after TERM mpirun leaves ranks about 1 s{}",
                  kill_wait ? fmt::format(", Slurm {} s until KILL", *kill_wait) : ""));
}

std::vector<Finding> check_signals(const CheckInput& input) {
  return single_finding("MPI-10", evaluate_signals(input));
}

}  // namespace

std::span<const Check> mpi_checks() {
  static constexpr std::array<Check, 5> table{{
      {"MPI-02", "the program's own MPI", Level::quick, Place::host,
       "A program linked with another MPI than mpirun's runs N times alone instead of once with N ranks.",
       "DT_NEEDED of the program, searched as the loader does, against mpirun's vendor and release. pass: "
       "same release; warn: another release of Open MPI; fail: another vendor. Scripts and Python are "
       "skipped.",
       "Build with the mpicc beside mpirun, or load the other module.", check_library},
      {"MPI-03", "MPI with CUDA", Level::full, Place::host,
       "GPU memory given to an MPI without CUDA support ends in a segmentation fault.",
       "ompi_info --parsable --all, where there is an NVIDIA device. pass: built with CUDA, or the job does "
       "not ask for it; warn: requested by OMPI_MCA_opal_cuda_support, UCX_TLS or MV2_USE_CUDA and not built "
       "in.",
       "A CUDA-aware build, or copies through host memory.", check_gpu_buffers},
      {"MPI-05", "Slurm's way to start ranks", Level::quick, Place::driver_host,
       "Open MPI started by srun needs Slurm's pmix plug-in; without it each rank is alone.",
       "srun --mpi=list inside a Slurm job. pass: pmix, or mpirun is there; warn: only pmi2; fail: neither.",
       "Launch with mpirun, or have the plug-in installed.", check_pmi},
      {"MPI-09", "not as root", Level::quick, Place::driver_host,
       "mpirun refuses to start as root unless two variables allow it.",
       "The user id on the driver host and OMPI_ALLOW_RUN_AS_ROOT(_CONFIRM), when a job was named. pass: "
       "another "
       "user, or allowed; fail: root.",
       "Run as a user.", check_root},
      {"MPI-10", "time to save before the end", Level::quick, Place::driver_host,
       "mpirun gives ranks about one second between TERM and KILL: too short for a checkpoint.",
       "OMPI_MCA_odls_base_sigkill_timeout and slurm.conf's KillWait, when a checkpoint directory was named. "
       "warn: a timeout above 1 s, which delays TERM itself; otherwise skipped until a checkpoint's time is "
       "known.",
       "Have USR1 sent early, at twice the time of a checkpoint.", check_signals},
  }};
  return table;
}

}  // namespace ddlrun::doctor
