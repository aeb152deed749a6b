// SPDX-License-Identifier: MIT
// `ddlrun agent`: what doctor runs on each host. It says that it is the wanted build, reads one question from
// stdin, and answers one line of JSON.
#include "doctor/gather/agent.hpp"

#include "base/os/self_executable.hpp"
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>

namespace ddlrun::cli {

namespace {

std::int64_t now_us(System& system) {
  return std::chrono::duration_cast<std::chrono::microseconds>(system.clock.now().time_since_epoch()).count();
}

std::string read_question(System& system) {
  std::string text;
  system.files.read_blocks("-", [&](std::string_view block) {
    if (text.size() <= doctor::max_question_bytes) text += block;
  });
  return text;
}

struct AgentOptions {
  std::string id;
  std::string question, answer;  // files, where stdin and stdout lead nowhere (pbsdsh)
};

int run_agent(System& system, const AgentOptions& options) {
  const std::string id = read_own_binary().build_id;
  if (!options.id.empty() && options.id != id) return doctor::other_build_status;
  const std::int64_t ready = now_us(system);
  system.out(doctor::ready_line(id) + "\n");
  const std::string text = options.question.empty()
                               ? read_question(system)
                               : system.files.read(options.question, doctor::max_question_bytes);
  const std::int64_t asked = now_us(system);
  const doctor::Question question = doctor::parse_question_json(text);
  const auto gatherers = doctor::choose_gatherers(question, doctor::all_gatherers());
  doctor::Answer answer = doctor::gather_facts(system, question, gatherers);
  answer.ready_us = ready;
  answer.asked_us = asked;
  const std::string said =
      std::string(doctor::answer_line) + "\n" + doctor::render_answer_json(answer) + "\n";
  if (options.answer.empty())
    system.out(said);
  else
    system.files.write(options.answer, doctor::ready_line(id) + "\n" + said);
  return 0;
}

}  // namespace

Subcommand agent_command() {
  Subcommand command;
  command.name = "agent";
  command.summary = "examine this host for ddlrun doctor";
  command.examples = R"(  ssh h2 ddlrun agent < question.json)";
  command.hidden = true;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<AgentOptions>();
    app.add_option("--id", options->id, "exit with status 9 unless this is build ID")->type_name("ID");
    app.add_option("--question", options->question, "read the request from FILE instead of stdin")
        ->type_name("FILE");
    app.add_option("--answer", options->answer, "write the response to FILE instead of stdout")
        ->type_name("FILE");
    return [options](System& system) { return run_agent(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
