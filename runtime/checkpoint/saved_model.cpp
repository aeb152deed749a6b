// SPDX-License-Identifier: MIT
#include "runtime/checkpoint/saved_model.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/models/net_text.hpp"
#include "runtime/models/net_yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ddlrun::runtime {
namespace {

std::string render_size(const Sides& sides) {
  return sides.height > 0 ? fmt::format("{}x{}", sides.height, sides.width) : "";
}

std::string render_values(const std::vector<float>& values) {
  std::string text;
  for (const float value : values) text += fmt::format("{}{}", text.empty() ? "" : ",", value);
  return text;
}

std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "/") + name;
  return text;
}

// The same command with the directory of `file`.
std::string newest_instead(const std::string& file, const std::string& reader) {
  const std::string directory = directory_of(file);
  std::string command = reader;
  command.replace(command.find("{}"), 2, quote_shell(directory.empty() ? "." : directory));
  return command + "   # takes the newest intact checkpoint";
}

// The metadata of one file; a value that is no number is damage.
class ModelReader {
 public:
  ModelReader(const Metadata& metadata, const std::string& file, const std::string& reader)
      : metadata_(metadata), file_(file), reader_(reader) {}

  SavedModel read() {
    SavedModel model;
    model.images.channels = whole("image_channels");
    model.decoded = shape("image_size");
    model.images.resize = sides("image_resize");
    model.images.crop = sides("image_crop");
    model.images.val_fraction = fraction("val_fraction");
    model.test_data = optional_text("test_data");
    model.test_root = optional_text("test_root");
    model.transform.crop = model.images.crop;
    model.transform.mean = values("image_mean");
    model.transform.scale = values("image_scale");
    if (!check_transform(model.transform, model.decoded).empty()) refuse("image_mean or image_scale");
    const int classes = whole("classes");
    for (const std::string_view name : split(text("class_names"), '/'))
      if (!name.empty()) model.class_names.emplace_back(name);
    if (classes == 0) refuse("classes");
    if (model.class_names.size() > static_cast<std::size_t>(classes)) refuse("class_names");
    for (int i = static_cast<int>(model.class_names.size()); i < classes; ++i)
      model.class_names.push_back(std::to_string(i));
    model.net =
        plan_net(parse_net_yaml(text("net_yaml"), file_), model.transform.output(model.decoded), classes);
    return model;
  }

 private:
  [[noreturn]] void refuse(std::string_view key) const {
    throw Error(ErrorKind::request, {fmt::format("the metadata '{}' is invalid", key), printable(file_),
                                     newest_instead(file_, reader_)});
  }
  const std::string& text(const std::string& key) const {
    const auto found = metadata_.find(key);
    if (found != metadata_.end()) return found->second;
    throw Error(ErrorKind::request,
                {fmt::format("the checkpoint does not contain its net: there is no '{}'", key),
                 printable(file_), "ddl-train --resume with it once: the next checkpoint contains the net"});
  }
  // Not in all checkpoints.
  std::string optional_text(const std::string& key) const {
    const auto found = metadata_.find(key);
    return found == metadata_.end() ? "" : found->second;
  }
  int whole(const std::string& key) const {
    const auto number = parse_unsigned(text(key), 1U << 20U);
    if (!number) refuse(key);
    return static_cast<int>(*number);
  }
  std::vector<int> sizes(const std::string& key, std::size_t count) const {
    std::vector<int> all;
    for (const std::string_view part : split(text(key), 'x')) {
      const auto number = parse_unsigned(part, 1U << 15U);
      if (!number || *number == 0) refuse(key);
      all.push_back(static_cast<int>(*number));
    }
    if (all.size() != count) refuse(key);
    return all;
  }
  Sides sides(const std::string& key) const {
    if (text(key).empty()) return {};
    const std::vector<int> all = sizes(key, 2);
    return {all[0], all[1]};
  }
  Shape shape(const std::string& key) const {
    const std::vector<int> all = sizes(key, 3);
    return {all[0], all[1], all[2]};
  }
  double fraction(const std::string& key) const {
    const std::string typed = optional_text(key);
    if (typed.empty()) return 0.0;
    const auto number = parse_number(typed);
    if (!number || *number <= 0.0 || *number >= 1.0) refuse(key);
    return *number;
  }
  std::vector<float> values(const std::string& key) const {
    std::vector<float> all;
    if (text(key).empty()) return all;
    for (const std::string_view part : split(text(key), ',')) {
      const auto number = parse_number(std::string(part));
      if (!number) refuse(key);
      all.push_back(static_cast<float>(*number));
    }
    return all;
  }

