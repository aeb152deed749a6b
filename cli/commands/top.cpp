// SPDX-License-Identifier: MIT
// `ddlrun top [RUN]`: how the ranks of a run stand, on a screen that is drawn again and again, or as lines.
#include "base/os/terminal.hpp"
#include "base/text/error.hpp"
#include "base/text/parse_enum.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/run_ids.hpp"
#include "launch/history/run_store.hpp"
#include "launch/top/top_view.hpp"
#include "schedulers/client/job_query.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>

namespace ddlrun::cli {

using namespace launch;

namespace {

constexpr std::string_view top_examples =
    R"(  ddlrun top                  # the newest run or job, until it ends; q quits
  ddlrun top 1234             # of job 1234, from the login node; of an array, a task: 1234_2
  ddlrun top --sort cpu 20261121-03
  ddlrun top --once last      # one picture as plain lines
  ddlrun top --interval 60 last > usage.log   # lines once a minute, until the run ends)";

constexpr std::string_view top_notes =
    R"(For each rank: host, planned cores, state, use of its cores, memory, bytes read and written, how long it
has waited and in what, and its last line of output where launch reads that. Of a run that stands still,
launch's report of that is shown, and > marks the ranks that it names. Ranks report each 2 s; more than
8,192 of them less often. Where stdout is no terminal, one picture is printed, and with --interval one
after another. Of a run that is over, the last state is printed. With more ranks than lines, those come
first that failed, are stopped or silent, or do what few of the others do.
Keys: q quits; t, r, c, m and w sort.)";

struct TopOptions {
  std::string run;
  std::string sort;
  std::string interval;
  bool once = false;
};

TopOrder parse_order(const std::string& word) {
  if (word.empty()) return TopOrder::automatic;
  return parse_enum<TopOrder>("--sort", word,
                              {{"telling", TopOrder::telling},
                               {"rank", TopOrder::rank},
                               {"cpu", TopOrder::cpu},
                               {"mem", TopOrder::memory},
                               {"wait", TopOrder::wait}});
}

std::chrono::seconds parse_interval(const std::string& word) {
  constexpr std::uint64_t most_seconds = 86400;
  const auto seconds = parse_unsigned(word.empty() ? "2" : word, most_seconds);
  if (seconds.value_or(0) == 0)
    throw Error(ErrorKind::usage,
                {fmt::format("--interval must be a number of seconds from 1 to {}, not '{}'", most_seconds,
                             printable(word, 40)),
                 "--interval", "--interval 10"});
  return std::chrono::seconds(*seconds);
}

std::string find_top_directory(System& system, const std::string& given) {
  const std::string word = given.empty() ? "last" : given;
  if (const std::string run = find_meant(system, word, PlainJob::passed_over).run; !run.empty())
    return find_run_directory(system, run);
  if (word != "last") return find_run_or_job(system, word, "ddlrun top");
  const auto job = schedulers::find_remembered_job(system, "last");
  return find_run_or_job(system, job ? job->id : word, "ddlrun top");
}

// launch writes the first state as soon as it has started the launcher. A signal that came meanwhile, or 0.
int wait_for_state(System& system, TopReader& reader) {
  constexpr int most_pauses = 15;
  const TopInput& input = reader.read();
  for (int i = 0; i < most_pauses && !input.usage && input.state == RunState::running; ++i) {
    if (const int signal = system.clock.pause(std::chrono::milliseconds(200)); signal != 0) return signal;
    reader.read();
  }
  return 0;
}

void print_lines(System& system, const TopInput& input, TopLook look) {
  if (system.environment.stdout_is_terminal && system.terminal != nullptr)
    look.columns = static_cast<std::size_t>(system.terminal->size().columns);
  std::string text;
  for (const std::string& line : render_top(input, look)) text += line + "\n";
  system.out(text);
}

int repeat_lines(System& system, TopReader& reader, const TopLook& look, std::chrono::seconds interval) {
  const TopInput& input = reader.input();
  print_lines(system, input, look);
  while (!input.is_over()) {
    if (const int signal = system.clock.pause(interval); signal != 0) return 128 + signal;
    reader.read();
    system.out("\n");
    print_lines(system, input, look);
  }
  return 0;
}

// Gives the terminal back on every way out.
struct OpenScreen {
  Terminal& terminal;
  ~OpenScreen() { terminal.close(); }
};

TopOrder order_of_key(char key, TopOrder now) {
  switch (key) {
    case 't':
      return TopOrder::telling;
    case 'r':
      return TopOrder::rank;
    case 'c':
      return TopOrder::cpu;
    case 'm':
      return TopOrder::memory;
    case 'w':
      return TopOrder::wait;
    default:
      return now;
  }
}

// Until the run ends, or a key or a signal ends it: the exit status.
int watch(System& system, TopReader& reader, TopLook look, std::chrono::seconds interval) {
  const TopLook plain = look;
  {
    Terminal& terminal = *system.terminal;
    const OpenScreen screen{terminal};
    look.keys = true;
    look.colour = system.environment.wants_colour(true);
    const TopInput& input = reader.input();
    auto next = system.clock.steady() + interval;
    while (true) {
      const TerminalSize size = terminal.size();
      look.columns = static_cast<std::size_t>(size.columns);
      look.rows = static_cast<std::size_t>(size.rows);
      terminal.draw(render_top(input, look));
      if (input.is_over()) break;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - system.clock.steady());
      const TerminalEvent event = terminal.wait(std::max(left, std::chrono::milliseconds(0)));
      if (event.signal != 0) return 128 + event.signal;
      for (const char key : event.keys) {
        if (key == 'q' || key == 'Q') return 0;
        look.order = order_of_key(key, look.order);
      }
      const auto now = system.clock.steady();
      if (now < next) continue;
      reader.read();
      next = now + interval;
    }
  }
  print_lines(system, reader.read(), plain);
  return 0;
}

