// SPDX-License-Identifier: MIT
// Requests and responses as JSON. What a host sends is untrusted: sizes, depth and types are checked.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "doctor/remote/agent_protocol.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <functional>
#include <set>

namespace ddlrun::doctor {

namespace {

using nlohmann::json;

constexpr std::size_t max_facts = 20'000;
constexpr std::size_t max_fact_bytes = 64u << 10;

[[noreturn]] void refuse_request(const std::string& what, const std::string& where) {
  throw Error(ErrorKind::request, {what, where, "the same ddlrun on every host: ddlrun --version"});
}

json parse(std::string_view text, std::size_t limit, const std::string& where) {
  if (text.size() > limit)
    refuse_request(fmt::format("{} bytes of JSON, at most {} are read", text.size(), limit), where);
  int deepest = 0;
  const auto shallow = [&](int depth, json::parse_event_t, json&) {
    deepest = std::max(deepest, depth);
    return depth <= 6;
  };
  json document = json::parse(text, shallow, false);
  if (document.is_discarded() || !document.is_object() || deepest > 6)
    refuse_request("not the JSON of an agent", where);
  return document;
}

template <typename T>
T get(const json& object, const char* key, const std::string& where) {
  try {
    return object.at(key).get<T>();
  } catch (const json::exception&) {
    refuse_request(fmt::format("'{}' is missing or of another type", key), where);
  }
}

Level level_from(int number) {
  return number == 2 ? Level::stress : number == 1 ? Level::full : Level::quick;
}

}  // namespace

namespace {

json relay_json(const RelayRequest& relay) {
  json hosts = json::array();
  for (const RelayedHost& host : relay.hosts) hosts.push_back({{"name", host.name}, {"ranks", host.ranks}});
  return {{"hosts", std::move(hosts)},
          {"agent_path", relay.agent_path},
          {"ssh_arguments", relay.ssh_arguments},
          {"window", relay.window},
          {"per_target", relay.per_target},
          {"flat_most", relay.flat_most},
          {"limit_ms", relay.limit.count()},
          {"connect_seconds", relay.connect_seconds}};
}

RelayRequest relay_from(const json& document, const std::string& where) {
  RelayRequest relay;
  for (const json& host : get<json>(document, "hosts", where))
    relay.hosts.push_back({get<std::string>(host, "name", where), get<std::uint32_t>(host, "ranks", where)});
  relay.agent_path = get<std::string>(document, "agent_path", where);
  relay.ssh_arguments = get<std::vector<std::string>>(document, "ssh_arguments", where);
  relay.window = get<unsigned>(document, "window", where);
  relay.per_target = get<unsigned>(document, "per_target", where);
  relay.flat_most = get<std::size_t>(document, "flat_most", where);
  relay.limit = std::chrono::milliseconds(get<std::int64_t>(document, "limit_ms", where));
  relay.connect_seconds = get<int>(document, "connect_seconds", where);
  return relay;
}

}  // namespace

std::string render_probe_request_json(const ProbeRequest& request, const RelayRequest& relay) {
  json document{{"level", static_cast<int>(request.level)},
                {"host", request.host},
                {"is_driver_host", request.is_driver_host},
                {"names", request.names},
                {"ranks_here", request.ranks_here},
                {"ranks", request.ranks},
                {"cores_per_rank", request.cores_per_rank},
                {"executable", request.executable},
                {"program_files", request.program_files},
                {"own_files", request.own_files},
                {"environment", request.environment},
                {"workdir", request.workdir},
                {"checkpoint_dir", request.checkpoint_dir},
                {"temporary_dir", request.temporary_dir},
                {"data_paths", request.data_paths},
                {"interface", request.interface},
                {"ports", request.ports},
                {"token_file", request.token_file},
                {"groups", request.groups},
                {"peers", request.peers},
                {"probe_ports", request.probe_ports},
                {"probe_ms", request.probe_ms},
                {"probe_key", request.probe_key},
                {"launch_children", request.launch_children}};
  if (!relay.hosts.empty()) document["relay"] = relay_json(relay);
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

ProbeRequest parse_probe_request_json(std::string_view text, RelayRequest* relay) {
  const std::string where = "the request to the agent";
  const json document = parse(text, max_request_bytes, where);
  ProbeRequest request;
  request.level = level_from(get<int>(document, "level", where));
  request.host = get<std::string>(document, "host", where);
  request.is_driver_host = get<bool>(document, "is_driver_host", where);
  request.names = get<std::vector<std::string>>(document, "names", where);
  request.ranks_here = get<std::uint32_t>(document, "ranks_here", where);
  request.ranks = get<std::uint32_t>(document, "ranks", where);
  request.cores_per_rank = get<std::uint32_t>(document, "cores_per_rank", where);
  request.executable = get<std::string>(document, "executable", where);
  request.program_files = get<std::vector<std::string>>(document, "program_files", where);
  request.own_files = get<std::vector<std::string>>(document, "own_files", where);
  request.environment = get<std::map<std::string, std::string>>(document, "environment", where);
  request.workdir = get<std::string>(document, "workdir", where);
  request.checkpoint_dir = get<std::string>(document, "checkpoint_dir", where);
  request.temporary_dir = get<std::string>(document, "temporary_dir", where);
  request.data_paths = get<std::vector<std::string>>(document, "data_paths", where);
  request.interface = get<std::string>(document, "interface", where);
  request.ports = get<std::vector<std::uint16_t>>(document, "ports", where);
  request.token_file = get<std::string>(document, "token_file", where);
  request.groups = get<std::vector<std::string>>(document, "groups", where);
  request.peers = get<std::vector<std::string>>(document, "peers", where);
  request.probe_ports = get<std::vector<std::uint16_t>>(document, "probe_ports", where);
  request.probe_ms = get<std::uint32_t>(document, "probe_ms", where);
  request.probe_key = get<std::string>(document, "probe_key", where);
  request.launch_children = get<std::vector<std::string>>(document, "launch_children", where);
  if (relay != nullptr && document.contains("relay")) *relay = relay_from(document["relay"], where);
  return request;
}

std::string render_probe_response_json(const ProbeResponse& response) {
  json facts = json::object();
  json unknown = json::object();
  for (const auto& [name, fact] : response.facts.all()) (fact.known ? facts : unknown)[name] = fact.text;
  const json document{{"schema", "ddlrun.agent/1"},    {"facts", std::move(facts)},
                      {"unknown", std::move(unknown)}, {"failed", response.failed_gatherers},
                      {"ready_us", response.ready_us}, {"asked_us", response.asked_us}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

namespace {

using Store = std::function<void(const std::string& name, const std::string& text)>;

void take_texts(const json& document, const char* key, const std::string& where, const Store& store) {
  const auto entries = document.find(key);
  if (entries == document.end()) return;
  if (!entries->is_object() || entries->size() > max_facts)
    refuse_request(fmt::format("'{}' is odd or too large", key), where);
  for (const auto& [name, value] : entries->items()) {
    const bool good = value.is_string() && value.get_ref<const std::string&>().size() <= max_fact_bytes;
    if (!good) {
      refuse_request(
          fmt::format("'{}' is not a text of at most {} bytes", printable(name, 60), max_fact_bytes), where);
    }
    store(name, value.get_ref<const std::string&>());
  }
}

}  // namespace

ProbeResponse parse_probe_response_json(std::string_view text, const std::string& host) {
  const json document = parse(text, max_response_bytes, host);
  if (get<std::string>(document, "schema", host) != "ddlrun.agent/1")
    refuse_request("an agent of another version", host);
  ProbeResponse response;
  take_texts(document, "facts", host,
             [&](const auto& name, const auto& value) { response.facts.set(name, value); });
  take_texts(document, "unknown", host,
             [&](const auto& name, const auto& why) { response.facts.set_unknown(name, why); });
  take_texts(document, "failed", host,
             [&](const auto& name, const auto& why) { response.failed_gatherers[name] = why; });
  response.ready_us = get<std::int64_t>(document, "ready_us", host);
  response.asked_us = get<std::int64_t>(document, "asked_us", host);
  return response;
}

std::string render_relayed_report_json(const HostReport& report, const std::shared_ptr<const FactMap>& base) {
  const bool shares = base && report.facts.base() == base;
  json facts = json::object();
  json unknown = json::object();
  for (const auto& [name, fact] : shares ? report.facts.own() : report.facts.all())
    (fact.known ? facts : unknown)[name] = fact.text;
  const Reach& reach = report.reach;
  json document{{"host", report.host},
                {"facts", std::move(facts)},
                {"unknown", std::move(unknown)},
                {"failed", report.failed_gatherers},
                {"attempts", reach.attempts},
                {"connect_seconds", reach.connect_seconds},
                {"noise_bytes", reach.noise_bytes},
                {"noise_start", reach.noise_start}};
  if (shares) document["without"] = report.facts.without();
  if (reach.clock_offset_seconds)
    document["clock"] = {*reach.clock_offset_seconds, reach.clock_error_seconds};
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

HostReport parse_relayed_report_json(std::string_view text, const std::shared_ptr<const FactMap>& base,
                                     const std::string& relay) {
  const json document = parse(text, max_response_bytes, relay);
  HostReport report;
  report.host = get<std::string>(document, "host", relay);
  FactMap own;
  take_texts(document, "facts", relay, [&](const auto& name, const auto& value) {
    own.insert_or_assign(name, Fact{true, value});
  });
  take_texts(document, "unknown", relay, [&](const auto& name, const auto& why) {
    own.insert_or_assign(name, Fact{false, why});
  });
  take_texts(document, "failed", relay,
             [&](const auto& name, const auto& why) { report.failed_gatherers[name] = why; });
  if (document.contains("without"))
    report.facts =
        Facts(base, std::move(own), get<std::set<std::string, std::less<>>>(document, "without", relay));
  else
    report.facts = Facts(nullptr, std::move(own), {});
  Reach& reach = report.reach;
  reach.attempts = get<int>(document, "attempts", relay);
  reach.connect_seconds = get<double>(document, "connect_seconds", relay);
  reach.noise_bytes = get<std::uint64_t>(document, "noise_bytes", relay);
  reach.noise_start = printable(get<std::string>(document, "noise_start", relay), 120);
  if (document.contains("clock")) {
    const auto clock = get<std::array<double, 2>>(document, "clock", relay);
    reach.clock_offset_seconds = clock[0];
    reach.clock_error_seconds = clock[1];
  }
  return report;
}

}  // namespace ddlrun::doctor