  const Metadata& metadata_;
  const std::string& file_;
  const std::string& reader_;
};

struct OpenedCheckpoint {
  std::string path;
  SafetensorsHeader header;
  std::vector<std::string> skipped = {};
};

// The hints of those who read checkpoints to resume from them do not fit here.
template <typename Open>
auto with_hint(const std::string& hint, const Open& open) {
  try {
    return open();
  } catch (const Error& error) {
    throw Error(error.kind(), {error.message().what, error.message().where, hint});
  }
}

OpenedCheckpoint open_file(const CheckpointDisk& disk, const std::string& file, const std::string& reader) {
  return with_hint(newest_instead(file, reader), [&] {
    return OpenedCheckpoint{file, verify_checkpoint(disk, file)};
  });
}

OpenedCheckpoint open_checkpoint(const CheckpointDisk& disk, const std::string& path,
                                 const std::string& reader) {
  if (path.ends_with(".safetensors")) return open_file(disk, path, reader);
  if (const auto named = follow_name(disk, path)) return open_file(disk, *named, reader);
  auto found = with_hint("ddl-train --checkpoint NEW_DIR   # trains again",
                         [&] { return find_checkpoint(disk, path); });
  if (found) return {found->path, std::move(found->header), std::move(found->skipped)};
  // `best` before the first test.
  const std::string parent = directory_of(path);
  if (find_checkpoint(disk, parent.empty() ? "." : parent))
    throw Error(ErrorKind::request,
                {"there is no checkpoint here", printable(path), newest_instead(path, reader)});
  throw Error(ErrorKind::request, {"there is no checkpoint here", printable(path),
                                   "ddl-train --checkpoint DIR writes them; ls " + quote_shell(path)});
}

void read_tensors(const CheckpointDisk& disk, const OpenedCheckpoint& file, const std::string& reader,
                  const std::vector<NamedTensor>& named, std::span<float> values) {
  for (const NamedTensor& one : named) {
    const auto place = std::ranges::find(file.header.tensors, one.name, &TensorEntry::name);
    const bool fits = place != file.header.tensors.end() &&
                      std::ranges::equal(place->shape, one.dims, [](std::uint64_t a, int b) {
                        return a == static_cast<std::uint64_t>(b);
                      });
    if (!fits)
      throw Error(ErrorKind::request, {fmt::format("the tensor '{}' of its net is missing", one.name),
                                       printable(file.path), newest_instead(file.path, reader)});
    read_tensor(disk, file.path, file.header, *place, values.subspan(one.offset, one.count));
  }
}

}  // namespace

Metadata render_model(const Net& net, const Dataset& data, const DataRequest& request) {
  const Shape decoded = data.train_images->shape();
  return {{"net_yaml", render_net_yaml(net)},
          {"image_channels", std::to_string(decoded.channels)},
          {"image_size", fmt::format("{}x{}x{}", decoded.channels, decoded.height, decoded.width)},
          {"image_resize", render_size(request.resize)},
          {"image_crop", render_size(data.transform.crop)},
          {"val_fraction", request.val_fraction > 0.0 ? fmt::format("{}", request.val_fraction) : ""},
          {"image_mean", render_values(data.transform.mean)},
          {"image_scale", render_values(data.transform.scale)},
          {"classes", std::to_string(data.classes)},
          {"class_names", join_names(data.class_directories.names)}};
}

std::vector<float> SavedModel::of_classes(std::span<const float> logits) const {
  const auto outputs = static_cast<std::size_t>(net.classes);
  std::vector<float> kept;
  for (std::size_t row = 0; row + outputs <= logits.size(); row += outputs) {
    const auto classes = logits.subspan(row, class_names.size());
    kept.insert(kept.end(), classes.begin(), classes.end());
  }
  return kept;
}

std::vector<double> class_shares(std::span<const float> logits) {
  const double most = *std::max_element(logits.begin(), logits.end());
  std::vector<double> shares;
  for (const float value : logits) shares.push_back(std::exp(value - most));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

SavedModel load_model(const CheckpointDisk& disk, const std::string& path, const std::string& reader) {
  const OpenedCheckpoint file = open_checkpoint(disk, path, reader);
  SavedModel model = ModelReader(file.header.metadata, file.path, reader).read();
  model.file = file.path;
  model.skipped = file.skipped;
  model.parameters.resize(model.net.parameter_count);
  model.state.resize(model.net.state_count);
  read_tensors(disk, file, reader, model.net.parameters, model.parameters);
  read_tensors(disk, file, reader, model.net.state, model.state);
  return model;
}

}  // namespace ddlrun::runtime
