// SPDX-License-Identifier: MIT
#include "runtime/training/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ddlrun::runtime {
namespace {

constexpr std::array<std::string_view, 7> rule_names{"sgd",     "nesterov", "adam",    "lars",
                                                     "adagrad", "rmsprop",  "adadelta"};

// One range of weights that apply alike, with the numbers of its step.
struct Span {
  float* weights;
  const float* gradients;
  float* first;   // state vectors
  float* second;  // none: null
  std::size_t count;
};
struct Numbers {
  float rate;
  float decay;
  float scale;  // of the gradients
  bool l1;
};

float sign_of(float value) { return static_cast<float>((value > 0.0F) - (value < 0.0F)); }

// `apply(i, g)` for each element with its regularised gradient; the branches are outside the loops, so that
// they vectorise.
template <typename Learn>
void for_each_gradient(const Span& span, const Numbers& numbers, const Learn& apply) {
  const float decay = numbers.decay;
  if (numbers.l1) {
    for (std::size_t i = 0; i < span.count; ++i)
      apply(i, numbers.scale * span.gradients[i] + decay * sign_of(span.weights[i]));
  } else if (numbers.scale != 1.0F) {
    for (std::size_t i = 0; i < span.count; ++i)
      apply(i, numbers.scale * span.gradients[i] + decay * span.weights[i]);
  } else {
    for (std::size_t i = 0; i < span.count; ++i) apply(i, span.gradients[i] + decay * span.weights[i]);
  }
}

void apply_sgd(const Optimizer& optimizer, const Numbers& numbers, const Span& s) {
  const auto momentum = static_cast<float>(optimizer.momentum);
  const float rate = numbers.rate;
  const bool ahead = optimizer.kind == OptimizerKind::nesterov;
  const bool holds_rate = optimizer.form == OptimizerForm::caffe || optimizer.kind == OptimizerKind::lars;
  if (holds_rate && ahead) {
    for_each_gradient(s, numbers, [=](std::size_t i, float g) {
      s.first[i] = momentum * s.first[i] + rate * g;
      s.weights[i] -= rate * g + momentum * s.first[i];
    });
  } else if (holds_rate) {
    for_each_gradient(s, numbers, [=](std::size_t i, float g) {
      s.first[i] = momentum * s.first[i] + rate * g;
      s.weights[i] -= s.first[i];
    });
  } else if (ahead) {
    for_each_gradient(s, numbers, [=](std::size_t i, float g) {
      s.first[i] = momentum * s.first[i] + g;
      s.weights[i] -= rate * (g + momentum * s.first[i]);
    });
  } else {
    for_each_gradient(s, numbers, [=](std::size_t i, float g) {
      s.first[i] = momentum * s.first[i] + g;
      s.weights[i] -= rate * s.first[i];
    });
  }
}

void apply_adam(const Optimizer& optimizer, const Numbers& numbers, std::size_t step, const Span& s) {
  const auto t = static_cast<double>(step) + 1.0;
  const double first = 1.0 - std::pow(optimizer.momentum, t);
  const double second = std::sqrt(1.0 - std::pow(optimizer.momentum2, t));
  const auto m = static_cast<float>(optimizer.momentum);
  const auto n = static_cast<float>(1.0 - optimizer.momentum);
  const auto m2 = static_cast<float>(optimizer.momentum2);
  const auto n2 = static_cast<float>(1.0 - optimizer.momentum2);
  // sqrt(s)/second + epsilon = (sqrt(s) + epsilon*second) / second: one division for both forms.
  const auto rate = static_cast<float>(static_cast<double>(numbers.rate) * second / first);
  const auto epsilon = static_cast<float>(
      optimizer.form == OptimizerForm::caffe ? optimizer.epsilon : optimizer.epsilon * second);
  for_each_gradient(s, numbers, [=](std::size_t i, float g) {
    s.first[i] = m * s.first[i] + n * g;
    s.second[i] = m2 * s.second[i] + n2 * g * g;
    s.weights[i] -= rate * s.first[i] / (std::sqrt(s.second[i]) + epsilon);
  });
}

void apply_by_squares(const Optimizer& optimizer, const Numbers& numbers, const Span& s) {
  const bool forgets = optimizer.kind == OptimizerKind::rmsprop;
  const auto keep = static_cast<float>(forgets ? optimizer.rms_decay : 1.0);
  const auto add = static_cast<float>(forgets ? 1.0 - optimizer.rms_decay : 1.0);
  const auto epsilon = static_cast<float>(optimizer.epsilon);
  const float rate = numbers.rate;
  for_each_gradient(s, numbers, [=](std::size_t i, float g) {
    s.first[i] = keep * s.first[i] + add * g * g;
    s.weights[i] -= rate * g / (std::sqrt(s.first[i]) + epsilon);
  });
}

void apply_adadelta(const Optimizer& optimizer, const Numbers& numbers, const Span& s) {
  const auto keep = static_cast<float>(optimizer.momentum);
  const auto add = static_cast<float>(1.0 - optimizer.momentum);
  const auto epsilon = static_cast<float>(optimizer.epsilon);
  const float rate = numbers.rate;
  for_each_gradient(s, numbers, [=](std::size_t i, float g) {
    s.first[i] = keep * s.first[i] + add * g * g;
    const float step = g * std::sqrt((s.second[i] + epsilon) / (s.first[i] + epsilon));
    s.second[i] = keep * s.second[i] + add * step * step;
    s.weights[i] -= rate * step;
  });
}

// In double and in the order of the elements: the same on all ranks.
double norm_of(std::span<const float> values) {
  double sum = 0.0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

// 1 where a norm is 0, as a bias at the start: else it would never move.
double trust_ratio(const Optimizer& optimizer, const Numbers& numbers, const Span& s) {
  const double weights = norm_of({s.weights, s.count});
  const double gradients = static_cast<double>(numbers.scale) * norm_of({s.gradients, s.count});
  if (weights == 0.0 || gradients == 0.0) return 1.0;
  return optimizer.trust * weights / (gradients + static_cast<double>(numbers.decay) * weights);
}

void apply(const Optimizer& optimizer, Numbers numbers, std::size_t step, const Span& span) {
  switch (optimizer.kind) {
    case OptimizerKind::lars:
      numbers.rate =
          static_cast<float>(static_cast<double>(numbers.rate) * trust_ratio(optimizer, numbers, span));
      return apply_sgd(optimizer, numbers, span);
    case OptimizerKind::sgd:
    case OptimizerKind::nesterov:
      return apply_sgd(optimizer, numbers, span);
    case OptimizerKind::adam:
      return apply_adam(optimizer, numbers, step, span);
    case OptimizerKind::adagrad:
    case OptimizerKind::rmsprop:
      return apply_by_squares(optimizer, numbers, span);
    case OptimizerKind::adadelta:
      return apply_adadelta(optimizer, numbers, span);
  }
}

}  // namespace

std::string_view name_of(OptimizerKind kind) { return rule_names.at(static_cast<std::size_t>(kind)); }

bool uses_momentum(OptimizerKind kind) {
  return kind != OptimizerKind::adagrad && kind != OptimizerKind::rmsprop;
}
bool uses_epsilon(OptimizerKind kind) {
  return kind != OptimizerKind::sgd && kind != OptimizerKind::nesterov && kind != OptimizerKind::lars;
}
bool is_adaptive(OptimizerKind kind) { return uses_epsilon(kind); }

// PyTorch 2.7's; that of sgd suits the nets that come with ddl-train. Of lars: the base rate of You et al.
// 2017 for AlexNet, with their trust coefficient of 0.001, which is our default.
double default_rate(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::adam:
      return 0.001;
    case OptimizerKind::adagrad:
    case OptimizerKind::rmsprop:
      return 0.01;
    case OptimizerKind::adadelta:
      return 1.0;
    case OptimizerKind::lars:
      return 2.0;
    default:
      return 0.02;
  }
}

