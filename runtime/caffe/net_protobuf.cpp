// SPDX-License-Identifier: MIT
#include "base/text/text.hpp"
#include "runtime/caffe/caffe_net.hpp"
#include "runtime/caffe/phase_protobuf.hpp"
#include "runtime/models/layer_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ddlrun::runtime {
namespace {

namespace proto = caffe_files;

constexpr NetWord caffe_net_words[] = {
    {"outputs:", "num_output:"},
    {"kernel:", "kernel_size:"},
    {"padding:", "pad:"},
    {"groups:", "group:"},
    {"rate:", "dropout_ratio:"},
    {"size:", "local_size:"},
    {"epsilon:", "eps:"},
    {"slope:", "negative_slope:"},
    {"kind: inner_product, outputs: classes",
     "type: \"InnerProduct\" inner_product_param { num_output: 10 }"},
    {"kind: inner_product", "type: \"InnerProduct\""},
    {"kind: convolution", "type: \"Convolution\""},
    {"kind: pooling", "type: \"Pooling\""},
    {"kind: sum   # or concat", "type: \"Eltwise\"   # or Concat"},
};

// A net, wherever it is written.
struct LocatedNet {
  const proto::NetParameter* net = nullptr;
  PrototxtLocation location;
};

// As in Caffe's solver: the phase, overridden by the net's state, overridden by the solver's state.
proto::NetState make_state(proto::Phase phase, const proto::NetParameter& net,
                           const proto::NetState* of_solver) {
  proto::NetState state;
  state.set_phase(phase);
  state.MergeFrom(net.state());
  if (of_solver != nullptr) state.MergeFrom(*of_solver);
  return state;
}

bool has_data(const std::vector<LocatedLayer>& layers, const proto::NetState& state) {
  CaffeReport unused;
  return std::any_of(layers.begin(), layers.end(), [&](const LocatedLayer& layer) {
    return is_included(layer, state, unused) && find_role(layer, unused) == LayerRole::data;
  });
}

// Both phases read the same layers: removes duplicate messages.
void merge_reports(CaffeReport second, CaffeReport& first) {
  const auto add = [](std::vector<Message>& from, std::vector<Message>& to) {
    const std::vector<Message> before = to;
    for (Message& message : from) {
      const auto same = [&](const Message& reported) { return reported.where == message.where; };
      if (std::none_of(before.begin(), before.end(), same)) to.push_back(std::move(message));
    }
  };
  add(second.errors, first.errors);
  add(second.notes, first.notes);
  for (const auto& [name, count] : second.unused) first.unused[name] = std::max(first.unused[name], count);
}

// The name of a net is the run's in summaries: what cannot be printed there is left out.
std::string name_net(const proto::NetParameter& net, const std::string& file) {
  const std::string stem = file.substr(file.rfind('/') + 1);
  std::string name = net.name().empty() ? stem.substr(0, stem.rfind('.')) : net.name();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c <= ' ' || c > '~' || c == '"' || c == '\\'; }, '_');
  return name.substr(0, 100);
}

// The images of both phases go through one transform; mirrors are for training only.
void check_same_transform(const CaffeNet& net, CaffeReport& report) {
  if (!net.train_data || !net.test_data) return;
  const auto describe = [](const CaffeTransform& t) {
    std::string text = fmt::format("scale {} crop {}x{} mean_file '{}' mean_value", t.scale, t.crop.height,
                                   t.crop.width, printable(t.mean_file));
    for (const double mean : t.mean_values) text += fmt::format(" {}", mean);
    return text;
  };
  const std::string train = describe(net.train_data->transform);
  const std::string test = describe(net.test_data->transform);
  if (train == test) return;
  report.refuse(
      net.test_data->location,
      fmt::format("test images are transformed differently from training images: TRAIN has {}; TEST has {}",
                  train, test),
      "transform_param { ... }   # the same in both, except mirror");
}

