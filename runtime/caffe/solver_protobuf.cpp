// SPDX-License-Identifier: MIT
#include "base/text/text.hpp"
#include "runtime/caffe/caffe_solver.hpp"
#include "runtime/caffe/prototxt_protobuf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ddlrun::runtime {
namespace {

namespace proto = caffe_files;

struct SolverType {
  const char* name;
  OptimizerKind kind;
};
constexpr SolverType solver_types[] = {
    {"SGD", OptimizerKind::sgd},         {"Nesterov", OptimizerKind::nesterov},
    {"Adam", OptimizerKind::adam},       {"AdaGrad", OptimizerKind::adagrad},
    {"RMSProp", OptimizerKind::rmsprop}, {"AdaDelta", OptimizerKind::adadelta},
};

struct RatePolicy {
  const char* name;
  LrDecay decay;
  const char* needs;  // required fields
};
constexpr RatePolicy rate_policies[] = {
    {"fixed", LrDecay::none, ""},
    {"step", LrDecay::step, "gamma stepsize"},
    {"exp", LrDecay::exp, "gamma"},
    {"inv", LrDecay::inv, "gamma power"},
    {"poly", LrDecay::poly, "power"},
    {"multistep", LrDecay::multistep, "gamma stepvalue"},
    {"sigmoid", LrDecay::sigmoid, "gamma stepsize"},
};

class SolverReader {
 public:
  SolverReader(const SolverPrototxt& file, CaffeReport& report)
      : p_(file.parameter), location_(file.location), report_(report) {
    solver_.file = location_.file();
  }

  CaffeSolver read() {
    check_known_fields(p_, location_, "", report_);
    read_nets();
    read_rates();
    read_rule();
    read_lengths();
    read_tests();
    solver_.snapshot_prefix = p_.snapshot_prefix();
    if (p_.random_seed() >= 0) solver_.random_seed = static_cast<std::uint64_t>(p_.random_seed());
    solver_.wants_gpu = p_.solver_mode() == proto::SolverParameter::GPU;
    if (p_.has_solver_mode() && solver_.wants_gpu) {
      report_.add_note(location_.at("solver_mode").text(),
                       "solver_mode GPU is ignored: --device selects the device",
                       "--device cuda   # or, for the CPU without this note, solver_mode: CPU");
    }
    return std::move(solver_);
  }

 private:
  void refuse(const char* field, std::string what, std::string hint, int index = 0) {
    report_.refuse(location_.at(field, index).text(), std::move(what), std::move(hint));
  }
  std::size_t count(const char* field, std::int64_t value, std::int64_t least, const char* example) {
    if (value < least) {
      refuse(field, fmt::format("{} is {}; it must be at least {}", field, value, least), example);
      return static_cast<std::size_t>(least);
    }
    return static_cast<std::size_t>(value);
  }
  double real(const char* field, float value, double least, double most, const char* example) {
    if (value >= least && value <= most) return widen(value);
    refuse(field, fmt::format("{} is {}; it must be {} to {}", field, value, least, most), example);
    return least;
  }

  void read_nets() {
    const int trained = (p_.has_net() ? 1 : 0) + (p_.has_net_param() ? 1 : 0) + (p_.has_train_net() ? 1 : 0) +
                        (p_.has_train_net_param() ? 1 : 0);
    if (trained != 1) {
      refuse(p_.has_train_net() ? "train_net" : "net",
             fmt::format("the solver names {} training nets; it must have one of net, net_param, train_net "
                         "and train_net_param",
                         trained),
             "net: \"train_val.prototxt\"");
    }
    solver_.net = p_.has_train_net() ? p_.train_net() : p_.net();
    if (p_.test_net_param_size() == 0 && p_.test_net_size() > 0) solver_.test_net = p_.test_net(0);
    const int tested = p_.test_net_size() + p_.test_net_param_size();
    if (tested > 1)
      report_.add_note(location_.at("test_net").text(),
                       fmt::format("the solver names {} test nets; ddl-train uses the first", tested),
                       "test_net: \"test.prototxt\"   # once");
  }

