// SPDX-License-Identifier: MIT
#include "runtime/engine/cpu/program.hpp"

#include "runtime/engine/cpu/builder.hpp"
#include "runtime/engine/cpu/layers.hpp"

#include <utility>

namespace ddlrun::runtime::cpu {
namespace {

class ProgramCompiler {
 public:
  ProgramCompiler(const Net& net, std::size_t batch, const FlatVectors& flat, const dnnl::engine& engine)
      : net_(net), builder_(batch, flat, engine), readers_(net.layers.size(), 0) {
    for (const PlannedLayer& planned : net.layers) {
      for (const std::size_t source : planned.sources) {
        if (source != from_images) ++readers_[source];
      }
    }
  }

  Program compile() {
    Program& program = builder_.program();
    program.input = builder_.persistent(plain(dims_of(builder_.batch(), net_.input)));
    for (std::size_t i = 0; i < net_.layers.size(); ++i) {
      forward(i);
      program.forward_ends.push_back({i, program.forward.size()});
    }
    const Dims rows{builder_.batch(), net_.classes};
    program.logits = builder_.in_plain(reshaped(builder_, outputs_.back(), rows));
    program.forward_ends.back().end = program.forward.size();
    if (builder_.training()) {
      program.logits_gradient = builder_.persistent(plain(rows));
      builder_.start_backward();
      gradients_.resize(net_.layers.size());
      gradients_.back().push_back(program.logits_gradient);
      for (std::size_t i = net_.layers.size(); i-- > 0;) {
        backward(i);
        program.backward_ends.push_back({i, program.backward.size()});
      }
    }
    return builder_.finish();
  }

 private:
  void forward(std::size_t i) {
    Memories sources;
    for (const std::size_t source : net_.layers[i].sources)
      sources.push_back(source == from_images ? builder_.program().input : outputs_[source]);
    steps_.push_back(make_steps(i));
    outputs_.push_back(steps_.back()->forward(builder_, sources));
  }

  // Gradients of what several layers read are summed; those of the images are not wanted.
  void backward(std::size_t i) {
    const PlannedLayer& planned = net_.layers[i];
    Memories arrived;
    for (const dnnl::memory& gradient : gradients_[i])
      arrived.push_back(reshaped(builder_, gradient, dims_of(outputs_[i])));
    bool wanted = false;
    for (const std::size_t source : planned.sources) wanted = wanted || source != from_images;
    const Memories gradients = steps_[i]->backward(builder_, builder_.sum_of(arrived), wanted);
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      if (planned.sources[k] != from_images) gradients_[planned.sources[k]].push_back(gradients[k]);
    }
  }

  std::unique_ptr<LayerSteps> make_steps(std::size_t i) const {
    const PlannedLayer& planned = net_.layers[i];
    switch (planned.layer.kind) {
      case LayerKind::convolution:
      case LayerKind::inner_product:
        return make_weighted(planned, find_fused_relu(i));
      case LayerKind::pooling:
        return make_pooling(planned);
      case LayerKind::relu:
      case LayerKind::softmax_loss:
        return make_relu(planned.layer, relu_mode(planned));
      case LayerKind::dropout:
        return make_dropout(planned, i);
      case LayerKind::lrn:
        return make_lrn(planned);
      case LayerKind::batch_norm:
        return make_batch_norm(planned);
      case LayerKind::sum:
        return make_sum();
      case LayerKind::concat:
        return make_concat(planned);
    }
    return nullptr;
  }

  // Whether the only reader of layer i is a relu.
  const Layer* find_fused_relu(std::size_t i) const {
    for (const PlannedLayer& reader : net_.layers) {
      for (const std::size_t source : reader.sources) {
        if (source == i)
          return readers_[i] == 1 && reader.layer.kind == LayerKind::relu ? &reader.layer : nullptr;
      }
    }
    return nullptr;
  }

  // A relu may overwrite an output that the backward pass does not need.
  ReluMode relu_mode(const PlannedLayer& planned) const {
    const std::size_t source = planned.sources.front();
    if (source == from_images || readers_[source] != 1) return ReluMode::own;
    const PlannedLayer& before = net_.layers[source];
    switch (before.layer.kind) {
      case LayerKind::convolution:
      case LayerKind::inner_product:
        return ReluMode::fused;
      case LayerKind::batch_norm:
      case LayerKind::pooling:
      case LayerKind::lrn:
        return ReluMode::source;
      case LayerKind::sum:
        return before.sources.size() > 1 ? ReluMode::source : ReluMode::own;
      default:
        return ReluMode::own;
    }
  }

  const Net& net_;
  Builder builder_;
  std::vector<std::size_t> readers_;  // of each layer
  std::vector<std::unique_ptr<LayerSteps>> steps_;
  Memories outputs_;
  std::vector<Memories> gradients_;
};

}  // namespace

Program compile(const Net& net, std::size_t batch, const FlatVectors& flat, const dnnl::engine& engine) {
  return ProgramCompiler(net, batch, flat, engine).compile();
}

void run_steps(std::span<const Step> steps, dnnl::stream& stream) {
  for (const Step& step : steps) {
    if (step.own) {
      step.own();
    } else {
      step.primitive.execute(stream, step.arguments);
    }
  }
  stream.wait();
}

void run_layers(const Steps& steps, const LayerEnds& ends, dnnl::stream& stream, const LayerCallback& before,
                const LayerCallback& after) {
  std::size_t begin = 0;
  for (const LayerEnd& layer : ends) {
    before(layer.layer);
    run_steps(std::span(steps).subspan(begin, layer.end - begin), stream);
    begin = layer.end;
    after(layer.layer);
  }
}

}  // namespace ddlrun::runtime::cpu
