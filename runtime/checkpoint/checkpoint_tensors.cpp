// SPDX-License-Identifier: MIT
// The tensors of checkpoint.hpp.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/checkpoint/checkpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>

namespace ddlrun::runtime {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors holds little-endian numbers");

// "optimizer.momentum_buffer.": before the names of the weights.
std::string rule_prefix(const std::string& state_name) { return "optimizer." + state_name + "."; }

// A shape as the file has it: "20x1x5x5".
template <typename Numbers>
std::string render_shape(const Numbers& shape) {
  return fmt::format("{}", fmt::join(shape, "x"));
}

void append_tensors(std::vector<Tensor>& tensors, const std::string& prefix,
                    const std::vector<NamedTensor>& named, std::span<const float> values) {
  for (const NamedTensor& one : named) {
    tensors.push_back(
        {prefix + one.name, {one.dims.begin(), one.dims.end()}, values.subspan(one.offset, one.count)});
  }
}

Error refuse_tensors(const std::string& file, std::string what) {
  return {ErrorKind::request, {std::move(what), printable(file), "a checkpoint of the same net"}};
}

// Tensors in the order in which checkpoint_tensors() lists them; a file has no other order.
class StateReader {
 public:
  StateReader(const CheckpointDisk& disk, const std::string& path, const SafetensorsHeader& header)
      : disk_(disk), path_(path), header_(header) {}

  void read(const std::string& prefix, const std::vector<NamedTensor>& named, std::span<float> values) {
    for (const NamedTensor& one : named) {
      const TensorEntry& place = header_.tensors.at(next_++);
      if (place.name != prefix + one.name || render_shape(place.shape) != render_shape(one.dims)) {
        throw refuse_tensors(path_, fmt::format("the checkpoint has {} of {}, but {}{} of {} is needed",
                                                printable(place.name), render_shape(place.shape), prefix,
                                                printable(one.name), render_shape(one.dims)));
      }
      read_tensor(disk_, path_, header_, place, values.subspan(one.offset, one.count));
    }
  }

 private:
  const CheckpointDisk& disk_;
  const std::string& path_;
  const SafetensorsHeader& header_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<Tensor> checkpoint_tensors(const Net& net, const Optimizer& optimizer,
                                       const TrainStateView& state) {
  std::vector<Tensor> tensors;
  append_tensors(tensors, "", net.parameters, state.parameters);
  const std::vector<std::string> names = state_names(optimizer);
  for (std::size_t i = 0; i < names.size(); ++i)
    append_tensors(tensors, rule_prefix(names[i]), net.parameters, state.optimizer_state.at(i));
  append_tensors(tensors, "", net.state, state.layer_state);
  return tensors;
}

TrainState read_state(const CheckpointDisk& disk, const std::string& path, const SafetensorsHeader& header,
                      const Net& net, const Optimizer& optimizer) {
  const std::vector<std::string> names = state_names(optimizer);
  TrainState state{parse_position(header.metadata.at("position"), path),
                   std::vector<float>(net.parameter_count),
                   std::vector<std::vector<float>>(names.size(), std::vector<float>(net.parameter_count)),
                   std::vector<float>(net.state_count)};
  const std::size_t wanted = (1 + names.size()) * net.parameters.size() + net.state.size();
  if (header.tensors.size() != wanted) {
    throw refuse_tensors(path, fmt::format("the checkpoint has {} tensors, but a run of {} has {}",
                                           header.tensors.size(), printable(net.name), wanted));
  }
  StateReader reader(disk, path, header);
  reader.read("", net.parameters, state.parameters);
  for (std::size_t i = 0; i < names.size(); ++i)
    reader.read(rule_prefix(names[i]), net.parameters, state.optimizer_state[i]);
  reader.read("", net.state, state.layer_state);
  return state;
}

}  // namespace ddlrun::runtime