  void read_rates() {
    solver_.schedule.peak = real("base_lr", p_.base_lr(), 0.0, 1e30, "base_lr: 0.01");
    if (!p_.has_base_lr()) refuse("base_lr", "the solver has no base_lr", "base_lr: 0.01");
    std::vector<std::string> names;
    const RatePolicy* policy = nullptr;
    for (const RatePolicy& row : rate_policies) {
      names.emplace_back(row.name);
      if (p_.lr_policy() == row.name) policy = &row;
    }
    if (policy == nullptr) {
      const auto near = closest_match(p_.lr_policy(), names);
      refuse("lr_policy",
             p_.has_lr_policy() ? fmt::format("lr_policy is '{}'; it must be one of {}",
                                              printable(p_.lr_policy(), 60), join(names, ", "))
                                : "the solver has no lr_policy",
             fmt::format("lr_policy: \"{}\"", near.value_or("fixed")));
      return;
    }
    solver_.schedule.decay = policy->decay;
    read_policy_numbers(*policy);
    if (p_.warmup_iter() == 0) return;
    solver_.schedule.warmup_steps = count("warmup_iter", p_.warmup_iter(), 0, "warmup_iter: 100");
    if (p_.warmup_start_lr() != 0.0F)
      refuse("warmup_start_lr",
             fmt::format("warmup_start_lr is {}; ddl-train warms up from 0", p_.warmup_start_lr()),
             "warmup_start_lr: 0");
  }

  void read_policy_numbers(const RatePolicy& policy) {
    LrSchedule& schedule = solver_.schedule;
    const bool any_sign = schedule.decay == LrDecay::sigmoid;  // below 0, its rate falls
    schedule.gamma = real("gamma", p_.gamma(), any_sign ? -1e30 : 0.0, 1e30, "gamma: 0.1");
    schedule.power = real("power", p_.power(), 0.0, 1e30, "power: 0.75");
    if (p_.has_stepsize()) schedule.step_size = count("stepsize", p_.stepsize(), 1, "stepsize: 10000");
    for (int i = 0; i < p_.stepvalue_size(); ++i) {
      if (p_.stepvalue(i) <= (i == 0 ? 0 : p_.stepvalue(i - 1)))
        refuse("stepvalue",
               fmt::format("stepvalue {} follows {}; stepvalues must ascend from 1", p_.stepvalue(i),
                           i == 0 ? 0 : p_.stepvalue(i - 1)),
               "stepvalue: 5000 stepvalue: 8000", i);
      schedule.step_values.push_back(static_cast<std::size_t>(std::max(1, p_.stepvalue(i))));
    }
    const auto check = [&](const char* field, bool given, const char* example) {
      const std::vector<std::string_view> needs = split(policy.needs, ' ');
      if (given || std::find(needs.begin(), needs.end(), field) == needs.end()) return;
      refuse("lr_policy", fmt::format("lr_policy {} needs {}, which is not given", policy.name, field),
             example);
    };
    check("gamma", p_.has_gamma(), "gamma: 0.1");
    check("power", p_.has_power(), "power: 0.75");
    check("stepsize", p_.has_stepsize(), "stepsize: 10000");
    check("stepvalue", p_.stepvalue_size() > 0, "stepvalue: 5000");
  }

  OptimizerKind read_kind() {
    using Old = proto::SolverParameter;
    if (p_.has_type() && p_.has_solver_type())
      refuse("solver_type", "both type and the older solver_type are set; Caffe accepts one",
             "type: \"SGD\"   # alone");
    std::string wanted = p_.type();
    if (!p_.has_type() && p_.has_solver_type()) wanted = Old::SolverType_Name(p_.solver_type());
    std::vector<std::string> names;
    for (const SolverType& row : solver_types) {
      const std::string capitals = to_upper(row.name);
      if (wanted == row.name || (!p_.has_type() && wanted == capitals)) return row.kind;
      names.emplace_back(row.name);
    }
    refuse("type",
           fmt::format("type is '{}'; it must be one of {}", printable(wanted, 60), join(names, ", ")),
           fmt::format("type: \"{}\"", closest_match(wanted, names).value_or("SGD")));
    return OptimizerKind::sgd;
  }

