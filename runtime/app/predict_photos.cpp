// SPDX-License-Identifier: MIT
#include "runtime/app/predict_photos.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/checkpoint/saved_model.hpp"
#include "runtime/data/file_source.hpp"
#include "runtime/engine/cpu/cpu_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>
#include <utility>

namespace ddlrun::runtime {
namespace {

namespace files = std::filesystem;

std::vector<double> softmax(std::span<const float> logits) {
  const double most = *std::max_element(logits.begin(), logits.end());
  std::vector<double> shares;
  for (const float value : logits) shares.push_back(std::exp(value - most));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

// The `top` most probable ones, in order.
std::vector<ClassShare> rank_classes(const SavedModel& model, const std::vector<double>& shares,
                                     std::size_t top) {
  std::vector<ClassShare> classes;
  for (std::size_t i = 0; i < shares.size(); ++i) classes.push_back({model.class_names[i], shares[i]});
  std::ranges::stable_sort(classes, std::greater<>(), &ClassShare::share);
  classes.resize(std::min(top, classes.size()));
  return classes;
}

// "cat 97.1 %, dog 2.9 %"
std::string render_classes(const std::vector<ClassShare>& classes) {
  std::string text;
  for (const ClassShare& one : classes)
    text +=
        fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", printable(one.name, 80), 100.0 * one.share);
  return text;
}

// Reads photos for the net of a checkpoint, which must outlive it.
class PhotoClassifier {
 public:
  PhotoClassifier(const char* program, SavedModel& model)
      : program_(program), model_(model), engine_(make_cpu_engine(model.net, 1, model.parameters, {})) {
    std::ranges::copy(model.state, engine_->state().begin());
  }

  std::vector<double> classify(const std::string& photo) {
    FileList list("");
    list.add(photo, 0);
    const Shape& wanted = model_.decoded;
    SourcePtr source = make_file_source(list, model_.images);
    if (source->shape() != wanted) {
      note_size(photo, source->shape());
      DataRequest resized = model_.images;
      resized.resize = {wanted.height, wanted.width};
      source = make_file_source(std::move(list), resized);
    }
    std::vector<std::uint8_t> pixels(source->image_bytes());
    source->read(0, std::as_writable_bytes(std::span(pixels)));
    std::vector<float> values(model_.net.input.count());
    apply_transform(model_.transform, center_crop(model_.transform, wanted), wanted,
                    std::span<const std::uint8_t>(pixels), values);
    return softmax(engine_->predict(values, 1));
  }

 private:
  // A net that was trained without --resize knows one size. Noted once, for a net may need its own size.
  void note_size(const std::string& photo, const Shape& shape) {
    if (std::exchange(noted_, true)) return;
    const Shape& wanted = model_.decoded;
    fmt::print(stderr, "{}",
               render_message(program_, "note",
                              {fmt::format("photos of other sizes are resized to {}x{}, the size of the "
                                           "training images; this one has {}x{} pixels",
                                           wanted.height, wanted.width, shape.height, shape.width),
                               printable(photo), "photos like those of the training"}));
  }

  const char* program_;
  bool noted_ = false;
  SavedModel& model_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace

std::vector<std::string> find_photos(const std::string& path) {
  std::error_code failure;
  if (!files::is_directory(path, failure)) return {path};
  std::vector<std::string> photos;
  for (files::recursive_directory_iterator at(path, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored) && has_image_name(at->path().filename().string()))
      photos.push_back(at->path().string());
  }
  std::ranges::sort(photos);
  if (!photos.empty()) return photos;
  throw Error(ErrorKind::request, {"the directory has no images (.jpg, .jpeg, .png, .ppm, .pgm, .pnm)",
                                   printable(path), "ls -R " + quote_shell(path)});
}

int predict_photos(const char* program, const PredictRequest& request) {
  SavedModel model = load_model(*make_posix_disk(), request.checkpoint);
  PhotoClassifier classifier(program, model);
  int status = 0;
  const auto report = [&](const Error& error) {
    std::fflush(stdout);  // in order with the photos where both go to one terminal
    fmt::print(stderr, "{}", render_error(program, error.message()));
    status = exit_code(error.kind());
  };
  const auto predict = [&](const std::string& photo) {
    try {
      const auto classes = rank_classes(model, classifier.classify(photo), request.top);
      fmt::print("{}\n", request.json ? render_prediction_json(photo, classes)
                                      : printable(photo) + ": " + render_classes(classes));
    } catch (const Error& error) {
      report(error);
    }
  };
  for (const std::string& word : request.photos) {
    try {
      for (const std::string& photo : find_photos(word)) predict(photo);
    } catch (const Error& error) {
      report(error);
    }
  }
  return status;
}

}  // namespace ddlrun::runtime
