// SPDX-License-Identifier: MIT
#include "runtime/caffe/caffe_options.hpp"

#include "base/text/text.hpp"
#include "runtime/caffe/caffe_command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace ddlrun::runtime {
namespace {

constexpr int dummy_images = 10'000;  // an epoch of DummyData

// Options that optimizer out others: where the user writes the first, the files' second is not from_files
// under.
struct OptionRivals {
  const char* users;
  const char* files;
};
constexpr OptionRivals option_rivals[] = {
    {"--global-batch", "--batch-size"}, {"--epochs", "--total-steps"},  {"--max-steps", "--total-steps"},
    {"--lr-decay", "--lr-gamma"},       {"--lr-decay", "--lr-power"},   {"--lr-decay", "--lr-step"},
    {"--nesterov", "--optimizer"},      {"--optimizer", "--rule-form"}, {"--nesterov", "--rule-form"},
    {"--data", "--test-data"},
};

std::string option_of(const std::string& word) { return word.substr(0, word.find('=')); }

// The value of an option, "" if it is not given.
std::string find_value(std::span<const std::string> args, const std::string& option) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (option_of(args[i]) != option) continue;
    if (args[i] != option) return args[i].substr(option.size() + 1);
    return i + 1 < args.size() ? args[i + 1] : "";
  }
  return "";
}

// Checks that the net's mean image exists, unless --mean replaces it.
void check_mean_file(const CaffeCommand& command) {
  if (!command.run.net || !command.run.net->train_data) return;
  const CaffeData& data = *command.run.net->train_data;
  const std::string& mean = data.transform.mean_file;
  std::error_code ignored;
  if (mean.empty() || find_value(command.line.args, "--mean") != mean) return;
  if (std::filesystem::exists(mean, ignored)) return;
  throw Error(ErrorKind::request, {"the net's mean image does not exist: " + printable(mean), data.location,
                                   "--mean 120   # one value, or one per channel, instead of that file"});
}

class WordLayer {
 public:
  explicit WordLayer(std::span<const std::string> args) { result_.args.assign(args.begin(), args.end()); }

  CaffeOptions lay(const CaffeRun& run) {
    if (run.solver) add_solver(*run.solver);
    if (run.net) add_data(*run.net);
    return std::move(result_);
  }

