// SPDX-License-Identifier: MIT
#include "base/text/text.hpp"
#include "schedulers/job/node_list.hpp"
#include "schedulers/pbs/pbs_answers.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <map>
#include <utility>

namespace ddlrun::schedulers {

namespace {

using nlohmann::json;

// Control characters inside strings, which JSON forbids and PBS prints raw, as blanks; bytes that may be no
// UTF-8 as '?'.
std::string repaired(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false, escaped = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (in_string && (byte < 0x20 || byte == 0x7f)) {
      out += ' ';
      escaped = false;
    } else if (byte >= 0x80) {
      out += '?';
      escaped = false;
    } else {
      if (c == '"' && !escaped) in_string = !in_string;
      escaped = in_string && c == '\\' && !escaped;
      out += c;
    }
  }
  return out;
}

// A value's text whatever its type: 4, "4" and 4.0 come for the same attribute.
std::string as_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "";
  return value.dump(-1, ' ', true, json::error_handler_t::replace);
}

PbsJob read_job(const std::string& id, const json& fields) {
  PbsJob job{id, {}};
  for (const auto& [name, value] : fields.items()) {
    if (name == "Variable_List") continue;
    if (!value.is_object()) {
      job.attributes[name] = as_text(value);
      continue;
    }
    for (const auto& [part, inner] : value.items()) job.attributes[name + "." + part] = as_text(inner);
  }
  return job;
}

}  // namespace

std::optional<std::vector<PbsJob>> parse_qstat_json(std::string_view out) {
  json document = json::parse(out, nullptr, false);
  if (document.is_discarded()) document = json::parse(repaired(out), nullptr, false);
  if (!document.is_object()) return std::nullopt;
  std::vector<PbsJob> jobs;
  const auto found = document.find("Jobs");
  if (found == document.end()) return jobs;
  if (!found->is_object()) return std::nullopt;
  for (const auto& [id, fields] : found->items())
    if (fields.is_object()) jobs.push_back(read_job(id, fields));
  return jobs;
}

std::vector<PbsJob> parse_pbsnodes(std::string_view out) {
  json document = json::parse(out, nullptr, false);
  if (document.is_discarded()) document = json::parse(repaired(out), nullptr, false);
  std::vector<PbsJob> nodes;
  if (!document.is_object() || !document.contains("nodes") || !document["nodes"].is_object()) return nodes;
  for (const auto& [name, fields] : document["nodes"].items()) {
    if (fields.is_object()) nodes.push_back(read_job(name, fields));
  }
  return nodes;
}

std::string host_of(const PbsJob& vnode) {
  const std::string host = vnode.get("resources_available.host");
  return host.empty() ? vnode.id : host;
}

std::vector<ListedNode> parse_pbsnodes_json(std::string_view out) {
  std::vector<ListedNode> nodes;
  std::map<std::string, std::size_t> places;  // in `nodes`, by host
  for (const PbsJob& vnode : parse_pbsnodes(out)) {
    const auto cores = parse_unsigned(vnode.get("resources_available.ncpus"), 1u << 20);
    const auto gpus = parse_unsigned(vnode.get("resources_available.ngpus"), 1u << 10);
    const std::string name = host_of(vnode);
    const auto [at, is_new] = places.emplace(name, nodes.size());
    if (is_new) nodes.push_back({name, 0, vnode.get("queue"), 0, {}});
    ListedNode& node = nodes[at->second];
    node.cores += static_cast<std::uint32_t>(cores.value_or(0));
    node.cpus = node.cores;
    if (gpus) node.gpus = node.gpus.value_or(0) + static_cast<std::uint32_t>(*gpus);
  }
  return nodes;
}

}  // namespace ddlrun::schedulers
