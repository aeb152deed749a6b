// SPDX-License-Identifier: MIT
#include "runtime/engine/cuda/cudnn.hpp"
#include "runtime/engine/cuda/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace ddlrun::runtime::gpu {
namespace {

constexpr std::size_t most_workspace = std::size_t{512} << 20U;
constexpr int most_algorithms = 10;

// cuDNN's list is sorted by expected speed. Only ways that give the same bits each time are taken.
template <typename Result>
const Result& choose_way(const std::array<Result, most_algorithms>& ways, int count,
                         const std::string& layer) {
  const auto end = ways.begin() + count;
  const auto chosen = std::find_if(ways.begin(), end, [](const Result& way) {
    return way.status == CUDNN_STATUS_SUCCESS && way.determinism == CUDNN_DETERMINISTIC &&
           way.memory <= most_workspace;
  });
  if (chosen != end) return *chosen;
  throw Error(
      ErrorKind::request,
      {fmt::format(
           "cuDNN has {} algorithms for this convolution, none deterministic within {} MiB of workspace",
           count, most_workspace >> 20U),
       layer, "a smaller --batch-size"});
}

class Convolution : public GpuLayer {
 public:
  explicit Convolution(const LayerPlace& place)
      : planned_(place.planned),
        vectors_(place.vectors),
        device_(place.device),
        wants_input_(place.training) {
    const Layer& layer = planned_.layer;
    set_tensor(in_, place.batch, planned_.input);
    set_tensor(out_, place.batch, planned_.output);
    set_tensor(bias_, 1, {layer.outputs, 1, 1});
    check(cudnnSetFilter4dDescriptor(filter_, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, layer.outputs,
                                     planned_.input.channels / layer.groups, layer.kernel.height,
                                     layer.kernel.width),
          "cudnnSetFilter4dDescriptor");
    check(cudnnSetConvolution2dDescriptor(convolution_, layer.padding.height, layer.padding.width,
                                          layer.stride.height, layer.stride.width, layer.dilation.height,
                                          layer.dilation.width, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
          "cudnnSetConvolution2dDescriptor");
    check(cudnnSetConvolutionGroupCount(convolution_, layer.groups), "cudnnSetConvolutionGroupCount");
    check(cudnnSetConvolutionMathType(convolution_,
                                      device_.tensor_float() ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH),
          "cudnnSetConvolutionMathType");
    choose_forward();
    if (place.training) choose_backward();
    workspace_ = DeviceArray<std::byte>(workspace_bytes_);
  }

  void forward(Inputs inputs, float* output, const StepKey&) override {
    check(cudnnConvolutionForward(device_.cudnn(), &one, in_, inputs[0], filter_, weights(), convolution_,
                                  forward_, workspace_.data(), workspace_bytes_, &zero, out_, output),
          "cudnnConvolutionForward");
    if (planned_.bias_count > 0) {
      check(cudnnAddTensor(device_.cudnn(), &one, bias_, vectors_.parameters + planned_.bias_offset, &one,
                           out_, output),
            "cudnnAddTensor");
    }
  }

  void backward(Inputs inputs, const float*, const float* gradient, InputGradients input_gradients,
                const StepKey&) override {
    if (planned_.bias_count > 0) {
      check(cudnnConvolutionBackwardBias(device_.cudnn(), &one, out_, gradient, &zero, bias_,
                                         vectors_.gradients + planned_.bias_offset),
            "cudnnConvolutionBackwardBias");
    }
    check(cudnnConvolutionBackwardFilter(device_.cudnn(), &one, in_, inputs[0], out_, gradient, convolution_,
                                         for_weights_, workspace_.data(), workspace_bytes_, &zero, filter_,
                                         vectors_.gradients + planned_.weights_offset),
          "cudnnConvolutionBackwardFilter");
    if (input_gradients[0] == nullptr) return;
    check(cudnnConvolutionBackwardData(device_.cudnn(), &one, filter_, weights(), out_, gradient,
                                       convolution_, for_inputs_, workspace_.data(), workspace_bytes_, &zero,
                                       in_, input_gradients[0]),
          "cudnnConvolutionBackwardData");
  }

  bool needs_inputs() const override { return wants_input_; }

 private:
  const float* weights() const { return vectors_.parameters + planned_.weights_offset; }

  template <typename Result>
  void take(const Result& way) {
    workspace_bytes_ = std::max(workspace_bytes_, way.memory);
  }

  void choose_forward() {
    std::array<cudnnConvolutionFwdAlgoPerf_t, most_algorithms> ways{};
    int count = 0;
    check(cudnnGetConvolutionForwardAlgorithm_v7(device_.cudnn(), in_, filter_, convolution_, out_,
                                                 most_algorithms, &count, ways.data()),
          "cudnnGetConvolutionForwardAlgorithm_v7");
    const auto& way = choose_way(ways, count, planned_.name);
    forward_ = way.algo;
    take(way);
  }

  void choose_backward() {
    std::array<cudnnConvolutionBwdFilterAlgoPerf_t, most_algorithms> for_weights{};
    std::array<cudnnConvolutionBwdDataAlgoPerf_t, most_algorithms> for_inputs{};
    int count = 0;
    check(cudnnGetConvolutionBackwardFilterAlgorithm_v7(device_.cudnn(), in_, out_, convolution_, filter_,
                                                        most_algorithms, &count, for_weights.data()),
          "cudnnGetConvolutionBackwardFilterAlgorithm_v7");
    for_weights_ = choose_way(for_weights, count, planned_.name).algo;
    take(choose_way(for_weights, count, planned_.name));
    check(cudnnGetConvolutionBackwardDataAlgorithm_v7(device_.cudnn(), filter_, out_, convolution_, in_,
                                                      most_algorithms, &count, for_inputs.data()),
          "cudnnGetConvolutionBackwardDataAlgorithm_v7");
    for_inputs_ = choose_way(for_inputs, count, planned_.name).algo;
    take(choose_way(for_inputs, count, planned_.name));
  }

  const PlannedLayer& planned_;
  DeviceVectors vectors_;
  const Device& device_;
  bool wants_input_;
  TensorDescriptor in_;
  TensorDescriptor out_;
  TensorDescriptor bias_;
  FilterDescriptor filter_;
  ConvolutionDescriptor convolution_;
  cudnnConvolutionFwdAlgo_t forward_{};
  cudnnConvolutionBwdFilterAlgo_t for_weights_{};
  cudnnConvolutionBwdDataAlgo_t for_inputs_{};
  std::size_t workspace_bytes_ = 0;
  DeviceArray<std::byte> workspace_;
};

}  // namespace

std::unique_ptr<GpuLayer> make_convolution(const LayerPlace& place) {
  return std::make_unique<Convolution>(place);
}

}  // namespace ddlrun::runtime::gpu
