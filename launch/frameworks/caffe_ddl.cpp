// SPDX-License-Identifier: MIT
// IBM Caffe with DDL, and programs that take DDL_OPTIONS: nothing is added to Caffe's words, they are
// checked.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/frameworks/ddl_options.hpp"
#include "launch/frameworks/gflags.hpp"
#include "launch/frameworks/plan_internal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ddlrun::frameworks {

namespace {

DdlJob ddl_job(const FrameworkRequest& request) {
  return {request.dims, request.rank_map.size(), most_local_ranks(request.rank_map)};
}

void take_remarks(FrameworkPlan& plan, const std::vector<std::string>& remarks) {
  plan.remarks.insert(plan.remarks.end(), remarks.begin(), remarks.end());
}

// IBM's Caffe gives each rank the GPU of its local rank by itself ("spreading GPUs per MPI rank", use
// gpu[2]).
void check_caffe_gpu(const FrameworkRequest& request) {
  const auto gpu = find_gflag(request.program, "gpu");
  const std::uint32_t ranks = most_local_ranks(request.rank_map);
  if (!gpu || !gpu->value || ranks < 2) return;
  const std::string& value = *gpu->value;
  if (value != "all" && value.find(',') == std::string::npos) return;
  throw Error(
      ErrorKind::usage,
      {fmt::format("{} {}: each of the {} ranks of a host would take these GPUs for itself", gpu->typed,
                   printable(value, 40), ranks),
       "-gpu",
       fmt::format("{} 0: a rank then takes the GPU of its local rank; or one rank a host", gpu->typed)});
}

void check_caffe_lms(const Command& program) {
  const auto lms = find_gflag(program, "lms");
  if (!lms || (lms->value && parse_unsigned(*lms->value, UINT32_MAX))) return;
  throw Error(ErrorKind::usage,
              {fmt::format("{} {}: a number of KB, above which a chunk stays in host memory", lms->typed,
                           printable(lms->value.value_or(""), 40)),
               "-lms", "-lms 800000"});
}

void check_order(const FrameworkRequest& request, FrameworkPlan& plan) {
  if (request.plan == nullptr || request.plan->order == topology::RankOrder::ddl) return;
  if (request.plan->hosts.size() > 1)
    plan.remarks.push_back("--order packed: DDL's dims number ranks over hosts first (--order ddl)");
}

// The dims of a rankfile that numbers ranks as DDL does, over the hosts first: its header's where they are
// the same job, else X ranks on each of Y hosts. Nothing where it numbers them in another way.
std::optional<topology::Dims> dims_of_rankfile(const FrameworkRequest& request) {
  const auto& hosts = request.rank_map.hosts;
  if (hosts.empty()) return std::nullopt;
  topology::Dims dims;
  dims.gpus_per_node = static_cast<std::uint32_t>(hosts[0].ranks.size());
  dims.nodes_per_rack = static_cast<std::uint32_t>(hosts.size());
  for (const launch::RankMapHost& host : hosts) {
    if (host.ranks.size() != dims.gpus_per_node) return std::nullopt;
    for (std::uint32_t x = 0; x < dims.gpus_per_node; ++x)
      if (host.ranks[x] != host.ranks[0] + x * dims.nodes_per_rack) return std::nullopt;
  }
  const auto& header = request.rankfile_dims;
  const bool same_job =
      header && header->gpus_per_node == dims.gpus_per_node && header->host_count() == dims.nodes_per_rack;
  return same_job ? *header : dims;
}

// "h1:0,2;h2:1,3": the ranks of each host, in the form of IBM's ddlrun.
std::string ddl_host_list(const launch::RankMap& rank_map) {
  std::string list;
  for (const launch::RankMapHost& host : rank_map.hosts) {
    list += fmt::format("{}{}:{}", list.empty() ? "" : ";", host.name, fmt::join(host.ranks, ","));
  }
  return list;
}

bool has_words(const FrameworkRequest& request) {
  return !request.ddl_mode.empty() || !request.ddl_arguments.empty();
}

void refuse_twice(const FrameworkRequest& request, const char* other) {
  if (!has_words(request)) return;
  const char* const option = request.ddl_mode.empty() ? "--ddl-arg" : "--ddl-mode";
  throw Error(ErrorKind::usage, {fmt::format("{} and {} both set how DDL sums", option, other), option,
                                 fmt::format("one of the two: leave {} out, or {}", option, other)});
}

// What IBM's ddlrun exported: four dims, its port and its list.
void share_ibm_options(const FrameworkRequest& request, FrameworkPlan& plan) {
  std::string text = fmt::format("-mode {}", request.ddl_mode.empty() ? "b" : request.ddl_mode);
  const auto dims = request.dims ? request.dims : dims_of_rankfile(request);
  if (!dims) {
    throw Error(
        ErrorKind::usage,
        {"the dims of -mode are not known: the hosts have different numbers of ranks, or the ranks are not "
         "numbered over the hosts first",
         "--ddl-mode " + request.ddl_mode, "ddlrun gen-rankfile 4x2x1 h1,h2 > job.rf"});
  }
  text += fmt::format(":{}x{}x{}x{}", dims->gpus_per_node, dims->nodes_per_rack, dims->racks, dims->aisles);
  for (const std::string& argument : request.ddl_arguments) text += " " + argument;
  take_remarks(plan, check_ddl_options(parse_ddl_options(text, "--ddl-mode, --ddl-arg"), ddl_job(request),
                                       "--ddl-mode"));
  share(request, plan, "DDL_OPTIONS", text, "the plan's dims and what --ddl-mode says, for DDL");
  share(request, plan, "DDL_HOST_PORT", "2200", "the port at which DDL's ranks connect, as in IBM's ddlrun");
  share(request, plan, "DDL_HOST_LIST", ddl_host_list(request.rank_map),
        "which ranks are on which host, for DDL");
}

// DDL_OPTIONS as the user set it, checked; or from the plan.
void share_ddl_options(const FrameworkRequest& request, FrameworkPlan& plan) {
  const auto own = request.environment.find("DDL_OPTIONS");
  if (own != request.environment.end()) {
    refuse_twice(request, "DDL_OPTIONS");
    take_remarks(plan, check_ddl_options(parse_ddl_options(own->second, "DDL_OPTIONS"), ddl_job(request),
                                         "DDL_OPTIONS"));
    share(request, plan, "DDL_OPTIONS", "", "");
    return;
  }
  if (has_words(request)) return share_ibm_options(request, plan);
  if (request.dims)
    share(request, plan, "DDL_OPTIONS", render_ddl_options({}, *request.dims),
          "what the plan is, for DDL; b: NCCL where it can");
}

}  // namespace

