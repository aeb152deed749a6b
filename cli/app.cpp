// SPDX-License-Identifier: MIT
#include "cli/app.hpp"

#include "base/os/program_path.hpp"
#include "base/os/tracing_system.hpp"
#include "base/text/colour.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/command.hpp"
#include "cli/completion.hpp"
#include "cli/describe_command.hpp"
#include "cli/foreign_options.hpp"
#include "cli/forgotten_dashes.hpp"
#include "cli/help_formatter.hpp"
#include "cli/program_reference.hpp"
#include "cli/unknown_words.hpp"
#include "cli/yes_no_options.hpp"
#include "launch/plan/ibm_compat.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>

namespace ddlrun::cli {

using namespace launch;

namespace {

constexpr std::string_view overview_head =
    "ddlrun starts distributed training on clusters and explains why a job failed.\n\n"
    "  ddlrun topo                                  # packages, cores, GPUs, network cards of this machine\n"
    "  ddlrun gen-rankfile 4x2x3 h1,h2,h3,h4,h5,h6  # ranks per host x hosts per rack x racks\n"
    "  ddlrun check-rankfile 4x2x3.rf               # find what Open MPI rejects or silently changes\n"
    "  ddlrun launch 2 -- ./my_mpi_program          # plan, check, run, verify\n"
    "  ddlrun launch                                # the bundled trainer on this machine\n"
    "  ddlrun report last -o run.html               # the last run as one HTML page\n"
    "  ddlrun doctor h1,h2                          # faults of these hosts, and their remedies\n"
    "  ddlrun diagnose job.log                      # the first cause of a failed job\n\n"
    "Commands:\n";

std::string render_overview() {
  std::string text(overview_head);
  for (const Subcommand& command : subcommands()) {
    if (!command.hidden) text += fmt::format("  {:<16} {}\n", command.name, command.summary);
  }
  return text +
         "\nddlrun COMMAND --help describes a command. -v prints each command that ddlrun runs, -q only "
         "errors.\n"
         "Exit status: 0 ok, 1 findings, 2 usage, 3 cannot be met, 4 scheduler, 5 unreachable, 70 bug.\n";
}

std::vector<std::string> visible_names() {
  std::vector<std::string> names{"help", "version"};
  for (const Subcommand& command : subcommands()) {
    if (!command.hidden) names.emplace_back(command.name);
  }
  return names;
}

const Subcommand& find_subcommand(const std::string& name) {
  for (const Subcommand& command : subcommands()) {
    if (command.name == name) return command;
  }
  const auto near = closest_match(name, visible_names());
  throw Error(ErrorKind::usage, {fmt::format("unknown command '{}'", printable(name, 60)), "",
                                 near ? "ddlrun " + *near : "ddlrun --help"});
}

// "-x" or "-vx": the variable is the next word.
bool ends_with_export(const std::string& word) {
  return word.starts_with('-') && !word.starts_with("--") && word.ends_with('x');
}

// Redacts the values of -x: of "-x NAME=value", "-xNAME=value" and "-vx=NAME=value".
Command without_values(Command words) {
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    const bool is_short = words[i].starts_with('-') && !words[i].starts_with("--");
    const std::size_t option = is_short ? words[i].find('x') : std::string::npos;
    if (!ends_with_export(words[i - 1]) && option == std::string::npos) continue;
    const std::size_t equals = words[i].find('=', option == std::string::npos ? 0 : option + 2);
    if (equals != std::string::npos) words[i].replace(equals + 1, std::string::npos, "...");
  }
  return words;
}

ForgottenDashes search_program(System& system, const CLI::App& app, const Command& words) {
  return find_forgotten_dashes(system, app, words, [&](const std::string& word) {
    return !remedy_for_foreign_option(word).empty() || find_meant_option(app, word).has_value();
  });
}

// "launch 2 ./prog": no host and no argument of ddlrun.
void refuse_program_word(System& system, const CLI::App& app, const Command& words) {
  const ForgottenDashes found = search_program(system, app, words);
  if (found.first.empty()) return;
  throw Error(ErrorKind::usage, {fmt::format("'{}' is {}", printable(found.first, 60), found.what), "",
                                 app.get_name() + " " + render_shell(without_values(found.words))});
}

// CLI11's messages lack the place and the remedy.
// Throws CLI11's errors.
void read_words(CLI::App& app, std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());
  app.parse(words);
}

void parse(CLI::App& app, std::vector<std::string> words) {
  accept_launcher_spellings(option_names(app), words);
  complete_yes_no_options(app, words);
  if (starts_ranks(app)) {
    const std::string foreign = find_short_foreign_option(words);
    if (!foreign.empty()) refuse_word(app, foreign, true);
  }
  try {
    read_words(app, words);
  } catch (const CLI::CallForHelp&) {
    throw;
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, {error.what(), "", app.get_name() + " --help"});
  }
}