CaffeNet read_net(const LocatedNet& train, const proto::NetState* train_state, const LocatedNet& test,
                  const proto::NetState* test_state, CaffeReport& report) {
  check_known_fields(*train.net, train.location, "", report);
  const std::vector<LocatedLayer> layers = list_layers(*train.net, train.location, report);
  CaffePhase training =
      read_phase(layers, make_state(proto::TRAIN, *train.net, train_state), train.location, report);
  CaffeNet net;
  net.net.name = name_net(*train.net, train.location.file());
  net.net.location = train.location.text();
  net.net.words = caffe_net_words;
  if (test.net != nullptr) {
    CaffeReport of_test;
    if (test.net != train.net) check_known_fields(*test.net, test.location, "", of_test);
    const proto::NetState state = make_state(proto::TEST, *test.net, test_state);
    const std::vector<LocatedLayer> test_layers = list_layers(*test.net, test.location, of_test);
    if (has_data(test_layers, state)) {
      CaffePhase testing = read_phase(test_layers, state, test.location, of_test);
      if (report.errors.empty() && of_test.errors.empty()) check_same_layers(training, testing, of_test);
      net.test_data = std::move(testing.data);
    }
    merge_reports(std::move(of_test), report);
  }
  net.train_data = std::move(training.data);
  check_same_transform(net, report);
  if (net.train_data && net.train_data->shape) net.net.images = {*net.train_data->shape};
  net.net.layers = std::move(training.layers);
  return net;
}

}  // namespace

CaffeNet parse_caffe_net(const CaffeNetText& text, const CaffeNetText* test, CaffeReport& report) {
  if (guess_prototxt(text.text).is_solver()) {
    throw Error(ErrorKind::request, {"this is a solver, not a net: it has a base_lr and no layers",
                                     printable(text.file), "ddl-train --solver " + quote_shell(text.file)});
  }
  const NetPrototxt net(text.text, text.file, report);
  const LocatedNet train{&net.parameter, net.location};
  if (test == nullptr) return read_net(train, nullptr, train, nullptr, report);
  const NetPrototxt other(test->text, test->file, report);
  return read_net(train, nullptr, {&other.parameter, other.location}, nullptr, report);
}

CaffeNet parse_caffe_net_of_solver(const CaffeNetText& solver, const CaffeNetText* net,
                                   const CaffeNetText* test, CaffeReport& report) {
  CaffeReport reported;  // by parse_caffe_solver() already
  const SolverPrototxt file(solver.text, solver.file, reported);
  const proto::SolverParameter& s = file.parameter;
  std::optional<NetPrototxt> net_file;
  std::optional<NetPrototxt> test_file;
  LocatedNet train;
  if (s.has_train_net_param()) {
    train = {&s.train_net_param(), file.location.at("train_net_param")};
  } else if (s.has_net_param()) {
    train = {&s.net_param(), file.location.at("net_param")};
  } else if (net != nullptr) {
    net_file.emplace(net->text, net->file, report);
    train = {&net_file->parameter, net_file->location};
  } else {
    throw Error(ErrorKind::request,
                {"the solver names no net", file.location.text(), "net: \"train_val.prototxt\""});
  }
  LocatedNet tested;
  if (s.test_net_param_size() > 0) {
    tested = {&s.test_net_param(0), file.location.at("test_net_param")};
  } else if (test != nullptr) {
    test_file.emplace(test->text, test->file, report);
    tested = {&test_file->parameter, test_file->location};
  } else if (s.has_net() || s.has_net_param()) {
    tested = train;
  }
  return read_net(train, s.has_train_state() ? &s.train_state() : nullptr, tested,
                  s.test_state_size() > 0 ? &s.test_state(0) : nullptr, report);
}

Net plan_caffe_net(const CaffeNet& net, Shape input, int classes) {
  Net planned = plan_net(net.net, input, classes);
  const PlannedLayer& last = planned.layers.back();
  if (last.output.height == 1 && last.output.width == 1) return planned;
  throw Error(ErrorKind::request,
              {fmt::format("the loss reads {} of layer {}; it must be 1x1, one result per image",
                           render_shape(last.output), last.name),
               last.layer.location,
               "pooling_param { pool: AVE global_pooling: true }   # in a layer before the loss"});
}

}  // namespace ddlrun::runtime
