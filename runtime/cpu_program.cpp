// SPDX-License-Identifier: MIT
#include "runtime/cpu_program.hpp"

#include <algorithm>

namespace ddlrun::runtime::cpu {
namespace {

using dnnl::memory;
using dnnl::prop_kind;
using Tag = memory::format_tag;

constexpr auto float32 = memory::data_type::f32;

// What the forward pass leaves for the backward pass of one layer.
struct Trace {
  memory source;
  memory weights;
  memory workspace;
  memory destination;
  dnnl::convolution_forward::primitive_desc convolution;
  dnnl::inner_product_forward::primitive_desc linear;
  dnnl::pooling_forward::primitive_desc pool;
  dnnl::eltwise_forward::primitive_desc relu;
};

class Compiler {
 public:
  Compiler(const Net& net, std::size_t batch, std::span<float> parameters, std::span<float> gradients,
           const dnnl::engine& engine)
      : net_(net),
        batch_(static_cast<memory::dim>(batch)),
        parameters_(parameters),
        gradients_(gradients),
        engine_(engine),
        kind_(gradients.empty() ? prop_kind::forward_inference : prop_kind::forward_training) {}

  Program compile() {
    const Shape& in = net_.input;
    memory current({{batch_, in.channels, in.height, in.width}, float32, Tag::nchw}, engine_);
    program_.input = current;
    for (const PlannedLayer& planned : net_.layers) current = forward(planned, current);
    const Desc rows({batch_, net_.classes}, float32, Tag::nc);
    program_.logits = in_layout(current, rows, program_.forward);
    if (gradients_.empty()) return std::move(program_);
    program_.logits_gradient = memory(rows, engine_);
    memory gradient = program_.logits_gradient;
    for (std::size_t i = net_.layers.size(); i-- > 0;)
      gradient = backward(net_.layers[i], traces_[i], gradient, i > 0);
    return std::move(program_);
  }

 private:
  static Desc any(const Dims& dims) { return {dims, float32, Tag::any}; }
  static Tag plain_tag(std::size_t dimensions) {
    return dimensions == 1 ? Tag::a : dimensions == 2 ? Tag::ab : Tag::abcd;
  }

  // `from` itself when it already has the layout, else a new memory and the reorder that fills it.
  memory in_layout(const memory& from, const Desc& wanted, Steps& steps) {
    if (from.get_desc() == wanted) return from;
    memory to(wanted, engine_);
    steps.push_back({dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}});
    return to;
  }

  // A range of a flat vector seen as a tensor in plain layout; no copy.
  memory view(std::span<float> flat, std::size_t offset, const Dims& dims) {
    return {{dims, float32, plain_tag(dims.size())}, engine_, flat.data() + offset};
  }

  static Dims weight_dims(const PlannedLayer& planned, const Dims& source) {
    const Layer& layer = planned.layer;
    if (layer.kind == LayerKind::convolution) return {layer.outputs, source[1], layer.kernel, layer.kernel};
    Dims dims = source;
    dims[0] = layer.outputs;
    return dims;
  }

  memory forward(const PlannedLayer& planned, const memory& source) {
    Trace trace;
    switch (planned.layer.kind) {
      case LayerKind::convolution:
        forward_convolution(planned, source, trace);
        break;
      case LayerKind::linear:
        forward_linear(planned, source, trace);
        break;
      case LayerKind::max_pool:
        forward_pool(planned, source, trace);
        break;
      case LayerKind::relu:
        forward_relu(source, trace);
        break;
    }
    traces_.push_back(trace);
    return trace.destination;
  }

  void forward_convolution(const PlannedLayer& planned, const memory& source, Trace& trace) {
    const Dims weights = weight_dims(planned, dims_of(source));
    const Dims bias{planned.layer.outputs};
    const Dims out{batch_, planned.output.channels, planned.output.height, planned.output.width};
    const Dims padding(2, planned.layer.padding);
    trace.convolution = describe<dnnl::convolution_forward>(
        engine_, kind_, dnnl::algorithm::convolution_direct, any(dims_of(source)), any(weights),
        Desc(bias, float32, Tag::a), any(out), Dims{1, 1}, padding, padding);
    weighted<dnnl::convolution_forward>(trace.convolution, planned, source, weights, trace);
  }