 private:
  // The user's word for this option, or nothing.
  std::optional<std::string> find_users(const std::string& option) const {
    const auto& args = result_.args;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (option_of(args[i]) != option) continue;
      if (args[i] != option) return option + " " + args[i].substr(option.size() + 1);
      const bool has_value = i + 1 < args.size() && !args[i + 1].starts_with("--");
      return has_value ? option + " " + args[i + 1] : option;
    }
    return std::nullopt;
  }

  // `field`: how the file calls it, "" if the user need not hear of it.
  void add(const std::string& option, const std::string& value, const std::string& field) {
    std::optional<std::string> users = find_users(option);
    for (const OptionRivals& rival : option_rivals) {
      if (!users && option == rival.files) users = find_users(rival.users);
    }
    if (!users) {
      added_.push_back(option);
      result_.from_files.push_back(option);
      if (!value.empty()) added_.push_back(value);
    } else if (!field.empty()) {
      result_.overridden.push_back(fmt::format("{} instead of {} {}", *users, field, value));
    }
  }
  void flush() {
    result_.args.insert(result_.args.end(), added_.begin(), added_.end());
    added_.clear();
  }

  static std::string render_number(double value) { return fmt::format("{}", value); }

  void add_solver(const CaffeSolver& solver) {
    if (const auto users = find_users("--net"); users && !solver.net.empty()) {
      result_.overridden.push_back(
          fmt::format("{} instead of net {} with its images and batch_size", *users, solver.net));
    }
    add_rates(solver.schedule);
    add_optimizer(solver.optimizer);
    add("--lr-scale", "none", "");
    add("--total-steps", fmt::format("{}", solver.max_iter), "max_iter");
    if (solver.iter_size > 1)
      add("--gradient-accumulation", fmt::format("{}", solver.iter_size), "iter_size");
    if (solver.test_interval > 0)
      add("--test-every", fmt::format("{}", solver.test_interval), "test_interval");
    if (solver.random_seed) add("--seed", fmt::format("{}", *solver.random_seed), "random_seed");
    if (solver.snapshot > 0 && !solver.snapshot_prefix.empty()) {
      add("--checkpoint", solver.snapshot_prefix, "snapshot_prefix");
      add("--checkpoint-every", fmt::format("{}", solver.snapshot), "snapshot");
    }
    flush();
  }

  void add_rates(const LrSchedule& schedule) {
    add("--lr", render_number(schedule.peak), "base_lr");
    add("--lr-decay", name_of(schedule.decay), "lr_policy");
    const LrDecay decay = schedule.decay;
    const bool steps = decay == LrDecay::step || decay == LrDecay::multistep || decay == LrDecay::sigmoid;
    if (steps || decay == LrDecay::exp || decay == LrDecay::inv)
      add("--lr-gamma", render_number(schedule.gamma), "gamma");
    if (decay == LrDecay::inv || decay == LrDecay::poly)
      add("--lr-power", render_number(schedule.power), "power");
    std::vector<std::string> values;
    for (const std::size_t value : schedule.step_values) values.push_back(fmt::format("{}", value));
    if (decay == LrDecay::multistep)
      add("--lr-step", join(values, ","), "stepvalue");
    else if (steps)
      add("--lr-step", fmt::format("{}", schedule.step_size), "stepsize");
    if (schedule.warmup_steps > 0)
      add("--warmup-steps", fmt::format("{}", schedule.warmup_steps), "warmup_iter");
  }

  void add_optimizer(const Optimizer& optimizer) {
    add("--optimizer", std::string(name_of(optimizer.kind)), "type");
    add("--rule-form", "caffe", "");
    add("--momentum", render_number(optimizer.momentum), "momentum");
    add("--weight-decay", render_number(optimizer.weight_decay), "weight_decay");
    if (optimizer.l1) add("--regularization", "l1", "regularization_type");
    if (optimizer.clip > 0.0) add("--clip", render_number(optimizer.clip), "clip_gradients");
    const OptimizerKind kind = optimizer.kind;
    if (kind == OptimizerKind::adam) add("--beta2", render_number(optimizer.momentum2), "momentum2");
    if (kind == OptimizerKind::rmsprop) add("--rms-decay", render_number(optimizer.rms_decay), "rms_decay");
    if (kind == OptimizerKind::lars)
      add("--trust-coefficient", render_number(optimizer.trust), "local_gw_ratio");
    if (kind != OptimizerKind::sgd && kind != OptimizerKind::nesterov && kind != OptimizerKind::lars)
      add("--epsilon", render_number(optimizer.epsilon), "delta");
  }

  void add_data(const CaffeNet& net) {
    if (!net.train_data) return;
    const CaffeData& data = *net.train_data;
    if (data.batch_size > 0) add("--batch-size", fmt::format("{}", data.batch_size), "batch_size");
    add_location(net);
    add_transform(data);
    flush();
  }

  void add_location(const CaffeNet& net) {
    const CaffeData& data = *net.train_data;
    std::string location = data.source;
    if (data.kind == CaffeSource::invented && data.shape) {
      location = fmt::format("synthetic:{}x{}x{}x{}:{}", data.shape->channels, data.shape->height,
                             data.shape->width, std::max(2, net.net.layers.back().outputs), dummy_images);
    } else if (data.kind != CaffeSource::lmdb && data.kind != CaffeSource::list && !find_users("--data")) {
      throw Error(ErrorKind::request,
                  {fmt::format("ddl-train cannot read the images of a layer of type {}{}", data.type,
                               data.kind == CaffeSource::leveldb ? ", from LevelDB" : ""),
                   data.location, "--data DIR   # the same images as LMDB, IDX files or class directories"});
    }
    add("--data", location, "source");
    if (net.test_data &&
        (net.test_data->kind == CaffeSource::lmdb || net.test_data->kind == CaffeSource::list))
      add("--test-data", net.test_data->source, "source");
  }

  void add_transform(const CaffeData& data) {
    const auto sides = [](const Sides& s) { return fmt::format("{}x{}", s.height, s.width); };
    const CaffeTransform& t = data.transform;
    add("--scale", render_number(t.scale), "scale");
    std::vector<std::string> means;
    for (const double mean : t.mean_values) means.push_back(render_number(mean));
    if (!means.empty()) add("--mean", join(means, ","), "mean_value");
    if (!t.mean_file.empty()) add("--mean", t.mean_file, "mean_file");
    if (t.crop.height > 0) add("--crop", sides(t.crop), "crop_size");
    if (t.mirror) add("--mirror", "", "mirror");
    if (data.channels > 0 && !find_users("--data")) add("--channels", fmt::format("{}", data.channels), "");
    if (data.resize.height > 0) add("--resize", sides(data.resize), "new_height");
  }

  CaffeOptions result_;
  std::vector<std::string> added_;
};

}  // namespace

