// SPDX-License-Identifier: MIT
// Inner products by cuBLAS, which counts columns first: our rows x columns is its columns x rows.
#include "runtime/engine/cuda/kernels.hpp"
#include "runtime/engine/cuda/layers.hpp"

namespace ddlrun::runtime::gpu {
namespace {

constexpr float one = 1.0F;
constexpr float zero = 0.0F;

class InnerProduct : public GpuLayer {
 public:
  explicit InnerProduct(const LayerPlace& place)
      : planned_(place.planned),
        vectors_(place.vectors),
        device_(place.device),
        training_(place.training),
        batch_(static_cast<int>(place.batch)),
        inputs_(static_cast<int>(place.planned.input.count())),
        outputs_(place.planned.layer.outputs) {}

  void forward(Inputs inputs, float* output, const StepKey&) override {
    check(cublasSgemm(device_.cublas(), CUBLAS_OP_T, CUBLAS_OP_N, outputs_, batch_, inputs_, &one, weights(),
                      inputs_, inputs[0], inputs_, &zero, output, outputs_),
          "cublasSgemm");
    if (planned_.bias_count > 0) {
      add_bias_rows(output, vectors_.parameters + planned_.bias_offset, static_cast<std::size_t>(batch_),
                    static_cast<std::size_t>(outputs_), device_.stream());
    }
  }

  void backward(Inputs inputs, const float*, const float* gradient, InputGradients input_gradients,
                const StepKey&) override {
    check(cublasSgemm(device_.cublas(), CUBLAS_OP_N, CUBLAS_OP_T, inputs_, outputs_, batch_, &one, inputs[0],
                      inputs_, gradient, outputs_, &zero, vectors_.gradients + planned_.weights_offset,
                      inputs_),
          "cublasSgemm");
    if (planned_.bias_count > 0) {
      sum_columns(gradient, vectors_.gradients + planned_.bias_offset, static_cast<std::size_t>(batch_),
                  static_cast<std::size_t>(outputs_), device_.stream());
    }
    if (input_gradients[0] == nullptr) return;
    check(cublasSgemm(device_.cublas(), CUBLAS_OP_N, CUBLAS_OP_N, inputs_, batch_, outputs_, &one, weights(),
                      inputs_, gradient, outputs_, &zero, input_gradients[0], inputs_),
          "cublasSgemm");
  }

  bool needs_inputs() const override { return training_; }

 private:
  const float* weights() const { return vectors_.parameters + planned_.weights_offset; }

  const PlannedLayer& planned_;
  DeviceVectors vectors_;
  const Device& device_;
  bool training_;
  int batch_;
  int inputs_;
  int outputs_;
};

}  // namespace

std::unique_ptr<GpuLayer> make_inner_product(const LayerPlace& place) {
  return std::make_unique<InnerProduct>(place);
}

}  // namespace ddlrun::runtime::gpu