  void forward_linear(const PlannedLayer& planned, const memory& source, Trace& trace) {
    const Dims weights = weight_dims(planned, dims_of(source));
    const Dims bias{planned.layer.outputs};
    trace.linear = describe<dnnl::inner_product_forward>(engine_, kind_, any(dims_of(source)), any(weights),
                                                         Desc(bias, float32, Tag::a), any({batch_, bias[0]}));
    weighted<dnnl::inner_product_forward>(trace.linear, planned, source, weights, trace);
  }

  template <class Operation, class Description>
  void weighted(const Description& description, const PlannedLayer& planned, const memory& source,
                const Dims& weights, Trace& trace) {
    trace.source = in_layout(source, description.src_desc(), program_.forward);
    trace.weights = in_layout(view(parameters_, planned.weights_offset, weights), description.weights_desc(),
                              program_.forward);
    const memory bias = view(parameters_, planned.bias_offset, {planned.layer.outputs});
    trace.destination = memory(description.dst_desc(), engine_);
    program_.forward.push_back({Operation(description),
                                {{DNNL_ARG_SRC, trace.source},
                                 {DNNL_ARG_WEIGHTS, trace.weights},
                                 {DNNL_ARG_BIAS, bias},
                                 {DNNL_ARG_DST, trace.destination}}});
  }

