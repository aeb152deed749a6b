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

// One range of weights that learn alike, with the numbers of its step.
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

// `learn(i, g)` for each element with its regularised gradient; the branches are outside the loops, so that
// they vectorise.
template <typename Learn>
void for_each_gradient(const Span& span, const Numbers& numbers, const Learn& learn) {
  const float decay = numbers.decay;
  if (numbers.l1) {
    for (std::size_t i = 0; i < span.count; ++i)
      learn(i, numbers.scale * span.gradients[i] + decay * sign_of(span.weights[i]));
  } else if (numbers.scale != 1.0F) {
    for (std::size_t i = 0; i < span.count; ++i)
      learn(i, numbers.scale * span.gradients[i] + decay * span.weights[i]);
  } else {
    for (std::size_t i = 0; i < span.count; ++i) learn(i, span.gradients[i] + decay * span.weights[i]);
  }
}

void learn_sgd(const UpdateRule& rule, const Numbers& numbers, const Span& s) {
  const auto momentum = static_cast<float>(rule.momentum);
  const float rate = numbers.rate;
  const bool ahead = rule.kind == UpdateKind::nesterov;
  const bool holds_rate = rule.form == RuleForm::caffe || rule.kind == UpdateKind::lars;
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

void learn_adam(const UpdateRule& rule, const Numbers& numbers, std::size_t step, const Span& s) {
  const auto t = static_cast<double>(step) + 1.0;
  const double first = 1.0 - std::pow(rule.momentum, t);
  const double second = std::sqrt(1.0 - std::pow(rule.momentum2, t));
  const auto m = static_cast<float>(rule.momentum);
  const auto n = static_cast<float>(1.0 - rule.momentum);
  const auto m2 = static_cast<float>(rule.momentum2);
  const auto n2 = static_cast<float>(1.0 - rule.momentum2);
  // sqrt(s)/second + epsilon = (sqrt(s) + epsilon*second) / second: one division for both forms.
  const auto rate = static_cast<float>(static_cast<double>(numbers.rate) * second / first);
  const auto epsilon =
      static_cast<float>(rule.form == RuleForm::caffe ? rule.epsilon : rule.epsilon * second);
  for_each_gradient(s, numbers, [=](std::size_t i, float g) {
    s.first[i] = m * s.first[i] + n * g;
    s.second[i] = m2 * s.second[i] + n2 * g * g;
    s.weights[i] -= rate * s.first[i] / (std::sqrt(s.second[i]) + epsilon);
  });
}

void learn_by_squares(const UpdateRule& rule, const Numbers& numbers, const Span& s) {
  const bool forgets = rule.kind == UpdateKind::rmsprop;
  const auto keep = static_cast<float>(forgets ? rule.rms_decay : 1.0);
  const auto add = static_cast<float>(forgets ? 1.0 - rule.rms_decay : 1.0);
  const auto epsilon = static_cast<float>(rule.epsilon);
  const float rate = numbers.rate;
  for_each_gradient(s, numbers, [=](std::size_t i, float g) {
    s.first[i] = keep * s.first[i] + add * g * g;
    s.weights[i] -= rate * g / (std::sqrt(s.first[i]) + epsilon);
  });
}

void learn_adadelta(const UpdateRule& rule, const Numbers& numbers, const Span& s) {
  const auto keep = static_cast<float>(rule.momentum);
  const auto add = static_cast<float>(1.0 - rule.momentum);
  const auto epsilon = static_cast<float>(rule.epsilon);
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
double trust_ratio(const UpdateRule& rule, const Numbers& numbers, const Span& s) {
  const double weights = norm_of({s.weights, s.count});
  const double gradients = static_cast<double>(numbers.scale) * norm_of({s.gradients, s.count});
  if (weights == 0.0 || gradients == 0.0) return 1.0;
  return rule.trust * weights / (gradients + static_cast<double>(numbers.decay) * weights);
}

void learn(const UpdateRule& rule, Numbers numbers, std::size_t step, const Span& span) {
  switch (rule.kind) {
    case UpdateKind::lars:
      numbers.rate = static_cast<float>(static_cast<double>(numbers.rate) * trust_ratio(rule, numbers, span));
      return learn_sgd(rule, numbers, span);
    case UpdateKind::sgd:
    case UpdateKind::nesterov:
      return learn_sgd(rule, numbers, span);
    case UpdateKind::adam:
      return learn_adam(rule, numbers, step, span);
    case UpdateKind::adagrad:
    case UpdateKind::rmsprop:
      return learn_by_squares(rule, numbers, span);
    case UpdateKind::adadelta:
      return learn_adadelta(rule, numbers, span);
  }
}

}  // namespace

std::string_view name_of(UpdateKind kind) { return rule_names.at(static_cast<std::size_t>(kind)); }

bool uses_momentum(UpdateKind kind) { return kind != UpdateKind::adagrad && kind != UpdateKind::rmsprop; }
bool uses_epsilon(UpdateKind kind) {
  return kind != UpdateKind::sgd && kind != UpdateKind::nesterov && kind != UpdateKind::lars;
}
bool uses_form(UpdateKind kind) { return !uses_epsilon(kind) || kind == UpdateKind::adam; }

std::string render_rule_kind(const UpdateRule& rule) {
  return fmt::format("{}{}", name_of(rule.kind), rule.form == RuleForm::caffe ? " in Caffe's form" : "");
}

std::string render_rule(const UpdateRule& rule) {
  std::string text = render_rule_kind(rule);
  if (uses_momentum(rule.kind)) text += fmt::format(" momentum {}", rule.momentum);
  if (rule.kind == UpdateKind::adam) text += fmt::format(" momentum2 {}", rule.momentum2);
  if (rule.kind == UpdateKind::rmsprop) text += fmt::format(" rms decay {}", rule.rms_decay);
  if (rule.kind == UpdateKind::lars) text += fmt::format(" trust {}", rule.trust);
  if (uses_epsilon(rule.kind)) text += fmt::format(" epsilon {}", rule.epsilon);
  text += fmt::format(" weight decay {}{}", rule.weight_decay, rule.l1 ? " L1" : "");
  return rule.clip > 0.0 ? text + fmt::format(" clip {}", rule.clip) : text;
}

std::vector<std::string> find_rule_mistakes(const UpdateRule& rule) {
  std::vector<std::string> mistakes;
  const auto share = [&](std::string_view name, double value) {
    if (!(value >= 0.0 && value < 1.0))
      mistakes.push_back(fmt::format("{} {} is not from 0 up to, but not, 1", name, value));
  };
  const auto positive = [&](std::string_view name, double value) {
    if (!(value > 0.0 && std::isfinite(value)))
      mistakes.push_back(fmt::format("{} {} is not above 0", name, value));
  };
  const auto not_negative = [&](std::string_view name, double value) {
    if (!(value >= 0.0 && std::isfinite(value)))
      mistakes.push_back(fmt::format("{} {} is not 0 or more", name, value));
  };
  if (uses_momentum(rule.kind)) share("momentum", rule.momentum);
  if (rule.kind == UpdateKind::adam) share("momentum2", rule.momentum2);
  if (rule.kind == UpdateKind::rmsprop) share("rms decay", rule.rms_decay);
  if (rule.kind == UpdateKind::lars) positive("trust", rule.trust);
  if (uses_epsilon(rule.kind)) positive("epsilon", rule.epsilon);
  not_negative("weight decay", rule.weight_decay);
  not_negative("clip", rule.clip);
  return mistakes;
}

std::vector<std::string> state_names(const UpdateRule& rule) {
  switch (rule.kind) {
    case UpdateKind::sgd:
    case UpdateKind::nesterov:
    case UpdateKind::lars:
      return {"momentum_buffer"};
    case UpdateKind::adam:
      return {"exp_avg", "exp_avg_sq"};
    case UpdateKind::adagrad:
      return {"sum"};
    case UpdateKind::rmsprop:
      return {"square_avg"};
    case UpdateKind::adadelta:
      return {"square_avg", "acc_delta"};
  }
  return {};
}

bool needs_norms(const UpdateRule& rule) { return rule.kind == UpdateKind::lars || rule.clip > 0.0; }

std::vector<RateRun> plan_rates(const Net& net, const UpdateRule& rule) {
  std::vector<RateRun> runs;
  for (const NamedTensor& tensor : net.parameters) {
    if (runs.empty() || rule.kind == UpdateKind::lars || runs.back().lr_factor != tensor.lr_factor ||
        runs.back().decay_factor != tensor.decay_factor) {
      runs.push_back({{tensor.offset, tensor.offset}, tensor.lr_factor, tensor.decay_factor});
    }
    runs.back().range.end = tensor.offset + tensor.count;
  }
  return runs;
}

void update_range(const UpdateRule& rule, std::span<const RateRun> rates, const StepRates& step, Range range,
                  std::span<const float> gradients, const Learning& learning) {
  for (const RateRun& run : rates) {
    const std::size_t begin = std::max(run.range.begin, range.begin);
    const std::size_t end = std::min(run.range.end, range.end);
    if (begin >= end) continue;
    const Span span{learning.parameters.data() + begin, gradients.data() + (begin - range.begin),
                    learning.state.front().data() + begin,
                    learning.state.size() > 1 ? learning.state[1].data() + begin : nullptr, end - begin};
    learn(rule,
          {static_cast<float>(step.lr * run.lr_factor),
           static_cast<float>(rule.weight_decay * run.decay_factor), static_cast<float>(step.gradient_scale),
           rule.l1},
          step.step, span);
  }
}

double clip_scale(const UpdateRule& rule, std::span<const float> gradients) {
  if (rule.clip <= 0.0) return 1.0;
  const double norm = norm_of(gradients);
  return norm > rule.clip ? rule.clip / norm : 1.0;
}

}  // namespace ddlrun::runtime
