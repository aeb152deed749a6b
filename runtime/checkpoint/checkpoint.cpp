// SPDX-License-Identifier: MIT
#include "runtime/checkpoint/checkpoint.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <charconv>

namespace ddlrun::runtime {
namespace {

constexpr const char* checkpoint_format = "ddlrun.checkpoint/1";

Error refuse_run(const std::string& file, std::string what, std::string hint) {
  return {ErrorKind::request, {std::move(what), printable(file), std::move(hint)}};
}

std::string value_of(const Metadata& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "nothing" : found->second;
}

// Numbers in a text, one behind the other.
class PositionReader {
 public:
  PositionReader(const std::string& text, const std::string& file) : words_(split(text, ' ')), file_(file) {}

  template <typename Number>
  void read(Number& number) {
    const std::string_view word = next_ < words_.size() ? words_[next_] : "";
    const char* const end = word.data() + word.size();
    const auto [at, code] = std::from_chars(word.data(), end, number);
    if (word.empty() || at != end || code != std::errc{}) refuse();
    ++next_;
  }
  void end() const {
    if (next_ != words_.size()) refuse();
  }

 private:
  [[noreturn]] void refuse() const {
    throw refuse_run(file_, "the metadata 'position' is invalid",
                     "--resume with another checkpoint of the directory");
  }

  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
  const std::string& file_;
};

template <typename Visitor, typename Position>
void visit_position(Visitor&& visit, Position& position) {
  visit(position.step);
  visit(position.epoch);
  visit(position.step_in_epoch);
  visit(position.tested_step);
  visit(position.loss_sum);
  visit(position.correct_sum);
  visit(position.last.epoch);
  visit(position.last.steps);
  visit(position.last.train_loss);
  visit(position.last.train_accuracy);
  visit(position.last.test_loss);
  visit(position.last.test_accuracy);
  visit(position.last.train_seconds);
}

void check_net(const Metadata& metadata, const Net& net, const RunIdentity& identity,
               const std::string& file) {
  const std::string name = value_of(metadata, "net");
  if (name != net.name) {
    throw refuse_run(file,
                     fmt::format("the checkpoint is of the net {}, but this run trains {}", printable(name),
                                 printable(net.name)),
                     "--net " + quote_shell(printable(name)));
  }
  const std::string hash = fmt::format("{:016x}", identity.net_hash);
  if (value_of(metadata, "net_hash") != hash) {
    throw refuse_run(file,
                     fmt::format("the layers of {} differ between the checkpoint ({}) and this run ({})",
                                 printable(name), printable(value_of(metadata, "net_hash")), hash),
                     "the original net and images, or --checkpoint NEW_DIR without --resume");
  }
}

void check_rule(const Metadata& metadata, const Optimizer& optimizer, const std::string& file) {
  const std::string here = render_optimizer_kind(optimizer);
  const std::string there = value_of(metadata, "optimizer");
  if (there == here) return;
  throw refuse_run(file,
                   fmt::format("the checkpoint's optimizer is {}, but this run's is {}: their states differ",
                               printable(there), here),
                   "--optimizer " + quote_shell(printable(there.substr(0, there.find(' ')))));
}

void check_images(const Metadata& metadata, const RunIdentity& identity, const std::string& file) {
  const std::string images = std::to_string(identity.images);
  const std::string hash = fmt::format("{:016x}", identity.data_hash);
  if (value_of(metadata, "images") == images && value_of(metadata, "data_hash") == hash) return;
  const auto fraction_in = [](const Metadata& data) {
    const auto found = data.find("val_fraction");
    return found == data.end() ? std::string() : found->second;
  };
  const std::string there = fraction_in(metadata), here = fraction_in(identity.model);
  if (there != here)
    throw refuse_run(
        file,
        fmt::format("the checkpoint was trained {}, but this run is {}",
                    there.empty() ? "without --val-fraction" : "with --val-fraction " + printable(there),
                    here.empty() ? "without it" : "with --val-fraction " + here),
        there.empty() ? "the same command without --val-fraction"
                      : "--val-fraction " + quote_shell(printable(there)));
  throw refuse_run(
      file,
      fmt::format("the checkpoint was trained on {} images (hash {}), but this run has {} (hash {})",
                  printable(value_of(metadata, "images")), printable(value_of(metadata, "data_hash")), images,
                  hash),
      "--data DIR with the images of that run");
}

// With as many ranks and micro-batches as can share the checkpoint's batch evenly.
std::string plan_same_batch(const Metadata& metadata, const TrainPlan& plan, const RunIdentity& identity) {
  const std::string text = value_of(metadata, "global_batch");
  std::string words = fmt::format("--global-batch {} --lr {}", quote_shell(printable(text)),
                                  quote_shell(printable(value_of(metadata, "lr"))));
  const std::size_t batch = parse_unsigned(text).value_or(0);
  const auto all = static_cast<std::size_t>(identity.ranks - identity.servers);
  std::size_t workers = all;
  while (batch % workers != 0) --workers;
  if (batch / workers % plan.accumulate != 0) words += " --gradient-accumulation 1";
  if (workers < all)
    words =
        fmt::format("mpirun -n {} ddl-train {}", workers + static_cast<std::size_t>(identity.servers), words);
  return words + "   # without --batch-size and --lr-scale";
}

// With as many epochs or steps behind `step` as were asked for: an end at `step` would train none.
std::string plan_reaching(const TrainPlan& plan, std::size_t images, std::size_t step) {
  const std::size_t each = steps_of_epoch(plan, images);
  if (plan.max_steps == 0) {
    const std::size_t done = (step + each - 1) / each;
    return fmt::format("--epochs {}   # {} more", done + plan.epochs, plan.epochs);
  }
  const std::size_t end = step + plan.max_steps;
  if (plan.epochs * each >= end)
    return fmt::format("--max-steps {0}   # {1} more; or --total-steps {0}, whichever was given", end,
                       plan.max_steps);
  return fmt::format("--total-steps {}   # {} more, without --max-steps and --epochs", end, plan.max_steps);
}

}  // namespace

Metadata render_run(const Net& net, const TrainPlan& plan, const RunIdentity& identity,
                    const TrainPosition& position) {
  Metadata run = {
      {"format", checkpoint_format},
      {"program", identity.program},
      {"net", net.name},
      {"net_hash", fmt::format("{:016x}", identity.net_hash)},
      {"images", std::to_string(identity.images)},
      {"data_hash", fmt::format("{:016x}", identity.data_hash)},
      {"global_batch", std::to_string(plan.global_batch)},
      {"seed", std::to_string(plan.seed)},
      {"ranks", std::to_string(identity.ranks)},
      {"dims", identity.dims},
      {"total_steps", std::to_string(plan.schedule.total_steps)},
      {"lr", fmt::format("{}", plan.schedule.peak)},
      {"lr_decay", render_decay(plan.schedule)},
      {"warmup_steps", std::to_string(plan.schedule.warmup_steps)},
      {"optimizer", render_optimizer_kind(plan.optimizer)},
      {"accumulate", std::to_string(plan.accumulate)},
      {"clip", fmt::format("{}", plan.optimizer.clip)},
      {"momentum", fmt::format("{}", plan.optimizer.momentum)},
      {"weight_decay", fmt::format("{}", plan.optimizer.weight_decay)},
      {"step", std::to_string(position.step)},
      {"epoch", std::to_string(position.epoch)},
      {"step_in_epoch", std::to_string(position.step_in_epoch)},
      {"test_accuracy", position.tested_step == 0 ? "" : fmt::format("{}", position.last.test_accuracy)},
      {"position", render_position(position)}};
  run.insert(identity.model.begin(), identity.model.end());
  return run;
}

void check_same_run(const Metadata& metadata, const Net& net, const TrainPlan& plan,
                    const RunIdentity& identity, const std::string& file) {
  if (value_of(metadata, "format") != checkpoint_format) {
    throw refuse_run(file,
                     fmt::format("the format is {}, but this version reads {}",
                                 printable(value_of(metadata, "format")), checkpoint_format),
                     "--resume with a checkpoint that ddl-train wrote");
  }
  check_net(metadata, net, identity, file);
  check_images(metadata, identity, file);
  check_rule(metadata, plan.optimizer, file);
  const std::string batch = value_of(metadata, "global_batch");
  if (batch != std::to_string(plan.global_batch)) {
    throw refuse_run(file,
                     fmt::format("the checkpoint's global batch is {}, but this run's is {}",
                                 printable(batch), plan.global_batch),
                     plan_same_batch(metadata, plan, identity));
  }
  const std::string seed = value_of(metadata, "seed");
  if (seed != std::to_string(plan.seed)) {
    throw refuse_run(file,
                     fmt::format("the checkpoint's image order has seed {}, but this run's has seed {}",
                                 printable(seed), plan.seed),
                     "--seed " + quote_shell(printable(seed)));
  }
  const TrainPosition position = parse_position(value_of(metadata, "position"), file);
  if (position.step > plan.schedule.total_steps) {
    throw refuse_run(file,
                     fmt::format("the checkpoint is at step {}, but this run ends at step {}", position.step,
                                 plan.schedule.total_steps),
                     plan_reaching(plan, identity.images, position.step));
  }
}

std::vector<std::string> find_differences(const Metadata& metadata, const Net& net, const TrainPlan& plan,
                                          const RunIdentity& identity) {
  const Metadata now = render_run(net, plan, identity, {});
  std::vector<std::string> differences;
  for (const char* key : {"lr", "lr_decay", "warmup_steps", "total_steps", "momentum", "weight_decay", "clip",
                          "accumulate", "ranks", "dims"}) {
    if (value_of(metadata, key) != now.at(key)) {
      differences.push_back(fmt::format("{}: {}, but {} in the checkpoint", key, now.at(key),
                                        printable(value_of(metadata, key))));
    }
  }
  return differences;
}

std::string render_position(const TrainPosition& position) {
  std::string text;
  visit_position([&](const auto& number) { text += fmt::format("{}{}", text.empty() ? "" : " ", number); },
                 position);
  return text;
}

TrainPosition parse_position(const std::string& text, const std::string& file) {
  TrainPosition position;
  PositionReader reader(text, file);
  visit_position([&](auto& number) { reader.read(number); }, position);
  reader.end();
  return position;
}

}  // namespace ddlrun::runtime
