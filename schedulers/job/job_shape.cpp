// SPDX-License-Identifier: MIT
// The job's shape: dims, nodes, hosts and GPUs, and what they leave of a node's cores.
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "schedulers/job/job_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun::schedulers {

namespace {

void read_hosts(SettingReader& reader, JobSpec& job) {
  std::set<std::string> seen;
  for (const PlacedText& written : reader.texts("hosts", "h[1-4]")) {
    try {
      for (std::string& host : expand_host_list(written.text)) {
        if (!is_host_name(host)) {
          reader.add_error_at(fmt::format("hosts: '{}' is not a host's name", printable(host, 60)),
                              written.where, reader.hint("hosts", "h[1-4]   # or h1,h2"));
        } else if (!seen.insert(host).second) {
          reader.add_error_at(fmt::format("hosts: {} is named twice", host), written.where,
                              "name each host once; dims set how many ranks it gets");
        } else {
          job.hosts.push_back(std::move(host));
        }
      }
    } catch (const Error& error) {
      reader.add_error_at("hosts: " + error.message().what, written.where,
                          reader.hint("hosts", "h[1-4]   # or h1,h2"));
    }
  }
}

// "dims 4x2x1 (ddlrun.yaml:2:7)"
std::string with_origin(SettingReader& reader, std::string_view key, std::string_view value) {
  return fmt::format("{} {} ({})", key, value, reader.origin_of(key));
}

std::optional<topology::Dims> read_dims(SettingReader& reader) {
  const auto written = reader.text("dims", "4x2x1");
  if (!written) return std::nullopt;
  try {
    return topology::parse_dims(*written);
  } catch (const Error& error) {
    const std::string& offered = error.message().hint;
    const bool shape = offered.find_first_not_of("0123456789x") == std::string::npos;
    reader.add_error("dims", fmt::format("dims '{}': {}", printable(*written, 60), error.message().what),
                     shape ? offered : "4x2x1   # 4 ranks on each of 2 nodes");
    return std::nullopt;
  }
}

// How many GPUs of a node are requested; "per-rank" gives as many as ranks.
struct Gpus {
  bool per_rank = false;
  std::optional<std::uint32_t> number;
};
Gpus read_gpus(SettingReader& reader) {
  const auto written = reader.text("gpus", "4");
  if (!written) return {};
  if (*written == "per-rank") return {true, std::nullopt};
  return {false, reader.number("gpus", 0, 1024, "4   # or per-rank")};
}

void check_gpus(SettingReader& reader, ParsedJob& parsed) {
  JobSpec& job = parsed.job;
  if (job.gpus_per_node == 0) {
    if (!job.gpu_type.empty()) {
      reader.add_error("gpu_type", fmt::format("gpu_type {}, but no GPU is requested", job.gpu_type),
                       fmt::format("{}   # and gpus: {}", job.gpu_type, job.ranks_per_node()));
    }
    return;
  }
  if (job.ranks_per_node() > job.gpus_per_node) {
    reader.add_error("gpus",
                     fmt::format("{} on each node, {} requested", counted(job.ranks_per_node(), "rank"),
                                 counted(job.gpus_per_node, "GPU")),
                     std::to_string(job.ranks_per_node()));
  } else if (job.ranks_per_node() < job.gpus_per_node) {
    parsed.remarks.push_back(fmt::format("gpus: {} of {} on each node get no rank",
                                         job.gpus_per_node - job.ranks_per_node(), job.gpus_per_node));
  }
}

void check_hosts(SettingReader& reader, ParsedJob& parsed) {
  const JobSpec& job = parsed.job;
  if (job.hosts.empty() || job.hosts.size() == job.nodes()) return;
  const auto shapes = topology::nearest_shapes(job.dims, job.hosts.size());
  reader.add_error(reader.find("dims") != nullptr ? "dims" : "nodes",
                   fmt::format("dims {} are {}, hosts ({}) names {}", topology::render_dims(job.dims),
                               counted(job.nodes(), "node"), reader.origin_of("hosts"), job.hosts.size()),
                   reader.find("dims") != nullptr && !shapes.empty() ? join(shapes, "   # or ")
                                                                     : std::to_string(job.hosts.size()));
}

// The same number of ranks on more nodes, unless there are fewer or the job names its hosts; else fewer
// ranks.
std::string shapes_that_fit(const JobSpec& job, std::uint32_t cores,
                            std::optional<std::uint64_t> nodes_there) {
  topology::Dims fewer = job.dims, same = job.dims;
  fewer.gpus_per_node = same.gpus_per_node = cores;
  while (job.ranks_per_node() % same.gpus_per_node != 0) --same.gpus_per_node;
  same.nodes_per_rack *= job.ranks_per_node() / same.gpus_per_node;
  const std::string less = topology::render_dims(fewer);
  const std::uint64_t nodes = same.host_count();
  if (!job.hosts.empty() || (nodes_there && nodes > *nodes_there)) return less;
  const std::string more = topology::render_dims(same);
  const std::string ranks = counted(job.dims.world_size(), "rank");
  return nodes_there ? fmt::format("{}   # the same {} on {}", more, ranks, counted(nodes, "node"))
                     : fmt::format("{}   # the same {}, if there are {}; or {}", more, ranks,
                                   counted(nodes, "node"), less);
}

// A GPU for each rank and a rank for each GPU: nothing says how many. One of each would leave the others
// idle.
void refuse_per_rank_without_ranks(SettingReader& reader, std::uint64_t nodes) {
  const bool typed = reader.origin_of(reader.find("nodes") != nullptr ? "nodes" : "hosts").starts_with("--");
  const std::string shape = fmt::format("4x{}", nodes), each = nodes == 1 ? "the node" : "each node";
  reader.add_error_at(
      fmt::format("{} with gpus per-rank ({}): neither says how many ranks {} has", counted(nodes, "node"),
                  reader.origin_of("gpus"), each),
      reader.origin_of(reader.find("nodes") != nullptr ? "nodes" : "hosts"),
      typed ? fmt::format("--dims {}   # 4 ranks with a GPU each on {}; or --gpus 4", shape, each)
            : fmt::format("dims: {}   # 4 ranks with a GPU each on {}; or gpus: 4", shape, each));
}

}  // namespace