CaffeOptions merge_caffe_options(const CaffeRun& run, std::span<const std::string> args) {
  return WordLayer(args).lay(run);
}

CaffeCommand read_caffe_command(std::span<const std::string> args) {
  CaffeCommand command;
  command.line.args = translate_caffe_args(args);
  const std::vector<std::string>& all = command.line.args;
  const auto says = [&](const char* word) { return std::find(all.begin(), all.end(), word) != all.end(); };
  if (says("--help") || says("-h")) return command;
  const std::string solver = find_value(all, "--solver");
  const std::string net = find_value(all, "--net");
  const bool caffe_net = is_prototxt(net);
  if (solver.empty() && !caffe_net) return command;
  command.run = read_caffe_run(solver, caffe_net ? net : "", net.empty());
  command.line = merge_caffe_options(command.run, all);
  check_mean_file(command);
  return command;
}

std::optional<std::string> find_list_root(const CaffeCommand& command, const std::string& data) {
  const std::optional<CaffeNet>& net = command.run.net;
  if (!net || !net->train_data || net->train_data->kind != CaffeSource::list) return std::nullopt;
  if (net->train_data->source != data) return std::nullopt;
  const std::string& root = net->train_data->root_directory;
  return root.empty() ? "." : root;  // Caffe's paths start at the working directory
}

std::string render_caffe(const CaffeCommand& command, std::string_view program, std::size_t test_images) {
  const CaffeRun& run = command.run;
  std::string text;
  if (run.solver) {
    const std::string more = join(command.line.overridden, ", ");
    text += fmt::format("solver: {}; rates unscaled for any number of ranks, batch_size per rank{}{}\n",
                        printable(run.solver->file), more.empty() ? "" : "; ", printable(more, 1000));
  }
  std::vector<Message> notes = run.notes;
  if (auto note = check_test_size(run, test_images)) notes.push_back(std::move(*note));
  for (const Message& note : notes) text += render_message(program, "note", note);
  return text;
}

std::optional<Message> check_test_size(const CaffeRun& run, std::size_t test_images) {
  if (!run.solver || run.solver->test_iter == 0 || !run.net || !run.net->test_data) return std::nullopt;
  const auto batch = static_cast<std::size_t>(run.net->test_data->batch_size);
  if (batch == 0 || test_images == 0 || run.solver->test_iter * batch == test_images) return std::nullopt;
  std::size_t divisor = std::min(batch, test_images);
  while (test_images % divisor != 0) --divisor;
  const std::string other =
      divisor == batch ? "" : fmt::format("   # and batch_size: {} in the TEST phase", divisor);
  return Message{fmt::format("each test takes all {} test images; test_iter {} x batch_size {} are {}",
                             test_images, run.solver->test_iter, batch, run.solver->test_iter * batch),
                 printable(run.solver->file), fmt::format("test_iter: {}{}", test_images / divisor, other)};
}

}  // namespace ddlrun::runtime