// "$HOSTS" of an unset variable must not silently select a default.
void refuse_empty_values(const CLI::App& app, std::string_view may_be_empty) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& value : option->results()) {
      if (!value.empty() || option->get_name() == may_be_empty) continue;
      const std::string name = option->get_name();
      throw Error(ErrorKind::usage,
                  {fmt::format("{} was given an empty value", name), "an unset variable, perhaps",
                   fmt::format("give {} a value, or omit it", name)});
    }
  }
}

// A hint of launch may name options that this command lacks; the hint then says so.
std::string name_foreign_options(const CLI::App& app, const std::string& hint) {
  CLI::App launch;
  find_subcommand("launch").setup(launch, {});
  std::vector<std::string> foreign;
  for (std::string_view word : split(hint, ' ')) {
    const std::string name(word.substr(0, word.find_first_of("=,;:")));
    const bool known = std::find(foreign.begin(), foreign.end(), name) != foreign.end();
    if (!known && takes_option(launch, name) && !takes_option(app, name)) foreign.push_back(name);
  }
  if (foreign.empty() || hint.find("ddlrun ") != std::string::npos) return hint;
  return fmt::format("{}   # ddlrun launch takes {}", hint, join(foreign, ", "));
}

int run_with_hints(const Subcommand& command, const CLI::App& app, const Run& run, System& system) {
  if (!command.is_launch) return run(system);
  try {
    return run(system);
  } catch (const Error& error) {
    const Message& message = error.message();
    throw Error(error.kind(), {message.what, message.where, name_foreign_options(app, message.hint)});
  }
}

int run_subcommand(const Subcommand& command, std::vector<std::string> words, System& system) {
  std::vector<std::string> rest;
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end()) {
    rest.assign(dashes + 1, words.end());
    if (rest.empty()) {
      throw Error(ErrorKind::usage, {"no program after '--'", "an unset variable, perhaps",
                                     fmt::format("ddlrun {} -- PROGRAM, or omit '--'", command.name)});
    }
    words.erase(dashes, words.end());
  }
  CLI::App app{std::string(command.summary), fmt::format("ddlrun {}", command.name)};
  GlobalOptions options;
  app.allow_extras();
  declare_global_options(app, options);
  const Run run = command.setup(app, rest);
  if (!rest.empty() && !command.takes_program) refuse_word(app, rest.front(), false);
  refuse_queue_letter(app, words);
  refuse_tee_file(system, app, words, rest);
  try {
    parse(app, words);
    if (command.takes_program && rest.empty()) refuse_program_word(system, app, words);
    const auto unknown = app.remaining();
    if (!unknown.empty()) refuse_word(app, unknown.front(), command.takes_program);
    refuse_empty_values(app, command.may_be_empty);
  } catch (const CLI::CallForHelp&) {
    system.out(render_help(command, app));
    return 0;
  }
  if (options.quiet) {
    if (!system.program_err) system.program_err = system.err;
    system.shown_err = system.err;
    system.err = [loud = system.err](std::string_view text) {
      if (text.find("ddlrun: error: ") != std::string_view::npos) loud(text);
    };
  }
  if (options.verbosity == 0) return run_with_hints(command, app, run, system);
  const Trace trace = [&system](std::string_view line) { system.err(line); };
  TracingProcesses processes(system.processes, trace);
  TracingFiles files(system.files, trace);
  System traced{processes,       files,           system.clock,       system.environment,
                system.out,      system.err,      system.program_err, system.kernel,
                system.terminal, system.shown_err};
  return run_with_hints(command, app, run, traced);
}

// "-v launch 2" is "launch -v 2".
void move_behind_command(std::vector<std::string>& words) {
  const auto is_global = [](const std::string& word) {
    return word == "-v" || word == "--verbose" || word == "-q" || word == "--quiet";
  };
  const auto command = std::find_if_not(words.begin(), words.end(), is_global);
  if (command != words.end()) std::rotate(words.begin(), command, command + 1);
}

// An argument that neither is nor resembles a command, but names a program: "ddlrun python train.py".
bool is_program(System& system, const std::string& word) {
  const auto names = visible_names();
  if (word.starts_with('-') || std::find(names.begin(), names.end(), word) != names.end()) return false;
  return !closest_match(word, names) && !find_program(system, word).empty();
}

