// SPDX-License-Identifier: MIT
// What ddl-train reads in Caffe's files, a value a line: for the comparison with protobuf's own Python.
#include "base/text/text.hpp"
#include "runtime/caffe/caffe_options.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace ddlrun::runtime;

std::string render_filler(const Filler& filler) {
  using Kind = Filler::Kind;
  switch (filler.kind) {
    case Kind::standard:
      return "ours";
    case Kind::constant:
      return fmt::format("constant:{:.6g}", filler.a);
    case Kind::uniform:
      return fmt::format("uniform:{:.6g}:{:.6g}", filler.a, filler.b);
    case Kind::gaussian:
      return fmt::format("gaussian:{:.6g}:{:.6g}", filler.a, filler.b);
    case Kind::xavier:
      return "xavier";
    case Kind::msra:
      return "msra";
  }
  return "?";
}

std::string render_optimizer(const ParameterSpec& rule) {
  return fmt::format("{} {:.6g} {:.6g}", render_filler(rule.filler), rule.lr_factor, rule.decay_factor);
}

void print_layer(const Layer& l) {
  std::string line = fmt::format("{} {} of {}", l.name, name_of(l.kind), ddlrun::join(l.inputs, " "));
  const std::string window = fmt::format(" {}x{} {}x{} {}x{}", l.kernel.height, l.kernel.width,
                                         l.stride.height, l.stride.width, l.padding.height, l.padding.width);
  const std::string rules = fmt::format(" {} bias {} {}", render_optimizer(l.weight_spec), l.bias ? 1 : 0,
                                        l.bias ? render_optimizer(l.bias_spec) : "");
  if (l.kind == LayerKind::convolution)
    line += fmt::format(" {} {} {}x{}", l.outputs, l.groups, l.dilation.height, l.dilation.width) + window +
            rules;
  if (l.kind == LayerKind::relu) line += fmt::format(" {:.6g}", l.slope);
  if (l.kind == LayerKind::inner_product) line += fmt::format(" {}", l.outputs) + rules;
  if (l.kind == LayerKind::pooling)
    line +=
        fmt::format(" {} {}", l.method == PoolMethod::max ? "MAX" : "AVE", l.global ? "global" : "sliding") +
        window;
  if (l.kind == LayerKind::dropout) line += fmt::format(" {:.6g}", l.rate);
  if (l.kind == LayerKind::lrn) line += fmt::format(" {} {:.6g} {:.6g} {:.6g}", l.size, l.alpha, l.beta, l.k);
  if (l.kind == LayerKind::batch_norm)
    line += fmt::format(" {:.6g} {:.6g}", l.epsilon, l.keep) + (l.bias ? rules : "");
  fmt::print("{}\n", line);
}

void print_data(const char* phase, const std::optional<CaffeData>& data) {
  if (!data) return;
  const CaffeTransform& t = data->transform;
  fmt::print("{} {} {} batch {} scale {:.6g} mirror {} crop {}x{} file {} mean", phase, name_of(data->kind),
             data->source, data->batch_size, t.scale, t.mirror ? 1 : 0, t.crop.height, t.crop.width,
             t.mean_file);
  for (const double mean : t.mean_values) fmt::print(" {:.6g}", mean);
  fmt::print("\n");
}

void print_net(const CaffeNet& net) {
  fmt::print("net {}\n", net.net.name);
  print_data("TRAIN", net.train_data);
  print_data("TEST", net.test_data);
  for (const Layer& layer : net.net.layers) print_layer(layer);
}

void print_solver(const CaffeSolver& s) {
  fmt::print("solver net {} test {}\n", s.net, s.test_net);
  fmt::print("rate {:.6g} {} {:.6g} {:.6g} {}", s.schedule.peak, name_of(s.schedule.decay), s.schedule.gamma,
             s.schedule.power, s.schedule.step_size);
  for (const std::size_t value : s.schedule.step_values) fmt::print(" {}", value);
  fmt::print("\nrule {} {:.6g} {:.6g} {:.6g} {:.6g} decay {:.6g} {} clip {:.6g}\n", name_of(s.optimizer.kind),
             s.optimizer.momentum, s.optimizer.momentum2, s.optimizer.rms_decay, s.optimizer.epsilon,
             s.optimizer.weight_decay, s.optimizer.l1 ? "L1" : "L2", s.optimizer.clip);
  fmt::print("steps {} {} test {} {} snapshot {} {} seed {} gpu {}\n", s.max_iter, s.iter_size, s.test_iter,
             s.test_interval, s.snapshot, s.snapshot_prefix,
             s.random_seed ? fmt::format("{}", *s.random_seed) : "none", s.wants_gpu ? 1 : 0);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string file = argv[i];
      const bool solver = file.find("solver") != std::string::npos;
      const CaffeRun run = read_caffe_run(solver ? file : "", solver ? "" : file, !solver);
      fmt::print("file {}\n", file.substr(file.rfind('/') + 1));
      if (run.solver) print_solver(*run.solver);
      if (run.net) print_net(*run.net);
    }
  } catch (const ddlrun::Error& error) {
    fmt::print(stderr, "{}", render_error("prototxt_values", error.message()));
    return 1;
  }
  return 0;
}