void plan_caffe_ddl(const FrameworkRequest& request, FrameworkPlan& plan) {
  check_caffe_gpu(request);
  check_caffe_lms(request.program);
  check_order(request, plan);
  if (any_gpu(request.rank_map)) plan.gpu_view = launch::GpuView::host;
  const auto typed = find_gflag(request.program, "ddl");
  if (!typed || request.environment.contains("DDL_OPTIONS")) share_ddl_options(request, plan);
  if (!typed) return;
  refuse_twice(request, "-ddl");
  if (!typed->value)
    throw Error(ErrorKind::usage, {"-ddl has no value", "-ddl", R"(-ddl "-mode b:4x2x1 -dev_sync 1")"});
  take_remarks(plan, check_ddl_options(parse_ddl_options(*typed->value, "-ddl"), ddl_job(request), "-ddl"));
}

void plan_ddl(const FrameworkRequest& request, FrameworkPlan& plan) {
  check_order(request, plan);
  if (any_gpu(request.rank_map)) plan.gpu_view = launch::GpuView::host;
  share_ddl_options(request, plan);
  if (request.uses_torch || request.without_mpi) set_torch_variables(request, plan);
  if (request.without_mpi) set_libddl_variables(request, plan);
}

}  // namespace ddlrun::frameworks
