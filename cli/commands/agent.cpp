// SPDX-License-Identifier: MIT
// `ddlrun agent`: what doctor runs on each host. It reports its build, reads one request from
// stdin, and prints one line of JSON.
#include "doctor/gather/agent.hpp"

#include "base/os/self_executable.hpp"
#include "cli/commands/commands.hpp"
#include "doctor/remote/relay.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <memory>

namespace ddlrun::cli {

namespace {

std::int64_t now_us(System& system) {
  return std::chrono::duration_cast<std::chrono::microseconds>(system.clock.now().time_since_epoch()).count();
}

std::string read_request(System& system) {
  std::string text;
  system.files.read_blocks("-", [&](std::string_view block) {
    if (text.size() <= doctor::max_request_bytes) text += block;
  });
  return text;
}

struct AgentOptions {
  std::string id;
  bool interfaces = false;
  std::string request, response;  // files, where stdin and stdout lead nowhere (pbsdsh)
};

// For a caller that asks more over the same connection: a marked line for each network interface.
int print_interfaces(System& system) {
  doctor::ProbeRequest request;
  request.groups = {"interfaces"};
  const auto gatherers = doctor::choose_gatherers(request, doctor::all_gatherers());
  const doctor::ProbeResponse response = doctor::gather_facts(system, request, gatherers);
  for (const std::string_view line : response.facts.list("net.interfaces"))
    system.out(fmt::format("ddlrun-interface {}\n", line));
  return 0;
}

int run_agent(System& system, const AgentOptions& options) {
  const SelfExecutable own = read_own_binary();
  const std::string& id = own.build_id;
  if (!options.id.empty() && options.id != id) return doctor::other_build_status;
  const std::int64_t ready = now_us(system);
  if (options.response.empty()) system.out(doctor::ready_line(id) + "\n");
  const std::string text = options.request.empty()
                               ? read_request(system)
                               : system.files.read(options.request, doctor::max_request_bytes);
  const std::int64_t asked = now_us(system);
  doctor::RelayRequest relay;
  const doctor::ProbeRequest request = doctor::parse_probe_request_json(text, &relay);
  const auto gatherers = doctor::choose_gatherers(request, doctor::all_gatherers());
  doctor::ProbeResponse response = doctor::gather_facts(system, request, gatherers);
  response.ready_us = ready;
  response.asked_us = asked;
  const std::string output =
      std::string(doctor::response_line) + "\n" + doctor::render_probe_response_json(response) + "\n";
  if (options.response.empty())
    system.out(output);
  else
    system.files.write(options.response, doctor::ready_line(id) + "\n" + output);
  if (!relay.hosts.empty())
    serve_relay(system, request, relay, response.facts, {relay.agent_path, id, own.loader, own.files});
  return 0;
}

}  // namespace

Subcommand agent_command() {
  Subcommand command;
  command.name = "agent";
  command.summary = "examine this host for ddlrun doctor";
  command.examples = R"(  ssh h2 ddlrun agent < request.json)";
  command.hidden = true;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<AgentOptions>();
    app.add_option("--id", options->id, "exit with status 9 unless this is build ID")->type_name("ID");
    app.add_option("--request", options->request, "read the request from FILE instead of stdin")
        ->type_name("FILE");
    app.add_option("--response", options->response, "write the response to FILE instead of stdout")
        ->type_name("FILE");
    app.add_flag("--interfaces", options->interfaces, "print the network interfaces of this host alone");
    return [options](System& system) {
      return options->interfaces ? print_interfaces(system) : run_agent(system, *options);
    };
  };
  return command;
}

}  // namespace ddlrun::cli
