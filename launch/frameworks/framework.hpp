// SPDX-License-Identifier: MIT
// What a training framework expects of its launcher: the variables, arguments and GPUs of each rank, the
// reasons, and errors in what the user typed. Pure: plan, program, options and environment in.
#pragma once

#include "base/os/system.hpp"
#include "launch/frameworks/horovod_settings.hpp"
#include "launch/frameworks/intel_caffe_options.hpp"
#include "launch/rank/rank_map.hpp"
#include "topology/plan.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::frameworks {

enum class Framework { none, caffe_ddl, ddl, intel_caffe, horovod, pytorch, tensorflow, tensorflow_ps };

// "caffe-ddl", as --framework takes it.
std::string_view name_of(Framework framework);
// Nothing for "auto". Error{usage} with "did you mean".
std::optional<Framework> parse_framework(const std::string& text);
// The order of ranks that its hierarchical algorithms assume; nothing where it does not care.
std::optional<topology::RankOrder> usual_order(Framework framework);

// The same for all ranks, and for the launcher itself: it is exported by name.
struct SharedVariable {
  std::string name;
  std::string value;
  std::string why;
  bool from_user = false;  // the value is the user's: passed on, not shown

  bool operator==(const SharedVariable&) const = default;
};

struct FrameworkRequest {
  Framework framework = Framework::none;
  Command program;
  launch::RankMap rank_map;                     // who sits where; its groups are replaced
  const topology::Plan* plan = nullptr;         // nothing with a rankfile of the user's
  std::optional<topology::Dims> dims;           // of the plan, or typed beside a rankfile
  std::optional<topology::Dims> rankfile_dims;  // of a rankfile of the user's: its header's
  bool uses_torch = false;                      // DDL: the script names torch.distributed too
  EnvVars environment;                          // the user's, -x VAR=value laid over it
  std::map<std::string, std::string> address;  // host: its address in the job's network; else its name serves
  std::uint16_t master_port = 29500;           // PyTorch's
  std::string master_port_why;
  std::uint16_t libddl_port = 29400;  // of DDL_MASTER: a program may use both
  std::uint16_t base_port = 2222;     // TensorFlow's first port on each host
  bool flags_style = false;           // TensorFlow: --ps_hosts= ... instead of TF_CONFIG
  bool chief = false;                 // TensorFlow: rank 0 is the coordinator of ParameterServerStrategy
  std::uint32_t ps = 0;               // TensorFlow: so many ranks behind it are parameter servers
  std::string ddl_mode;               // a letter, as IBM's ddlrun -m: DDL_OPTIONS and its host list are made
  std::vector<std::string> ddl_arguments;  // behind it in DDL_OPTIONS: "-dump_iter 100"
  HorovodSettings horovod;
  IntelCaffeOptions intel_caffe;
  bool without_mpi = false;  // by ssh, no framework or DDL: nothing else gives a program its rank
};

// One of them is set where ranks of libddl are to connect without MPI.
inline constexpr std::array<std::string_view, 2> libddl_token_variables{"DDL_TOKEN_FILE", "DDL_TOKEN"};

struct FrameworkPlan {
  Framework framework = Framework::none;
  std::vector<SharedVariable> shared;
  std::vector<launch::RankGroup> groups;  // what differs from rank to rank; empty: nothing does
  launch::GpuView gpu_view = launch::GpuView::leave;
  std::vector<std::string> remarks;
};

// Error{usage} for arguments or variables that cannot work, Error{request} for what does not fit the plan.
FrameworkPlan plan_framework(const FrameworkRequest& request);

}  // namespace ddlrun::frameworks
