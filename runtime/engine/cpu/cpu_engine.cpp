// SPDX-License-Identifier: MIT
#include "runtime/engine/cpu/cpu_engine.hpp"

#include "base/text/error.hpp"
#include "runtime/engine/cpu/program.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace ddlrun::runtime {
namespace {

// Large enough to be fast, small enough that a few thousand test images split well.
constexpr std::size_t largest_evaluation = 100;
constexpr std::size_t large_room = std::size_t{512} << 20U;

class CpuEngine : public Engine {
 public:
  CpuEngine(const Net& net, std::size_t batch, std::span<float> parameters, std::span<float> gradients)
      : net_(net),
        parameters_(parameters),
        engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_),
        state_(initial_state(net_)),
        training_(cpu::compile(net_, batch, {parameters, gradients, state_}, engine_)),
        evaluation_batch_(choose_evaluation_batch(batch)) {}

  void start_step(const StepKey& key) override { *training_.key = key; }
  void on_gradients_final(GradientsFinal callback) override { on_final_ = std::move(callback); }
  bool on_parameters_needed(ParametersNeeded callback) override {
    on_needed_ = std::move(callback);
    return true;
  }
  void trace(const LayerTrace* trace) override { trace_ = trace; }
  std::span<float> state() override { return state_; }
  std::size_t evaluation_batch() const override { return evaluation_batch_; }

  LossSum train_batch(std::span<const float> images, std::span<const Label> labels, float scale) override {
    forward(training_, images);
    const std::size_t outputs = labels.size() * static_cast<std::size_t>(net_.classes);
    const LossSum sum = softmax_cross_entropy(floats(training_.logits, outputs), labels,
                                              static_cast<std::size_t>(net_.classes), scale,
                                              floats(training_.logits_gradient, outputs));
    backward();
    return sum;
  }

  LossSum evaluate(std::span<const float> images, std::span<const Label> labels) override {
    return softmax_cross_entropy(infer(images, labels.size()), labels, static_cast<std::size_t>(net_.classes),
                                 0.0F, {});
  }
  std::vector<float> predict(std::span<const float> images, std::size_t count) override {
    const std::span<float> logits = infer(images, count);
    return {logits.begin(), logits.end()};
  }

 private:
  static std::span<float> floats(const dnnl::memory& memory, std::size_t count) {
    return {static_cast<float*>(memory.get_data_handle()), count};
  }

  // The logits of the first `count` images.
  std::span<float> infer(std::span<const float> images, std::size_t count) {
    if (!inference_) inference_ = cpu::compile(net_, evaluation_batch_, {parameters_, {}, state_}, engine_);
    forward(*inference_, images);
    return floats(inference_->logits, count * static_cast<std::size_t>(net_.classes));
  }

  // A short last batch leaves stale images behind it; their rows are not read.
  void forward(cpu::Program& program, std::span<const float> images) {
    std::copy(images.begin(), images.end(), static_cast<float*>(program.input.get_data_handle()));
    if (trace_ == nullptr && !on_needed_) return cpu::run_steps(program.forward, stream_);
    auto begin = TraceClock::now();
    cpu::run_layers(
        program.forward, program.forward_ends, stream_,
        [&](std::size_t layer) {
          if (!on_needed_ || parameters_of(net_.layers[layer]) == 0) return;
          const std::size_t first = net_.layers[layer].weights_offset;
          on_needed_(first, first + parameters_of(net_.layers[layer]));
          begin = TraceClock::now();
        },
        [&](std::size_t layer) {
          if (trace_ != nullptr) begin = trace_->record_span(trace_->forward[layer], begin);
        });
  }

  static std::size_t parameters_of(const PlannedLayer& layer) {
    return layer.weights_count + layer.bias_count;
  }

  // A layer's gradients are final when its own steps are done; those of the layers behind it were before.
  void backward() {
    if (trace_ == nullptr && !on_final_) return cpu::run_steps(training_.backward, stream_);
    auto begin = TraceClock::now();
    const auto nothing = [](std::size_t) {};
    cpu::run_layers(training_.backward, training_.backward_ends, stream_, nothing, [&](std::size_t layer) {
      if (trace_ != nullptr) trace_->record_span(trace_->backward[layer], begin);
      const PlannedLayer& done = net_.layers[layer];
      if (on_final_ && parameters_of(done) > 0) on_final_(done.weights_offset);
      begin = TraceClock::now();
    });
  }

  // Large images: no more at once than training takes.
  std::size_t choose_evaluation_batch(std::size_t batch) const {
    const std::size_t image_bytes = training_.arena_bytes / batch;
    return image_bytes * largest_evaluation < large_room ? largest_evaluation
                                                         : std::min(batch, largest_evaluation);
  }

  Net net_;
  std::span<float> parameters_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  std::vector<float> state_;
  cpu::Program training_;
  std::size_t evaluation_batch_;
  std::optional<cpu::Program> inference_;
  GradientsFinal on_final_;
  ParametersNeeded on_needed_;
  const LayerTrace* trace_ = nullptr;
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(const Net& net, std::size_t batch, std::span<float> parameters,
                                        std::span<float> gradients) {
  try {
    return std::make_unique<CpuEngine>(net, batch, parameters, gradients);
  } catch (const dnnl::error& error) {
    throw Error(ErrorKind::request, {fmt::format("oneDNN {} cannot build {} for a batch of {}: {}",
                                                 cpu_library_version(), net.name, batch, error.what()),
                                     "cpu engine", "DNNL_VERBOSE=2 ddl-train"});
  }
}

std::string cpu_library_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

void set_cpu_threads(int threads) { omp_set_num_threads(threads); }

}  // namespace ddlrun::runtime