// "ddlrun test ckpt/best": a command of ddl-train, also where the system has a program of that name.
void refuse_trainer_command(const Command& words) {
  constexpr std::array alone{"check-options", "convert-data", "predict", "print-net",
                             "read-data",     "test",         "timeline"};
  constexpr std::array on_ranks{"allreduce", "train"};
  const std::string& name = words[0];
  const bool starts_ranks = std::ranges::find(on_ranks, name) != on_ranks.end();
  if (!starts_ranks && std::ranges::find(alone, name) == alone.end()) return;
  const bool has_options = words.size() > 1 && words[1] != "--help" && words[1] != "-h";
  std::string hint = "ddl-train " + render_shell(has_options ? words : Command{name, "--help"});
  if (starts_ranks && has_options) hint = "ddlrun launch 2 -- " + hint;
  if (name == "train" && !has_options)
    hint = "ddlrun launch 2 -- --data PATH   # starts ddl-train on 2 ranks";
  throw Error(ErrorKind::usage,
              {fmt::format("'{}' is a command of ddl-train, not of ddlrun", name), "", std::move(hint)});
}

// Translates the command line of IBM's ddlrun, and prints the translation.
void translate_ibm_words(std::vector<std::string>& words, System& system) {
  std::vector<std::string> names = visible_names();
  for (const Subcommand& command : subcommands()) names.emplace_back(command.name);
  const auto ours =
      launch::translate_ibm_command(words, names, is_program(system, words[0]), system.environment.variables);
  if (!ours) return;
  system.err("ddlrun: IBM's command line as ddlrun's: ddlrun " + render_shell(without_values(ours->words)) +
             "\n");
  if (!ours->dropped.empty())
    system.err(fmt::format("ddlrun: dropped, as meant for Spectrum MPI: {}\n",
                           printable(join(ours->dropped, ", "), 200)));
  words = ours->words;
}

// "ddlrun -np 4 -H a:2,b:2 python3 train.py": launch's options, without its name.
void refuse_forgotten_launch(System& system, const Command& words) {
  if (!words[0].starts_with('-')) return;
  CLI::App app{"", "ddlrun launch"};
  app.allow_extras();
  GlobalOptions options;
  declare_global_options(app, options);
  const Run owner = find_subcommand("launch").setup(app, {});  // of the values
  Command line = words;
  try {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    Command own(words.begin(), dashes);
    accept_launcher_spellings(option_names(app), own);
    read_words(app, own);
    const ForgottenDashes found = search_program(system, app, Command(words.begin(), dashes));
    if (dashes == words.end() && !found.first.empty()) line = found.words;
    if (!app.remaining().empty() && app.remaining()[0].starts_with('-')) return;
  } catch (const CLI::Error&) {
    return;  // not launch's options either
  }
  throw Error(ErrorKind::usage,
              {fmt::format("'{}' is an option of launch", printable(words[0], 60)), "before the command",
               "ddlrun launch " + render_shell(without_values(line))});
}

int dispatch(std::vector<std::string> words, System& system) {
  // Before anything is read from the words: they are what a user has typed so far.
  if (!words.empty() && words[0] == "__complete")
    return run_completion(system, {words.begin() + 1, words.end()});
  if (words == std::vector<std::string>{"__reference"}) {
    system.out(render_program_reference_json());
    return 0;
  }
  move_behind_command(words);
  if (words.empty()) {
    system.err(render_overview());
    return 2;
  }
  if (words[0] == "--help" || words[0] == "-h" || (words[0] == "help" && words.size() == 1)) {
    system.out(render_overview());
    return 0;
  }
  if (words[0] == "--version" || words[0] == "version") {
    system.out("ddlrun " DDLRUN_VERSION "\n");
    return 0;
  }
  if (words[0] == "help") words = {words[1], "--help"};
  refuse_trainer_command(words);
  translate_ibm_words(words, system);
  refuse_forgotten_launch(system, words);
  const Subcommand& command = find_subcommand(words[0]);
  return run_subcommand(command, {words.begin() + 1, words.end()}, system);
}

}  // namespace

int run_app(const std::vector<std::string>& arguments, System system) {
  if (system.environment.wants_colour(system.environment.stderr_is_terminal)) {
    if (!system.program_err) system.program_err = system.err;
    system.err = [raw = system.err](std::string_view text) { raw(colour_messages(text)); };
  }
  const auto err = system.err;
  try {
    return dispatch(arguments, system);
  } catch (const Error& error) {
    err(render_error("ddlrun", error.message()));
    return exit_code(error.kind());
  } catch (const std::exception& error) {
    // GCC 12.2 does not choose a handler for bad_alloc that stands before this one.
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
      err(render_error(
          "ddlrun", {"not enough memory", "ulimit -v", "free -m; ulimit -a   # more memory for this job"}));
      return exit_code(ErrorKind::request);
    }
    err(render_error("ddlrun", {fmt::format("a bug of ddlrun: {}", error.what()), "",
                                "the same command with -v, and report both outputs"}));
    return exit_code(ErrorKind::internal);
  } catch (...) {
    err(render_error("ddlrun", {"a bug of ddlrun: an unknown exception", "",
                                "the same command with -v, and report both outputs"}));
    return exit_code(ErrorKind::internal);
  }
}

}  // namespace ddlrun::cli
