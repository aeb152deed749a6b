// SPDX-License-Identifier: MIT
#include "launch/plan/choose_program.hpp"

#include "base/os/host_info.hpp"
#include "base/os/nearest_file.hpp"
#include "base/os/program_path.hpp"
#include "base/text/error.hpp"
#include "base/text/interpreter.hpp"
#include "base/text/secret_name.hpp"
#include "base/text/text.hpp"
#include "launch/frameworks/detect.hpp"
#include "launch/rank/exports.hpp"

#include <fmt/format.h>

namespace ddlrun::launch {

namespace {

constexpr std::string_view trainer = "ddl-train";

std::string find_trainer(System& system) {
  const std::string here = directory_of(system.environment.executable);
  const std::string name(trainer);
  for (const std::string& path : {here + "/" + name, here + "/../runtime/" + name}) {
    if (system.files.exists(path)) return path;
  }
  std::string found = find_program(system, name);
  if (!found.empty()) return found;
  throw Error(ErrorKind::request,
              {"the bundled trainer ddl-train was not found", fmt::format("{0}, {0}/../runtime, PATH", here),
               "name your own: ddlrun launch 2 -- ./my_mpi_program; or build with "
               "-DDDLRUN_RUNTIME=ON"});
}

std::string this_host_name(const System& system) {
  const std::string& name = system.environment.host_name;
  return name.empty() ? "this host" : printable(name, 80);
}

// Where a file that is not there was looked for.
std::string place_of_file(const System& system, const std::string& path) {
  return path.starts_with('/') ? directory_of(path) : system.environment.workdir;
}

// "train.py" is looked for in PATH, where no script of a user is.
std::string remedy_for_unknown_program(System& system, const std::string& name) {
  if (system.files.exists(name)) return render_script_start(name);
  if (std::string python = remedy_for_missing_python(system, name); !python.empty()) return python;
  if (const auto near = nearest_program(system, name)) return *near + "   # did you mean this?";
  if (const auto near = nearest_file(system, name))
    return render_script_start(*near) + "   # did you mean this?";
  return fmt::format("DIRECTORY/{0}, or export PATH=DIRECTORY:$PATH   # where {0} is",
                     printable(quote_shell(name), 60));
}

// Named itself, for a training and not for another of its commands.
bool is_named_trainer(System& system, const Command& words) {
  const bool trains = words.size() > 1 && (words[1].starts_with('-') || words[1] == "train");
  return trains && base_name(words[0]) == trainer && !find_program(system, words[0]).empty();
}

// "FOO=1 ./train", as a shell reads it.
void check_no_assignment(const Command& words) {
  std::vector<std::string> options, names;
  std::size_t at = 0;
  for (; at < words.size(); ++at) {
    const std::string name = words[at].substr(0, words[at].find('='));
    if (name.size() == words[at].size() || !is_variable_name(name)) break;
    names.push_back(name);
    options.push_back("-x " + (is_secret_name(name) ? name : quote_shell(words[at])));
  }
  if (names.empty()) return;
  const Command program(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  throw Error(
      ErrorKind::usage,
      {fmt::format("{} before the program: no shell reads these words", join(names, ", ")), "after --",
       fmt::format("ddlrun launch ... {} -- {}", join(options, " "),
                   program.empty() ? "./program" : printable(render_shell(program), 200))});
}

// The ranks would run it by the shell, which takes "import" for a command.
void check_python_line(System& system, const std::string& path, const std::string& place) {
  if (!would_run_by_shell(system, path)) return;
  throw Error(ErrorKind::request,
              {fmt::format("'{}' has no #! line: the shell would run it, not Python", printable(path, 120)),
               place, "python3 " + quote_shell(path)});
}

// A script without its x, a directory: each rank would only find out for itself.
void check_may_run(System& system, const std::string& path, const std::string& place) {
  if (system.kernel == nullptr) return;
  const auto info = system.kernel->file_info(path, true);
  if (!info) return;
  if (info->kind == FileInfo::Kind::file && (info->mode & 0111U) != 0)
    return check_python_line(system, path, place);
  const std::string name = printable(path, 120), word = quote_shell(path);
  if (info->kind == FileInfo::Kind::directory)
    throw Error(ErrorKind::request,
                {fmt::format("'{}' is a directory, not a program", name), place,
                 fmt::format("-- --data {}   # if the bundled trainer is to train on images there", word)});
  if (info->kind != FileInfo::Kind::file)
    throw Error(ErrorKind::request, {fmt::format("'{}' is no file", name), place, "ls -l " + word});
  const bool is_python = path.ends_with(".py");
  throw Error(ErrorKind::request,
              {fmt::format("'{}' is not executable", name), place,
               is_python ? "python3 " + word + ", or chmod +x " + word : "chmod +x " + word});
}

// "python train.py": otherwise only the ranks would report a misspelt name.
void check_script(System& system, const Command& words) {
  const auto at = find_script(words);
  if (!at || *at == 0 || words[*at].empty() || system.files.exists(words[*at])) return;
  throw Error(
      ErrorKind::request,
      {fmt::format("the script '{}' was not found on {}", printable(words[*at], 120), this_host_name(system)),
       place_of_file(system, words[*at]), remedy_for_missing_file(system, words[*at])});
}

}  // namespace

ChosenProgram choose_program(System& system, const std::vector<std::string>& words, bool must_exist) {
  const bool is_trainer = words.empty() || words[0].starts_with('-');
  if (is_trainer) {
    Command command{find_trainer(system)};
    command.insert(command.end(), words.begin(), words.end());
    return {command, true};
  }
  if (words[0].empty()) {
    throw Error(ErrorKind::usage,
                {"the program's name is empty", "after --", "ddlrun launch 2 -- ./my_mpi_program"});
  }
  if (must_exist) {
    check_no_assignment(words);
    check_program(system, words[0]);
    check_script(system, words);
  }
  return {words, false};
}

bool has_trainer(System& system) {
  try {
    return !find_trainer(system).empty();
  } catch (const Error&) {
    return false;
  }
}

void check_program(System& system, const std::string& name, const std::string& place) {
  const std::string found = find_program(system, name);
  if (!found.empty() && name.find('/') == std::string::npos) return;  // others in PATH may do
  if (!found.empty()) return check_may_run(system, found, place);
  const bool has_slash = name.find('/') != std::string::npos;
  const std::string directory = has_slash ? place_of_file(system, name) : "PATH";
  throw Error(
      ErrorKind::request,
      {fmt::format("the program '{}' was not found on {}", printable(name, 120), this_host_name(system)),
       place.empty() ? directory : fmt::format("{}; {}", place, directory),
       has_slash ? remedy_for_missing_executable(system, name) : remedy_for_unknown_program(system, name)});
}

void check_shared_program(System& system, const std::vector<std::string>& words) {
  if (words.empty() || words[0].find('/') == std::string::npos || !system.files.exists(words[0])) return;
  const auto first_part = [](const std::string& path) { return path.substr(0, path.find('/', 1)); };
  const bool is_shared =
      !words[0].starts_with('/') || first_part(words[0]) == first_part(system.environment.workdir);
  if (is_shared) check_may_run(system, words[0], {});
}

int check_trainer_options(System& system, const ChosenProgram& program, std::size_t ranks, bool files_count) {
  if (program.command.size() < 2 || !(program.is_trainer || is_named_trainer(system, program.command)))
    return 0;
  Command command{program.command[0], "check-options", std::to_string(ranks)};
  command.insert(command.end(), program.command.begin() + 1, program.command.end());
  return run_option_check(system, command, files_count);
}

int run_option_check(System& system, const Command& command, bool files_count) {
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(20);
  const ProcessResult result = system.processes.run(command, limits);
  // Any other status is not about options: the ranks report it where they run.
  const int usage = exit_code(ErrorKind::usage), request = exit_code(ErrorKind::request);
  const bool refused = result.exit_status == usage || (result.exit_status == request && files_count);
  if (!refused || result.err.empty()) return 0;
  system.pass(result.err);
  return result.exit_status;
}

void check_not_root(const Environment& environment, bool allowed) {
  if (!environment.is_root || allowed) return;
  const bool by_variables = environment.variables.count("OMPI_ALLOW_RUN_AS_ROOT") != 0 &&
                            environment.variables.count("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") != 0;
  if (by_variables) return;
  throw Error(ErrorKind::request,
              {"mpirun refuses to run as root, because a mistake in a job then hits the whole machine",
               "user id 0", "run it as another user, or add --allow-run-as-root"});
}

}  // namespace ddlrun::launch