  void forward_pool(const PlannedLayer& planned, const memory& source, Trace& trace) {
    const Dims out{batch_, planned.output.channels, planned.output.height, planned.output.width};
    trace.pool = describe_pool(engine_, kind_, source.get_desc(), any(out), Dims(2, planned.layer.kernel));
    trace.source = source;
    trace.destination = memory(trace.pool.dst_desc(), engine_);
    std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, trace.destination}};
    if (kind_ == prop_kind::forward_training) {
      trace.workspace = memory(trace.pool.workspace_desc(), engine_);
      arguments.emplace(DNNL_ARG_WORKSPACE, trace.workspace);
    }
    program_.forward.push_back({dnnl::pooling_forward(trace.pool), std::move(arguments)});
  }

  void forward_relu(const memory& source, Trace& trace) {
    trace.relu = describe_relu(engine_, kind_, source.get_desc());
    trace.source = source;
    trace.destination = memory(trace.relu.dst_desc(), engine_);
    program_.forward.push_back(
        {dnnl::eltwise_forward(trace.relu), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, trace.destination}}});
  }

  // Returns the gradient of the layer's input; nothing for the first layer.
  memory backward(const PlannedLayer& planned, const Trace& trace, const memory& gradient, bool wants_input) {
    switch (planned.layer.kind) {
      case LayerKind::convolution:
        return backward_convolution(planned, trace, gradient, wants_input);
      case LayerKind::linear:
        return backward_linear(planned, trace, gradient, wants_input);
      case LayerKind::max_pool:
        return backward_pool(planned, trace, gradient);
      case LayerKind::relu:
        return backward_relu(trace, gradient);
    }
    return {};
  }

  memory backward_convolution(const PlannedLayer& planned, const Trace& trace, const memory& gradient,
                              bool wants_input) {
    const Dims in = dims_of(trace.source);
    const Dims out = dims_of(trace.destination);
    const Dims weights = weight_dims(planned, in);
    const Dims padding(2, planned.layer.padding);
    const Dims stride{1, 1};
    const auto algorithm = dnnl::algorithm::convolution_direct;
    const auto for_weights = describe_backward<dnnl::convolution_backward_weights>(
        engine_, trace.convolution, algorithm, any(in), any(weights),
        Desc({planned.layer.outputs}, float32, Tag::a), any(out), stride, padding, padding);
    weight_gradient<dnnl::convolution_backward_weights>(for_weights, planned, trace, gradient, weights);
    if (!wants_input) return {};
    const auto for_data = describe_backward<dnnl::convolution_backward_data>(
        engine_, trace.convolution, algorithm, any(in), any(weights), any(out), stride, padding, padding);
    return input_gradient<dnnl::convolution_backward_data>(for_data, trace, gradient);
  }

  memory backward_linear(const PlannedLayer& planned, const Trace& trace, const memory& gradient,
                         bool wants_input) {
    const Dims in = dims_of(trace.source);
    const Dims weights = weight_dims(planned, in);
    const Desc out = any(dims_of(trace.destination));
    const auto for_weights = describe_backward<dnnl::inner_product_backward_weights>(
        engine_, trace.linear, any(in), any(weights), Desc({planned.layer.outputs}, float32, Tag::a), out);
    weight_gradient<dnnl::inner_product_backward_weights>(for_weights, planned, trace, gradient, weights);
    if (!wants_input) return {};
    const auto for_data = describe_backward<dnnl::inner_product_backward_data>(engine_, trace.linear, any(in),
                                                                               any(weights), out);
    return input_gradient<dnnl::inner_product_backward_data>(for_data, trace, gradient);
  }

  template <class Operation, class Description>
  void weight_gradient(const Description& description, const PlannedLayer& planned, const Trace& trace,
                       const memory& gradient, const Dims& weights) {
    Steps& steps = program_.backward;
    const memory source = in_layout(trace.source, description.src_desc(), steps);
    const memory incoming = in_layout(gradient, description.diff_dst_desc(), steps);
    const memory flat = view(gradients_, planned.weights_offset, weights);
    const bool plain = flat.get_desc() == description.diff_weights_desc();
    const memory result = plain ? flat : memory(description.diff_weights_desc(), engine_);
    steps.push_back({Operation(description),
                     {{DNNL_ARG_SRC, source},
                      {DNNL_ARG_DIFF_DST, incoming},
                      {DNNL_ARG_DIFF_WEIGHTS, result},
                      {DNNL_ARG_DIFF_BIAS, view(gradients_, planned.bias_offset, {planned.layer.outputs})}}});
    if (!plain) {
      steps.push_back({dnnl::reorder(result, flat), {{DNNL_ARG_FROM, result}, {DNNL_ARG_TO, flat}}});
    }
  }

  template <class Operation, class Description>
  memory input_gradient(const Description& description, const Trace& trace, const memory& gradient) {
    Steps& steps = program_.backward;
    const memory weights = in_layout(trace.weights, description.weights_desc(), steps);
    const memory incoming = in_layout(gradient, description.diff_dst_desc(), steps);
    memory result(description.diff_src_desc(), engine_);
    steps.push_back(
        {Operation(description),
         {{DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_DST, incoming}, {DNNL_ARG_DIFF_SRC, result}}});
    return result;
  }

  memory backward_pool(const PlannedLayer& planned, const Trace& trace, const memory& gradient) {
    const auto description =
        describe_pool_backward(engine_, trace.pool, trace.source.get_desc(), trace.destination.get_desc(),
                               Dims(2, planned.layer.kernel));
    const memory incoming = in_layout(gradient, description.diff_dst_desc(), program_.backward);
    memory result(description.diff_src_desc(), engine_);
    program_.backward.push_back({dnnl::pooling_backward(description),
                                 {{DNNL_ARG_DIFF_DST, incoming},
                                  {DNNL_ARG_WORKSPACE, trace.workspace},
                                  {DNNL_ARG_DIFF_SRC, result}}});
    return result;
  }

  memory backward_relu(const Trace& trace, const memory& gradient) {
    const auto description = describe_relu_backward(engine_, trace.relu, trace.source.get_desc());
    const memory incoming = in_layout(gradient, description.diff_dst_desc(), program_.backward);
    memory result(description.diff_src_desc(), engine_);
    program_.backward.push_back(
        {dnnl::eltwise_backward(description),
         {{DNNL_ARG_SRC, trace.source}, {DNNL_ARG_DIFF_DST, incoming}, {DNNL_ARG_DIFF_SRC, result}}});
    return result;
  }

  const Net& net_;
  memory::dim batch_;
  std::span<float> parameters_;
  std::span<float> gradients_;
  const dnnl::engine& engine_;
  prop_kind kind_;
  Program program_;
  std::vector<Trace> traces_;
};

}  // namespace

Program compile(const Net& net, std::size_t batch, std::span<float> parameters, std::span<float> gradients,
                const dnnl::engine& engine) {
  return Compiler(net, batch, parameters, gradients, engine).compile();
}

void run_steps(const Steps& steps, dnnl::stream& stream) {
  for (const Step& step : steps) step.primitive.execute(stream, step.arguments);
  stream.wait();
}

}  // namespace ddlrun::runtime::cpu