bool uses_form(OptimizerKind kind) { return !uses_epsilon(kind) || kind == OptimizerKind::adam; }

std::string render_optimizer_kind(const Optimizer& optimizer) {
  return fmt::format("{}{}", name_of(optimizer.kind),
                     optimizer.form == OptimizerForm::caffe ? " in Caffe's form" : "");
}

std::string render_optimizer(const Optimizer& optimizer) {
  std::string text = render_optimizer_kind(optimizer);
  if (uses_momentum(optimizer.kind)) text += fmt::format(" momentum {}", optimizer.momentum);
  if (optimizer.kind == OptimizerKind::adam) text += fmt::format(" momentum2 {}", optimizer.momentum2);
  if (optimizer.kind == OptimizerKind::rmsprop) text += fmt::format(" rms decay {}", optimizer.rms_decay);
  if (optimizer.kind == OptimizerKind::lars) text += fmt::format(" trust {}", optimizer.trust);
  if (uses_epsilon(optimizer.kind)) text += fmt::format(" epsilon {}", optimizer.epsilon);
  text += fmt::format(" weight decay {}{}", optimizer.weight_decay, optimizer.l1 ? " L1" : "");
  return optimizer.clip > 0.0 ? text + fmt::format(" clip {}", optimizer.clip) : text;
}

