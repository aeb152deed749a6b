// SPDX-License-Identifier: MIT
#include "runtime/app/predict_photos.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/app/open_model.hpp"
#include "runtime/data/file_source.hpp"
#include "runtime/data/image_files.hpp"
#include "runtime/engine/cpu/cpu_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

namespace ddlrun::runtime {
namespace {

// "cat 97.1 %, dog 2.9 %"
std::string render_classes(const std::vector<ClassShare>& classes) {
  std::string text;
  for (const ClassShare& one : classes)
    text +=
        fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", printable(one.name, 80), 100.0 * one.share);
  return text;
}

std::string render_prediction(const SavedModel& model, const PredictRequest& request,
                              const std::string& photo, const std::vector<double>& shares) {
  if (request.format == PredictionFormat::csv) return render_prediction_csv(model, photo, shares);
  const std::vector<ClassShare> classes = rank_classes(model, shares, request.top);
  return request.format == PredictionFormat::json ? render_prediction_json(photo, classes)
                                                  : printable(photo) + ": " + render_classes(classes);
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
    return class_shares(model_.of_classes(engine_->predict(values, 1)));
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

FoundPhotos find_photos(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::is_directory(path, failure)) return {{path}, {}};
  FoundPhotos found;
  for (const std::string& name : list_files_below(path)) {
    const std::string_view file = base_name(name);
    if (has_image_name(file)) found.photos.push_back(join_path(path, name));
    if (has_foreign_image_name(file)) found.unread.push_back(join_path(path, name));
  }
  if (!found.photos.empty()) return found;
  if (!found.unread.empty()) throw Error(ErrorKind::request, describe_unread_photos(path, found.unread));
  throw Error(ErrorKind::request, {"the directory has no images (.jpg, .jpeg, .png, .ppm, .pgm, .pnm)",
                                   printable(path), "ls -R " + quote_shell(path)});
}

Message describe_unread_photos(const std::string& path, const std::vector<std::string>& unread) {
  constexpr std::size_t most_named = 3;
  std::vector<std::string> names;
  for (const std::string& name : unread) names.push_back(printable(base_name(name), 60));
  return {fmt::format("{} of formats that are not read: {}",
                      unread.size() == 1 ? "1 image is" : fmt::format("{} images are", unread.size()),
                      join_first(names, most_named)),
          printable(path), convert_files_hint(unread)};
}

std::vector<ClassShare> rank_classes(const SavedModel& model, const std::vector<double>& shares,
                                     std::size_t top) {
  std::vector<ClassShare> classes;
  for (std::size_t i = 0; i < shares.size(); ++i) classes.push_back({model.class_names[i], shares[i]});
  std::ranges::stable_sort(classes, std::greater<>(), &ClassShare::share);
  classes.resize(std::min(top, classes.size()));
  return classes;
}

int predict_photos(const char* program, const PredictRequest& request) {
  SavedModel model =
      open_model(program, request.checkpoint, {request.photos.begin(), request.photos.begin() + 1});
  PhotoClassifier classifier(program, model);
  int status = 0;
  const auto report = [&](const Error& error) {
    std::fflush(stdout);  // in order with the photos where both go to one terminal
    fmt::print(stderr, "{}", render_error(program, error.message()));
    status = exit_code(error.kind());
  };
  const auto predict = [&](const std::string& photo) {
    try {
      const std::vector<double> shares = classifier.classify(photo);
      fmt::print("{}\n", render_prediction(model, request, photo, shares));
    } catch (const Error& error) {
      report(error);
    }
  };
  if (request.format == PredictionFormat::csv) fmt::print("{}\n", render_csv_header(model));
  for (const std::string& word : request.photos) {
    try {
      const FoundPhotos found = find_photos(word);
      for (const std::string& photo : found.photos) predict(photo);
      if (!found.unread.empty()) report({ErrorKind::request, describe_unread_photos(word, found.unread)});
    } catch (const Error& error) {
      report(error);
    }
  }
  return status;
}

}  // namespace ddlrun::runtime
