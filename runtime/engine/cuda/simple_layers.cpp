// SPDX-License-Identifier: MIT
// Pooling, and layers without weights that are a kernel or two.
#include "runtime/engine/cuda/kernels.hpp"
#include "runtime/engine/cuda/layers.hpp"
#include "runtime/engine/dropout.hpp"

#include <cstdint>
#include <vector>

namespace ddlrun::runtime::gpu {
namespace {

void copy_floats(float* to, const float* from, std::size_t count, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDeviceToDevice, stream),
        "cudaMemcpyAsync");
}

PoolGeometry geometry_of(const LayerPlace& place) {
  const PlannedLayer& planned = place.planned;
  PoolGeometry g;
  g.planes = place.batch * static_cast<std::size_t>(planned.input.channels);
  g.height = planned.input.height;
  g.width = planned.input.width;
  g.out_height = planned.output.height;
  g.out_width = planned.output.width;
  g.kernel = planned.layer.global ? Sides{g.height, g.width} : planned.layer.kernel;
  g.stride = planned.layer.stride;
  g.padding = planned.layer.padding;
  return g;
}

class MaxPool : public GpuLayer {
 public:
  explicit MaxPool(const LayerPlace& place)
      : geometry_(geometry_of(place)),
        winners_(place.batch * place.planned.output.count()),
        stream_(place.device.stream()) {}
  void forward(Inputs inputs, float* output, const StepKey&) override {
    max_pool(geometry_, inputs[0], output, winners_.data(), stream_);
  }
  void backward(Inputs, const float*, const float* gradient, InputGradients wanted, const StepKey&) override {
    if (wanted[0] != nullptr) max_pool_back(geometry_, gradient, winners_.data(), wanted[0], stream_);
  }

 private:
  PoolGeometry geometry_;
  DeviceArray<std::int32_t> winners_;
  cudaStream_t stream_;
};

class AveragePool : public GpuLayer {
 public:
  explicit AveragePool(const LayerPlace& place)
      : geometry_(geometry_of(place)), stream_(place.device.stream()) {}
  void forward(Inputs inputs, float* output, const StepKey&) override {
    average_pool(geometry_, inputs[0], output, stream_);
  }
  void backward(Inputs, const float*, const float* gradient, InputGradients wanted, const StepKey&) override {
    if (wanted[0] != nullptr) average_pool_back(geometry_, gradient, wanted[0], stream_);
  }

 private:
  PoolGeometry geometry_;
  cudaStream_t stream_;
};

class Relu : public GpuLayer {
 public:
  explicit Relu(const LayerPlace& place)
      : count_(place.batch * place.planned.output.count()),
        slope_(static_cast<float>(place.planned.layer.slope)),
        stream_(place.device.stream()) {}
  void forward(Inputs inputs, float* output, const StepKey&) override {
    relu(inputs[0], output, count_, slope_, stream_);
  }
  void backward(Inputs, const float* output, const float* gradient, InputGradients wanted,
                const StepKey&) override {
    if (wanted[0] != nullptr) relu_back(output, gradient, wanted[0], count_, slope_, stream_);
  }
  bool needs_output() const override { return true; }

 private:
  std::size_t count_;
  float slope_;
  cudaStream_t stream_;
};

class Dropout : public GpuLayer {
 public:
  explicit Dropout(const LayerPlace& place)
      : index_(place.index),
        count_(place.batch * place.planned.output.count()),
        training_(place.training),
        limit_(dropout_limit(place.planned.layer.rate)),
        scale_(static_cast<float>(1.0 / (1.0 - place.planned.layer.rate))),
        stream_(place.device.stream()) {}
  void forward(Inputs inputs, float* output, const StepKey& key) override {
    if (training_) {
      dropout(inputs[0], output, count_, dropout_key(key, index_), limit_, scale_, stream_);
    } else {
      copy_floats(output, inputs[0], count_, stream_);
    }
  }
  // The mask again: it depends on the key alone.
  void backward(Inputs, const float*, const float* gradient, InputGradients wanted,
                const StepKey& key) override {
    if (wanted[0] != nullptr)
      dropout(gradient, wanted[0], count_, dropout_key(key, index_), limit_, scale_, stream_);
  }

 private:
  std::size_t index_;
  std::size_t count_;
  bool training_;
  std::uint32_t limit_;
  float scale_;
  cudaStream_t stream_;
};

