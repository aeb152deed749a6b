// SPDX-License-Identifier: MIT
#include "runtime/engine/cuda/cudnn.hpp"
#include "runtime/engine/cuda/layers.hpp"

#include <vector>

namespace ddlrun::runtime::gpu {
namespace {

// cuDNN always scales and shifts: without weights by ones and zeros.
class BatchNorm : public GpuLayer {
 public:
  explicit BatchNorm(const LayerPlace& place)
      : planned_(place.planned), vectors_(place.vectors), device_(place.device), training_(place.training) {
    const auto channels = static_cast<std::size_t>(planned_.input.channels);
    set_tensor(values_, place.batch, planned_.input);
    check(cudnnDeriveBNTensorDescriptor(channels_, values_, mode), "cudnnDeriveBNTensorDescriptor");
    saved_mean_ = DeviceArray<float>(channels);
    saved_inverse_ = DeviceArray<float>(channels);
    if (is_affine()) return;
    ones_ = DeviceArray<float>(channels);
    zeros_ = DeviceArray<float>(channels);
    unused_ = DeviceArray<float>(2 * channels);
    const std::vector<float> ones(channels, 1.0F);
    check(cudaMemcpy(ones_.data(), ones.data(), channels * sizeof(float), cudaMemcpyHostToDevice),
          "cudaMemcpy");
    check(cudaStreamSynchronize(nullptr),
          "cudaStreamSynchronize");  // the Device's stream does not wait for it
  }

  void forward(Inputs inputs, float* output, const StepKey&) override {
    if (!training_) {
      check(cudnnBatchNormalizationForwardInference(device_.cudnn(), mode, &one, &zero, values_, inputs[0],
                                                    values_, output, channels_, scale(), shift(), running(0),
                                                    running(1), planned_.layer.epsilon),
            "cudnnBatchNormalizationForwardInference");
      return;
    }
    check(cudnnBatchNormalizationForwardTraining(
              device_.cudnn(), mode, &one, &zero, values_, inputs[0], values_, output, channels_, scale(),
              shift(), 1.0 - planned_.layer.keep, running(0), running(1), planned_.layer.epsilon,
              saved_mean_.data(), saved_inverse_.data()),
          "cudnnBatchNormalizationForwardTraining");
  }

  // Always writes the inputs' gradients: where they are not wanted, into memory of this call alone.
  void backward(Inputs inputs, const float*, const float* gradient, InputGradients input_gradients,
                const StepKey&) override {
    void* own = nullptr;
    if (input_gradients[0] == nullptr) {
      std::size_t bytes = 0;
      check(cudnnGetTensorSizeInBytes(values_, &bytes), "cudnnGetTensorSizeInBytes");
      check(cudaMallocAsync(&own, bytes, device_.stream()), "cudaMallocAsync");
    }
    float* scale_gradient = is_affine() ? vectors_.gradients + planned_.weights_offset : unused_.data();
    float* shift_gradient =
        is_affine() ? vectors_.gradients + planned_.bias_offset : unused_.data() + unused_.size() / 2;
    check(cudnnBatchNormalizationBackward(
              device_.cudnn(), mode, &one, &zero, &one, &zero, values_, inputs[0], values_, gradient, values_,
              own == nullptr ? input_gradients[0] : own, channels_, scale(), scale_gradient, shift_gradient,
              planned_.layer.epsilon, saved_mean_.data(), saved_inverse_.data()),
          "cudnnBatchNormalizationBackward");
    if (own != nullptr) check(cudaFreeAsync(own, device_.stream()), "cudaFreeAsync");
  }

  bool needs_inputs() const override { return training_; }

 private:
  static constexpr cudnnBatchNormMode_t mode = CUDNN_BATCHNORM_SPATIAL;

  bool is_affine() const { return planned_.bias_count > 0; }
  const float* scale() const {
    return is_affine() ? vectors_.parameters + planned_.weights_offset : ones_.data();
  }
  const float* shift() const {
    return is_affine() ? vectors_.parameters + planned_.bias_offset : zeros_.data();
  }
  float* running(std::size_t which) const {  // 0: means, 1: variances
    return vectors_.state + planned_.state_offset + which * planned_.state_count / 2;
  }

  const PlannedLayer& planned_;
  DeviceVectors vectors_;
  const Device& device_;
  bool training_;
  TensorDescriptor values_;
  TensorDescriptor channels_;
  DeviceArray<float> saved_mean_;
  DeviceArray<float> saved_inverse_;
  DeviceArray<float> ones_;
  DeviceArray<float> zeros_;
  DeviceArray<float> unused_;
};

}  // namespace

std::unique_ptr<GpuLayer> make_batch_norm(const LayerPlace& place) {
  return std::make_unique<BatchNorm>(place);
}

}  // namespace ddlrun::runtime::gpu
