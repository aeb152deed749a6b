// SPDX-License-Identifier: MIT
// How weights apply from gradients: pure arithmetic on flat vectors, the same bits for any cut of them.
//
// With g = gradient + weight_decay * weight (or the sign of the weight, with l1) and rate = lr * lr_factor:
//   sgd       v = momentum*v + g;  w -= rate*v
//   nesterov  v = momentum*v + g;  w -= rate*(g + momentum*v)
//   lars      v = momentum*v + r*g;  w -= v, with r = rate * trust*|w| / (|gradient| + weight_decay*|w|) for
//             each tensor (You et al. 2017, algorithm 1)
//   adam      m = momentum*m + (1-momentum)*g;  s = momentum2*s + (1-momentum2)*g^2;
//             w -= rate * (m/(1-momentum^t)) / (sqrt(s/(1-momentum2^t)) + epsilon)
//   adagrad   s += g^2;  w -= rate*g / (sqrt(s) + epsilon)
//   rmsprop   s = rms_decay*s + (1-rms_decay)*g^2;  w -= rate*g / (sqrt(s) + epsilon)
//   adadelta  s = momentum*s + (1-momentum)*g^2;  d = g*sqrt((u+epsilon)/(s+epsilon));
//             u = momentum*u + (1-momentum)*d^2;  w -= rate*d
// That is PyTorch's form; OptimizerForm::caffe describes how Caffe's differs.
#pragma once

#include "runtime/core/range.hpp"
#include "runtime/models/net.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// Caffe's solver types are the same names in capitals (SGD, Nesterov, Adam, AdaGrad, RMSProp, AdaDelta).
enum class OptimizerKind { sgd, nesterov, adam, lars, adagrad, rmsprop, adadelta };

// caffe: v holds the rate (v = momentum*v + rate*g; w -= v), so that a rate that falls acts later; adam adds
// epsilon to the uncorrected sqrt(s).
enum class OptimizerForm { torch, caffe };

struct Optimizer {
  OptimizerKind kind = OptimizerKind::sgd;
  OptimizerForm form = OptimizerForm::torch;
  double momentum = 0.9;     // adam: beta1; Caffe's momentum
  double momentum2 = 0.999;  // adam: beta2; Caffe's momentum2
  double epsilon = 1e-8;     // Caffe's delta
  double rms_decay = 0.99;   // rmsprop; Caffe's rms_decay
  double weight_decay = 0.0;
  bool l1 = false;       // Caffe's regularization_type "L1"
  double trust = 0.001;  // lars
  double clip = 0.0;     // largest norm of all gradients together, larger ones are scaled; 0: none

  bool operator==(const Optimizer&) const = default;
};

std::string_view name_of(OptimizerKind kind);
// Whether the optimizer uses that hyperparameter.
bool uses_momentum(OptimizerKind kind);
bool uses_epsilon(OptimizerKind kind);
bool uses_form(OptimizerKind kind);
// Whether it divides each gradient by the usual size of that gradient, so that a rate is about the size of a
// step.
bool is_adaptive(OptimizerKind kind);
// The learning rate where none is given.
double default_rate(OptimizerKind kind);
// The part of the configuration that a checkpoint must match: "nesterov", "adam in Caffe's form".
std::string render_optimizer_kind(const Optimizer& optimizer);
// With all hyperparameters in use: "adam momentum 0.9 momentum2 0.999 epsilon 1e-08 weight decay 0".
std::string render_optimizer(const Optimizer& optimizer);
// Mistakes in the hyperparameters, one line each.
std::vector<std::string> find_optimizer_errors(const Optimizer& optimizer);

// PyTorch's names of the state vectors, each one float per weight: "momentum_buffer", or "exp_avg" and
// "exp_avg_sq". At most two.
std::vector<std::string> state_names(const Optimizer& optimizer);

// Whether an update needs the norm of a tensor or of all gradients, and thus all sums first.
bool needs_norms(const Optimizer& optimizer);

// Adjacent tensors with equal factors; for lars each tensor alone.
struct ParamGroup {
  Range range;
  double lr_factor;
  double decay_factor;
};
std::vector<ParamGroup> plan_param_groups(const Net& net, const Optimizer& optimizer);

// Views of the flat vectors of weights and state.
struct OptimizerState {
  std::span<float> parameters;
  std::vector<std::span<float>> state;  // as state_names()
};

// Hyperparameters of one step. `step` counts from 0. `gradient_scale`: factor from gradient clipping.
struct StepHyperparams {
  double lr = 0.0;
  std::size_t step = 0;
  double gradient_scale = 1.0;
};

// Updates elements [range.begin, range.end) of `state` from `gradients`, which holds only these elements. For
// optimizers that need norms, the range must begin and end at the boundaries of groups.
void update_range(const Optimizer& optimizer, std::span<const ParamGroup> rates, const StepHyperparams& step,
                  Range range, std::span<const float> gradients, const OptimizerState& state);

// Factor that scales the norm of all gradients down to optimizer.clip; 1 without clipping or for a smaller
// norm.
double clip_scale(const Optimizer& optimizer, std::span<const float> gradients);

}  // namespace ddlrun::runtime
