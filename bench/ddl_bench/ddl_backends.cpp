// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/ddl_backends.hpp"

#include <algorithm>

namespace ddlrun::ddl_bench {
namespace {

template <typename Made>
std::vector<std::unique_ptr<Case>> one_case(Made made) {
  std::vector<std::unique_ptr<Case>> cases;
  cases.push_back(std::move(made));
  return cases;
}

// Buffers of bytes are requested in words of 4: every type's vectors begin on lines of their own.
class SharedCase : public Case {
 public:
  SharedCase(ddl::Context& context, ddl::DataType type, std::size_t bytes)
      : context_(context), bytes_(bytes), buffer_(context.allocate<std::int32_t>((bytes + 3) / 4)) {
    tensor_ = {reinterpret_cast<std::byte*>(buffer_.data()), bytes / ddl::size_of(type), type, ""};
  }
  std::span<std::byte> input() override { return {tensor_.data, bytes_}; }
  std::span<const std::byte> output() override { return input(); }
  void call() override { context_.all_reduce(tensor_, ddl::Operation::sum); }

 private:
  ddl::Context& context_;
  std::size_t bytes_;
  ddl::Buffer<std::int32_t> buffer_;
  ddl::Tensor tensor_;
};

class PrivateCase : public Case {
 public:
  PrivateCase(ddl::Context& context, ddl::DataType type, std::size_t bytes)
      : context_(context), memory_(bytes), tensor_{memory_.data(), bytes / ddl::size_of(type), type, ""} {}
  std::span<std::byte> input() override { return memory_; }
  std::span<const std::byte> output() override { return memory_; }
  void call() override { context_.all_reduce(tensor_, ddl::Operation::sum); }

 private:
  ddl::Context& context_;
  std::vector<std::byte> memory_;
  ddl::Tensor tensor_;
};

void add_to(float* weights, const float* sums, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) weights[i] += sums[i];
}

// Gradients and weights. `once`: weights that the host's ranks share.
class UpdateCase : public Case {
 public:
  UpdateCase(ddl::Context& context, std::size_t bytes, bool once)
      : context_(context),
        once_(once),
        gradient_(context.allocate<float>(bytes / 4)),
        weights_(once ? context.allocate_for_host<float>(bytes / 4) : context.allocate<float>(bytes / 4)) {}
  std::span<std::byte> input() override { return std::as_writable_bytes(gradient_.values()); }
  std::span<const std::byte> output() override { return std::as_bytes(weights_.values()); }
  void reset() override {
    context_.barrier();  // no rank still reads them
    if (!once_ || context_.local_rank() == 0)
      std::fill(weights_.values().begin(), weights_.values().end(), 0.0F);
    context_.barrier();
  }
  void call() override {
    float* const weights = weights_.data();
    if (!once_) {
      context_.all_reduce(gradient_, ddl::Operation::sum);
      return add_to(weights, gradient_.data(), gradient_.size());
    }
    context_.all_reduce_update(gradient_, ddl::Operation::sum,
                               [weights](std::size_t first, std::size_t count, const std::byte* sums) {
                                 add_to(weights + first, reinterpret_cast<const float*>(sums), count);
                               });
  }

 private:
  ddl::Context& context_;
  bool once_;
  ddl::Buffer<float> gradient_;
  ddl::Buffer<float> weights_;
};

}  // namespace

Backend ddl_backend(std::string name, std::shared_ptr<ddl::Context> context, ddl::DataType type, bool shared,
                    Roofline limit) {
  return {std::move(name), limit, [context, type, shared](std::size_t bytes) {
            if (shared) return one_case(std::make_unique<SharedCase>(*context, type, bytes));
            return one_case(std::make_unique<PrivateCase>(*context, type, bytes));
          }};
}

Backend ddl_update_backend(std::shared_ptr<ddl::Context> context) {
  return {"ddl-update", Roofline::used_once, [context](std::size_t bytes) {
            return one_case(std::make_unique<UpdateCase>(*context, bytes, true));
          }};
}

Backend ddl_each_backend(std::shared_ptr<ddl::Context> context) {
  return {"ddl-each", Roofline::used_once, [context](std::size_t bytes) {
            return one_case(std::make_unique<UpdateCase>(*context, bytes, false));
          }};
}

}  // namespace ddlrun::ddl_bench