int run_top(System& system, const TopOptions& options) {
  TopLook look;
  look.order = parse_order(options.sort);
  const std::chrono::seconds interval = parse_interval(options.interval);
  if (options.once && !options.interval.empty())
    throw Error(ErrorKind::usage, {"--once and --interval conflict", "", "--once alone"});
  const std::string directory = find_top_directory(system, options.run);
  TopReader reader(system, directory);
  if (const int signal = wait_for_state(system, reader); signal != 0) return 128 + signal;
  const TopInput& input = reader.input();
  if (!input.usage)
    throw Error(ErrorKind::request,
                {"launch keeps no state of the ranks of this run: it was started with --no-monitor, or an "
                 "--mpi-arg redirects their stderr, or it had ended before a rank started",
                 directory, "ddlrun history; ddlrun report " + quote_shell(printable(input.run.id, 80))});
  const bool is_screen = !options.once && !input.is_over() && system.environment.stdout_is_terminal &&
                         system.terminal != nullptr && system.terminal->open();
  if (is_screen) return watch(system, reader, look, interval);
  const bool repeats = !options.interval.empty() || (!options.once && system.environment.stdout_is_terminal);
  if (repeats && !input.is_over()) return repeat_lines(system, reader, look, interval);
  print_lines(system, input, look);
  return 0;
}

}  // namespace

Subcommand top_command() {
  Subcommand command;
  command.name = "top";
  command.summary = "show what each rank does while a run goes on: state, CPU, memory, waits";
  command.examples = top_examples;
  command.notes = top_notes;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<TopOptions>();
    app.add_option(
        "RUN", options->run,
        "a run id or its beginning, the id of a job (2, 9_1), a run directory, or last (the default)");
    app.add_option("--sort", options->sort, "order of the ranks; default: rank, or telling where not all fit")
        ->type_name("telling|rank|cpu|mem|wait");
    app.add_option("--interval", options->interval, "draw or print each N seconds (2)")->type_name("N");
    app.add_flag("--once", options->once, "print one picture as plain lines");
    return [options](System& system) { return run_top(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
