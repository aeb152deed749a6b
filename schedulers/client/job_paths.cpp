// SPDX-License-Identifier: MIT
#include "schedulers/client/job_paths.hpp"

#include "base/os/host_info.hpp"
#include "base/os/nearest_file.hpp"
#include "base/os/program_path.hpp"
#include "base/text/interpreter.hpp"
#include "base/text/text.hpp"
#include "schedulers/client/job_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ddlrun::schedulers {

namespace {

// "/scratch" of "/scratch/me/run": what stands on one file tree.
std::string first_part(const std::string& path) { return path.substr(0, path.find('/', 1)); }

// python3.9 is no slip of python3.11: the nodes may have another version.
bool differs_by_version(std::string_view one, std::string_view other) {
  const auto letters = [](std::string_view name) {
    std::string kept(name);
    std::erase_if(kept, [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; });
    return kept;
  };
  return letters(one) == letters(other);
}

// "pyhton3": two letters changed places, or one of a long name is wrong or missing. lmp is not lp, nor pw.x
// ph.x, nor gmx_mpi_d gmx_mpi: the nodes may have programs that this host lacks.
bool is_clear_slip(std::string_view typed, std::string_view name) {
  constexpr std::size_t long_name = 6;
  std::string one(typed), other(name);
  std::ranges::sort(one);
  std::ranges::sort(other);
  if (one == other) return true;
  return std::min(typed.size(), name.size()) >= long_name && edit_distance(typed, name) == 1 &&
         typed.find('.') == std::string_view::npos && !typed.starts_with(name) && !name.starts_with(typed);
}

class PathChecker {
 public:
  PathChecker(System& system, const JobRequest& wanted)
      : system_(system), wanted_(wanted), job_(wanted.parsed.job) {}

  JobPathReport check() {
    if (!check_workdir()) return std::move(report_);
    if (!job_.container) check_program();
    if (!job_.venv.empty()) check_path("venv", job_.venv, job_.venv + "/bin/activate");
    if (job_.conda.find('/') != std::string::npos) check_path("conda", job_.conda, job_.conda);
    check_container();
    if (job_.data) check_path("data", job_.data->from, job_.data->from);
    if (!job_.output.empty()) check_output();
    return std::move(report_);
  }

 private:
  std::string origin(const std::string& key) const {
    const auto found = wanted_.settings.find(key);
    return found == wanted_.settings.end() ? key : found->second.origin;
  }
  std::string absolute(const std::string& path) const {
    return path.starts_with('/') ? path : job_.workdir + "/" + path;
  }
  bool is_shared(const std::string& path) const {
    if (job_.scheduler == SchedulerKind::local && job_.hosts.empty()) return true;
    const std::string home = system_.environment.get("HOME");
    const std::string part = first_part(absolute(path));
    return !path.starts_with('/') || part == first_part(job_.workdir) ||
           (home.starts_with('/') && path.starts_with(home + "/"));
  }
  bool may_appear() const { return !job_.setup.empty() || !job_.dependencies.empty(); }

  void add(const std::string& key, const std::string& path, const std::string& what,
           const std::string& hint) {
    if (is_shared(path) && !may_appear())
      report_.errors.push_back({what, origin(key), hint});
    else
      report_.warnings.push_back(
          what + (may_appear() ? "; it must exist when the job starts" : "; the nodes must have it"));
  }
  void check_path(const std::string& key, const std::string& named, const std::string& needed) {
    if (named.empty() || system_.files.exists(absolute(needed))) return;
    add(key, named, fmt::format("{} {} does not exist", key, printable(absolute(needed), 200)),
        "ls " + quote_shell(directory_of(absolute(named))) + "   # what is there");
  }

  // submit writes the job's files below it, and would make it.
  bool check_workdir() {
    if (system_.files.exists(job_.workdir)) return true;
    report_.errors.push_back(
        {fmt::format("the working directory {} does not exist", printable(job_.workdir, 200)),
         origin("workdir"), "mkdir -p " + quote_shell(job_.workdir)});
    return false;
  }

