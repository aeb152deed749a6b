// SPDX-License-Identifier: MIT
#include "runtime/app/option_warnings.hpp"

#include "base/text/text.hpp"
#include "runtime/data/dataset_locator.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::runtime {
namespace {

using Options = TrainOptions;

bool is_decay(const Options& o, std::initializer_list<LrDecay> kinds) {
  return std::find(kinds.begin(), kinds.end(), o.lr_decay) != kinds.end();
}

bool has_files(const Options&, const RunContext& run) {
  for (const DataKind kind : {DataKind::idx, DataKind::cifar10, DataKind::cifar100, DataKind::synthetic}) {
    if (run.data_kind == name_of(kind)) return false;
  }
  return true;
}

// An option that has a say in some runs only.
struct OptionScope {
  const char* option;
  const char* counts;  // when
  bool (*holds)(const Options&, const RunContext&);
};
constexpr OptionScope option_scopes[] = {
    {"--momentum", "with --optimizer sgd, nesterov, lars, adam, adadelta",
     [](const Options& o, const RunContext&) { return uses_momentum(make_optimizer(o).kind); }},
    {"--beta2", "with --optimizer adam",
     [](const Options& o, const RunContext&) { return make_optimizer(o).kind == OptimizerKind::adam; }},
    {"--epsilon", "with --optimizer adam, rmsprop, adagrad, adadelta",
     [](const Options& o, const RunContext&) { return uses_epsilon(make_optimizer(o).kind); }},
    {"--rms-decay", "with --optimizer rmsprop",
     [](const Options& o, const RunContext&) { return make_optimizer(o).kind == OptimizerKind::rmsprop; }},
    {"--trust-coefficient", "with --optimizer lars",
     [](const Options& o, const RunContext&) { return make_optimizer(o).kind == OptimizerKind::lars; }},
    {"--rule-form", "with --optimizer sgd, nesterov, lars, adam",
     [](const Options& o, const RunContext&) { return uses_form(make_optimizer(o).kind); }},
    {"--regularization", "with a --weight-decay above 0",
     [](const Options& o, const RunContext&) { return o.weight_decay > 0.0; }},
    {"--lr-gamma", "with --lr-decay step, multistep, exp, inv, sigmoid",
     [](const Options& o, const RunContext&) {
       return is_decay(o, {LrDecay::step, LrDecay::multistep, LrDecay::exp, LrDecay::inv, LrDecay::sigmoid});
     }},
    {"--lr-power", "with --lr-decay inv, poly",
     [](const Options& o, const RunContext&) {
       return is_decay(o, {LrDecay::inv, LrDecay::poly});
     }},
    {"--epochs", "without --total-steps",
     [](const Options& o, const RunContext&) { return o.total_steps == 0; }},
    {"--resize", "for images in files of their own, or in an LMDB", has_files},
    {"--channels", "for images in files of their own, or in an LMDB", has_files},
};

class WarningFinder {
 public:
  WarningFinder(const Options& options, const RunContext& run) : options_(options), run_(run) {}

  std::vector<Message> find() {
    find_idle();
    find_long_warmup();
    find_early_end();
    find_late_steps();
    find_many_threads();
    find_spare_outputs();
    return std::move(notes_);
  }

 private:
  bool is_users(const std::string& option) const {
    return options_.given.contains(option) &&
           std::find(run_.from_files.begin(), run_.from_files.end(), option) == run_.from_files.end();
  }

  void find_idle() {
    std::vector<std::string> idle;
    std::vector<std::string> names;
    for (const OptionScope& scope : option_scopes) {
      if (!is_users(scope.option) || scope.holds(options_, run_)) continue;
      idle.push_back(fmt::format("{} {} (used only {})", scope.option,
                                 printable(options_.given.at(scope.option), 60), scope.counts));
      names.emplace_back(scope.option);
    }
    if (idle.empty()) return;
    notes_.push_back({"options without effect in this run: " + join(idle, "; "), "command line",
                      "the same command without " + join(names, " and ")});
  }

  void find_long_warmup() {
    if (!is_users("--warmup-steps") || options_.warmup_steps < run_.total_steps) return;
    notes_.push_back({fmt::format("the run ends during warm-up: it has {} steps, but the warm-up {}",
                                  run_.total_steps, options_.warmup_steps),
                      "--warmup-steps", fmt::format("--warmup-steps {}", run_.total_steps / 10)});
  }

  // --epochs that end before --max-steps.
  void find_early_end() {
    if (!is_users("--max-steps") || options_.max_steps <= run_.total_steps) return;
    notes_.push_back({fmt::format("--epochs {} ends before --max-steps {}: the run has {} steps",
                                  options_.epochs, options_.max_steps, run_.total_steps),
                      "command line", fmt::format("--max-steps {} without --epochs", options_.max_steps)});
  }

  // Step values that the run never reaches.
  void find_late_steps() {
    if (!is_users("--lr-step") || options_.lr_steps.empty() || is_decay(options_, {LrDecay::sigmoid})) return;
    const std::size_t last = options_.lr_steps.back();
    if (last < run_.total_steps) return;
    notes_.push_back({fmt::format("the learning rate does not fall at step {}: the run has only {} steps",
                                  last, run_.total_steps),
                      "--lr-step",
                      fmt::format("--lr-step {}", std::max<std::size_t>(1, run_.total_steps / 2))});
  }

  void find_many_threads() {
    const auto threads = static_cast<std::size_t>(std::max(0, options_.threads));
    if (run_.processors == 0 || threads <= run_.processors) return;
    notes_.push_back({fmt::format("{} threads of this rank share {} processor(s)", threads, run_.processors),
                      "--threads", fmt::format("--threads {}", run_.processors)});
  }

  void find_spare_outputs() {
    if (run_.outputs <= run_.classes) return;
    notes_.push_back(
        {fmt::format("the net has {} outputs, but the data has {} classes: {} outputs are never used",
                     run_.outputs, run_.classes, run_.outputs - run_.classes),
         run_.last_layer, run_.caffe_net ? fmt::format("num_output: {}", run_.classes) : "outputs: classes"});
  }

  const Options& options_;
  const RunContext& run_;
  std::vector<Message> notes_;
};

}  // namespace

std::optional<Message> find_dropped_images(const RunFacts& facts) {
  const auto is_much = [&](std::size_t dropped) { return 10 * dropped > facts.train_images; };
  if (!is_much(facts.dropped_per_epoch)) return std::nullopt;
  const auto workers = static_cast<std::size_t>(facts.ranks - facts.servers);
  std::size_t batch = facts.local_batch;
  while (batch > 1 && is_much(facts.train_images % (batch * workers))) --batch;
  return Message{fmt::format("each epoch drops {} of {} training images, which do not fill a global batch",
                             facts.dropped_per_epoch, facts.train_images),
                 fmt::format("a global batch of {}", facts.global_batch),
                 fmt::format("--global-batch {}", batch * workers)};
}

std::vector<Message> find_option_warnings(const TrainOptions& options, const RunContext& run) {
  return WarningFinder(options, run).find();
}

}  // namespace ddlrun::runtime