class Lrn : public GpuLayer {
 public:
  explicit Lrn(const LayerPlace& place) : training_(place.training), stream_(place.device.stream()) {
    const Layer& layer = place.planned.layer;
    const Shape& shape = place.planned.input;
    geometry_ = {place.batch,
                 shape.channels,
                 static_cast<std::size_t>(shape.height) * static_cast<std::size_t>(shape.width),
                 layer.size,
                 static_cast<float>(layer.alpha),
                 static_cast<float>(layer.beta),
                 static_cast<float>(layer.k)};
  }
  void forward(Inputs inputs, float* output, const StepKey&) override {
    lrn(geometry_, inputs[0], output, stream_);
  }
  void backward(Inputs inputs, const float*, const float* gradient, InputGradients wanted,
                const StepKey&) override {
    if (wanted[0] != nullptr) lrn_back(geometry_, inputs[0], gradient, wanted[0], stream_);
  }
  bool needs_inputs() const override { return training_; }

 private:
  LrnGeometry geometry_;
  bool training_;
  cudaStream_t stream_;
};

class Sum : public GpuLayer {
 public:
  explicit Sum(const LayerPlace& place)
      : count_(place.batch * place.planned.output.count()), stream_(place.device.stream()) {}
  void forward(Inputs inputs, float* output, const StepKey&) override {
    copy_floats(output, inputs[0], count_, stream_);
    for (const float* term : inputs.subspan(1)) add(output, term, count_, stream_);
  }
  void backward(Inputs, const float*, const float* gradient, InputGradients wanted, const StepKey&) override {
    for (float* one : wanted) {
      if (one != nullptr) copy_floats(one, gradient, count_, stream_);
    }
  }

 private:
  std::size_t count_;
  cudaStream_t stream_;
};

// Each image holds the inputs one after the other: a copy with two pitches for each input.
class Concat : public GpuLayer {
 public:
  explicit Concat(const LayerPlace& place)
      : batch_(place.batch), width_(place.planned.output.count()), stream_(place.device.stream()) {
    for (const Shape& shape : place.planned.inputs) widths_.push_back(shape.count());
  }
  void forward(Inputs inputs, float* output, const StepKey&) override {
    for (std::size_t i = 0, at = 0; i < inputs.size(); at += widths_[i++])
      copy(output + at, width_, inputs[i], widths_[i], widths_[i]);
  }
  void backward(Inputs, const float*, const float* gradient, InputGradients wanted, const StepKey&) override {
    for (std::size_t i = 0, at = 0; i < wanted.size(); at += widths_[i++]) {
      if (wanted[i] != nullptr) copy(wanted[i], widths_[i], gradient + at, width_, widths_[i]);
    }
  }

 private:
  void copy(float* to, std::size_t to_pitch, const float* from, std::size_t from_pitch,
            std::size_t width) const {
    check(cudaMemcpy2DAsync(to, to_pitch * sizeof(float), from, from_pitch * sizeof(float),
                            width * sizeof(float), batch_, cudaMemcpyDeviceToDevice, stream_),
          "cudaMemcpy2DAsync");
  }

  std::size_t batch_;
  std::size_t width_;
  std::vector<std::size_t> widths_;
  cudaStream_t stream_;
};

}  // namespace

std::unique_ptr<GpuLayer> make_pooling(const LayerPlace& place) {
  if (place.planned.layer.method == PoolMethod::max) return std::make_unique<MaxPool>(place);
  return std::make_unique<AveragePool>(place);
}

std::unique_ptr<GpuLayer> make_simple(const LayerPlace& place) {
  switch (place.planned.layer.kind) {
    case LayerKind::dropout:
      return std::make_unique<Dropout>(place);
    case LayerKind::lrn:
      return std::make_unique<Lrn>(place);
    case LayerKind::sum:
      return std::make_unique<Sum>(place);
    case LayerKind::concat:
      return std::make_unique<Concat>(place);
    default:
      return std::make_unique<Relu>(place);
  }
}

std::unique_ptr<GpuLayer> make_layer(const LayerPlace& place) {
  switch (place.planned.layer.kind) {
    case LayerKind::convolution:
      return make_convolution(place);
    case LayerKind::inner_product:
      return make_inner_product(place);
    case LayerKind::batch_norm:
      return make_batch_norm(place);
    case LayerKind::pooling:
      return make_pooling(place);
    default:
      return make_simple(place);
  }
}

}  // namespace ddlrun::runtime::gpu