  void check_program() {
    const Command& program = job_.program;
    if (program.empty() || program[0].starts_with('-')) return;
    const std::string& name = program[0];
    if (name.find('/') != std::string::npos)
      check_file("the program", name, true);
    else if (job_.modules.empty() && job_.conda.empty() && job_.venv.empty() &&
             find_program(system_, name).empty())
      warn_of_program(name);
    const auto script = find_script(program);
    if (script && *script > 0) check_file("the script", program[*script], false);
  }
  void warn_of_program(const std::string& name) {
    if (system_.files.exists(absolute(name))) {
      add("program", name,
          fmt::format("the program {} is a file of this directory, not of PATH", printable(name, 120)),
          render_script_start(name));
      return;
    }
    const auto near = nearest_program(system_, name);
    const std::string what =
        fmt::format("the program {} is not in PATH here", printable(quote_shell(name), 120));
    const bool has_path = std::ranges::any_of(
        job_.environment, [](const std::string& one) { return one == "PATH" || one.starts_with("PATH="); });
    const bool may_come =
        may_appear() || has_path || !wanted_.site.preamble.empty() || !job_.script_template.empty();
    if (near && !may_come && !differs_by_version(name, *near) && is_clear_slip(name, *near))
      report_.errors.push_back(
          {what, origin("program"),
           *near + "   # did you mean this? A program that only the nodes have is named by its whole path"});
    else
      report_.warnings.push_back(what + "; the nodes must have it" +
                                 (near ? "; did you mean " + *near + "?" : ""));
  }
  void check_file(std::string_view what, const std::string& name, bool runs) {
    const std::string path = absolute(name);
    if (!system_.files.exists(path)) {
      add("program", name, fmt::format("{} {} does not exist", what, printable(path, 200)),
          runs ? remedy_for_missing_executable(system_, path) : remedy_for_missing_file(system_, path));
      return;
    }
    const auto info = system_.kernel == nullptr ? std::nullopt : system_.kernel->file_info(path, true);
    if (!info) return;
    const bool is_file = info->kind == FileInfo::Kind::file;
    if (is_file && (!runs || (info->mode & 0111U) != 0)) {
      if (runs && would_run_by_shell(system_, path))
        add("program", name,
            fmt::format("{} {} has no #! line: the shell would run it, not Python", what,
                        printable(path, 200)),
            "python3 " + quote_shell(name));
      return;
    }
    add("program", name,
        fmt::format("{} {} is {}", what, printable(path, 200), is_file ? "not executable" : "no file"),
        !is_file                ? "ls -l " + quote_shell(path)
        : name.ends_with(".py") ? fmt::format("python3 {0}, or chmod +x {0}", quote_shell(name))
                                : "chmod +x " + quote_shell(path));
  }

  void check_container() {
    if (!job_.container || job_.container->image.find("://") != std::string::npos) return;
    const std::string& image = job_.container->image;
    if (image.find('/') != std::string::npos || image.ends_with(".sif"))
      check_path("container", image, image);
  }

  // Slurm and PBS make no directory for the log: the job fails without a word. Its own `setup` comes too
  // late.
  void check_output() {
    const std::string directory = directory_of(absolute(job_.output));
    if (directory.find('%') != std::string::npos || system_.files.exists(directory)) return;
    const std::string what =
        fmt::format("the output's directory {} does not exist", printable(directory, 200));
    if (is_shared(job_.output) && job_.dependencies.empty())
      report_.errors.push_back({what, origin("output"), "mkdir -p " + quote_shell(directory)});
    else
      report_.warnings.push_back(what + (job_.dependencies.empty() ? "; the nodes must have it"
                                                                   : "; it must exist when the job starts"));
  }

  System& system_;
  const JobRequest& wanted_;
  const JobSpec& job_;
  JobPathReport report_;
};

}  // namespace

JobPathReport check_job_paths(System& system, const JobRequest& wanted) {
  return PathChecker(system, wanted).check();
}

}  // namespace ddlrun::schedulers