  void read_rule() {
    Optimizer& optimizer = solver_.optimizer;
    optimizer.kind = read_kind();
    optimizer.form = OptimizerForm::caffe;
    optimizer.momentum = real("momentum", p_.momentum(), 0.0, 1.0, "momentum: 0.9");
    if (optimizer.momentum != 0.0 && !uses_momentum(optimizer.kind)) {
      report_.add_note(location_.at("momentum").text(),
                       fmt::format("momentum {} is ignored: {} does not use it", optimizer.momentum,
                                   name_of(optimizer.kind)),
                       "momentum: 0");
    }
    optimizer.momentum2 = real("momentum2", p_.momentum2(), 0.0, 1.0, "momentum2: 0.999");
    optimizer.rms_decay = real("rms_decay", p_.rms_decay(), 0.0, 1.0, "rms_decay: 0.99");
    optimizer.epsilon = real("delta", p_.delta(), 0.0, 1.0, "delta: 1e-8");
    optimizer.weight_decay = real("weight_decay", p_.weight_decay(), 0.0, 1.0, "weight_decay: 0.0005");
    optimizer.l1 = p_.regularization_type() == "L1";
    if (!optimizer.l1 && p_.regularization_type() != "L2")
      refuse("regularization_type",
             fmt::format("regularization_type is '{}'; it must be L1 or L2",
                         printable(p_.regularization_type(), 60)),
             "regularization_type: \"L2\"");
    if (p_.clip_gradients() > 0.0F) optimizer.clip = widen(p_.clip_gradients());
    if (p_.clip_gradients() == 0.0F)
      refuse("clip_gradients", "clip_gradients is 0, which sets all gradients to 0", "clip_gradients: 10");
    if (!p_.local_lr_auto()) return;
    if (optimizer.kind != OptimizerKind::sgd)
      refuse("local_lr_auto", "local_lr_auto needs type SGD", "type: \"SGD\"");
    optimizer.kind = OptimizerKind::lars;
    optimizer.trust = real("local_gw_ratio", p_.local_gw_ratio(), 0.0, 1e30, "local_gw_ratio: 0.001");
  }

  void read_lengths() {
    solver_.max_iter = count("max_iter", p_.max_iter(), 1, "max_iter: 10000");
    solver_.schedule.total_steps = solver_.max_iter;
    solver_.iter_size = count("iter_size", p_.iter_size(), 1, "iter_size: 1");
    solver_.snapshot = count("snapshot", p_.snapshot(), 0, "snapshot: 5000");
  }

  void read_tests() {
    solver_.test_interval = count("test_interval", p_.test_interval(), 0, "test_interval: 500");
    if (p_.test_iter_size() > 0) solver_.test_iter = count("test_iter", p_.test_iter(0), 1, "test_iter: 100");
    if (solver_.test_interval > 0 && p_.test_iter_size() == 0)
      refuse("test_interval", "test_interval is given without test_iter", "test_iter: 100");
  }

  const proto::SolverParameter& p_;
  const PrototxtLocation& location_;
  CaffeReport& report_;
  CaffeSolver solver_;
};

}  // namespace

CaffeSolver parse_caffe_solver(std::string_view text, const std::string& file_name, CaffeReport& report) {
  if (const PrototxtGuess guess = guess_prototxt(text); guess.is_net()) {
    throw Error(ErrorKind::request,
                {fmt::format("this is a net, not a solver: it has {} layer(s) and no base_lr", guess.layers),
                 printable(file_name),
                 fmt::format("ddl-train --net {}   # or --solver with the file that names this net",
                             quote_shell(file_name))});
  }
  const SolverPrototxt file(text, file_name, report);
  return SolverReader(file, report).read();
}

}  // namespace ddlrun::runtime