bool read_shape(SettingReader& reader, ParsedJob& parsed) {
  JobSpec& job = parsed.job;
  const std::size_t errors_before = parsed.errors.size();
  read_hosts(reader, job);
  const bool hosts_are_known = parsed.errors.size() == errors_before;
  const auto dims = read_dims(reader);
  const auto nodes = reader.number("nodes", 1, topology::max_ranks, "2");
  const Gpus gpus = read_gpus(reader);
  if (!dims && reader.find("dims") != nullptr) return false;
  const bool counts_nodes = nodes || (!job.hosts.empty() && reader.find("nodes") == nullptr);
  if (dims) {
    job.dims = *dims;
    if (nodes && *nodes != dims->host_count()) {
      reader.add_error("nodes",
                       fmt::format("nodes {}, but {} has {}", *nodes,
                                   with_origin(reader, "dims", topology::render_dims(*dims)),
                                   counted(dims->host_count(), "node")),
                       fmt::format("{}   # or leave one of the two out", dims->host_count()));
      return false;
    }
  } else if (counts_nodes) {
    const std::uint64_t count = nodes ? *nodes : job.hosts.size();
    if (gpus.per_rank) {
      refuse_per_rank_without_ranks(reader, count);
      return false;
    }
    job.dims.gpus_per_node = std::max(1u, gpus.number.value_or(1));
    job.dims.nodes_per_rack = static_cast<std::uint32_t>(count);
    if (count * job.dims.gpus_per_node > topology::max_ranks) {
      reader.add_error("nodes",
                       fmt::format("{} x {} are more than {} ranks", counted(count, "node"),
                                   counted(job.dims.gpus_per_node, "rank"), topology::max_ranks),
                       "2");
      return false;
    }
    parsed.remarks.push_back(fmt::format("dims: {} = {} per node on {}", topology::render_dims(job.dims),
                                         counted(job.dims.gpus_per_node, "rank"), counted(count, "node")));
  } else {
    if (reader.find("nodes") == nullptr && reader.find("hosts") == nullptr) {
      reader.add_error_at("the job's shape is missing", "",
                          "dims: 4x2x1   # 4 ranks on each of 2 nodes; or --dims 4x2x1");
    }
    return false;
  }
  job.gpus_per_node = gpus.per_rank ? job.ranks_per_node() : gpus.number.value_or(0);
  if (hosts_are_known) check_hosts(reader, parsed);
  if (!has_error_at(parsed, reader.origin_of("gpus"))) check_gpus(reader, parsed);
  return true;
}

void plan_threads(SettingReader& reader, ParsedJob& parsed, std::optional<std::uint64_t> nodes_there) {
  JobSpec& job = parsed.job;
  const std::uint32_t cores = job.cores_per_node, ranks = job.ranks_per_node();
  if (cores == 0) return;
  if (job.reserved_cores >= cores) {
    reader.add_error(
        "reserved_cores",
        fmt::format("{} reserved, cores_per_node ({}) is {}", counted(job.reserved_cores, "core"),
                    reader.origin_of("cores_per_node"), cores),
        "0");
    return;
  }
  const std::uint32_t left = cores - job.reserved_cores;
  const std::string sum = job.reserved_cores > 0
                              ? fmt::format("{} - {} reserved ({}) = {}", cores, job.reserved_cores,
                                            reader.origin_of("reserved_cores"), left)
                              : std::to_string(left);
  if (ranks > left && job.oversubscribes()) {
    if (job.threads == 0 && reader.find("threads") == nullptr) job.threads = 1;
    if (job.runner == Runner::ddlrun) job.shared_cpus = left * job.hardware_threads_per_core;
  } else if (ranks > left) {
    reader.add_error(
        reader.find("dims") != nullptr ? "dims" : "gpus",
        fmt::format("{} per node, there are {} cores", counted(ranks, "rank"), sum),
        reader.find("dims") != nullptr ? shapes_that_fit(job, left, nodes_there) : std::to_string(left));
  } else if (job.threads == 0) {
    if (reader.find("threads") != nullptr) return;
    job.threads = left / ranks;
    parsed.remarks.push_back(job.reserved_cores > 0
                                 ? fmt::format("threads: {} = ({} cores - {} reserved) / {} per node",
                                               job.threads, cores, job.reserved_cores, counted(ranks, "rank"))
                                 : fmt::format("threads: {} = {} cores / {} per node", job.threads, cores,
                                               counted(ranks, "rank")));
  } else if (const std::uint64_t wanted = std::uint64_t{ranks} * job.threads; wanted > left) {
    std::string hint = reader.hint("threads", std::to_string(left / ranks));
    if (wanted <= cores)
      hint += (reader.origin_of("threads").starts_with("--") ? ", or --reserved-cores "
                                                             : ", or reserved_cores: ") +
              std::to_string(cores - wanted);
    reader.add_error_at(fmt::format("{} per node x {} need {} cores, there are {}", counted(ranks, "rank"),
                                    counted(job.threads, "thread"), wanted, sum),
                        reader.origin_of("threads"), hint);
  }
}

}  // namespace ddlrun::schedulers