std::vector<std::string> find_optimizer_errors(const Optimizer& optimizer) {
  std::vector<std::string> errors;
  const auto share = [&](std::string_view name, double value) {
    if (!(value >= 0.0 && value < 1.0))
      errors.push_back(fmt::format("{} {} must be at least 0 and less than 1", name, value));
  };
  const auto positive = [&](std::string_view name, double value) {
    if (!(value > 0.0 && std::isfinite(value)))
      errors.push_back(fmt::format("{} {} must be above 0", name, value));
  };
  const auto not_negative = [&](std::string_view name, double value) {
    if (!(value >= 0.0 && std::isfinite(value)))
      errors.push_back(fmt::format("{} {} must be 0 or more", name, value));
  };
  if (uses_momentum(optimizer.kind)) share("momentum", optimizer.momentum);
  if (optimizer.kind == OptimizerKind::adam) share("momentum2", optimizer.momentum2);
  if (optimizer.kind == OptimizerKind::rmsprop) share("rms decay", optimizer.rms_decay);
  if (optimizer.kind == OptimizerKind::lars) positive("trust", optimizer.trust);
  if (uses_epsilon(optimizer.kind)) positive("epsilon", optimizer.epsilon);
  not_negative("weight decay", optimizer.weight_decay);
  not_negative("clip", optimizer.clip);
  return errors;
}

std::vector<std::string> state_names(const Optimizer& optimizer) {
  switch (optimizer.kind) {
    case OptimizerKind::sgd:
    case OptimizerKind::nesterov:
    case OptimizerKind::lars:
      return {"momentum_buffer"};
    case OptimizerKind::adam:
      return {"exp_avg", "exp_avg_sq"};
    case OptimizerKind::adagrad:
      return {"sum"};
    case OptimizerKind::rmsprop:
      return {"square_avg"};
    case OptimizerKind::adadelta:
      return {"square_avg", "acc_delta"};
  }
  return {};
}

bool needs_norms(const Optimizer& optimizer) {
  return optimizer.kind == OptimizerKind::lars || optimizer.clip > 0.0;
}

std::vector<ParamGroup> plan_param_groups(const Net& net, const Optimizer& optimizer) {
  std::vector<ParamGroup> runs;
  for (const NamedTensor& tensor : net.parameters) {
    if (runs.empty() || optimizer.kind == OptimizerKind::lars || runs.back().lr_factor != tensor.lr_factor ||
        runs.back().decay_factor != tensor.decay_factor) {
      runs.push_back({{tensor.offset, tensor.offset}, tensor.lr_factor, tensor.decay_factor});
    }
    runs.back().range.end = tensor.offset + tensor.count;
  }
  return runs;
}

void update_range(const Optimizer& optimizer, std::span<const ParamGroup> rates, const StepHyperparams& step,
                  Range range, std::span<const float> gradients, const OptimizerState& state) {
  for (const ParamGroup& run : rates) {
    const std::size_t begin = std::max(run.range.begin, range.begin);
    const std::size_t end = std::min(run.range.end, range.end);
    if (begin >= end) continue;
    const Span span{state.parameters.data() + begin, gradients.data() + (begin - range.begin),
                    state.state.front().data() + begin,
                    state.state.size() > 1 ? state.state[1].data() + begin : nullptr, end - begin};
    apply(optimizer,
          {static_cast<float>(step.lr * run.lr_factor),
           static_cast<float>(optimizer.weight_decay * run.decay_factor),
           static_cast<float>(step.gradient_scale), optimizer.l1},
          step.step, span);
  }
}

double clip_scale(const Optimizer& optimizer, std::span<const float> gradients) {
  if (optimizer.clip <= 0.0) return 1.0;
  const double norm = norm_of(gradients);
  return norm > optimizer.clip ? optimizer.clip / norm : 1.0;
}

}  // namespace ddlrun::runtime
