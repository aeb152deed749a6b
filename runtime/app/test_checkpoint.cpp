// SPDX-License-Identifier: MIT
#include "runtime/app/test_checkpoint.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/app/open_model.hpp"
#include "runtime/data/dataset_locator.hpp"
#include "runtime/data/directory_entries.hpp"
#include "runtime/data/file_source.hpp"
#include "runtime/data/loader.hpp"
#include "runtime/data/synthetic.hpp"
#include "runtime/engine/cpu/cpu_engine.hpp"
#include "runtime/engine/loss.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <utility>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t widest_matrix = 16;  // classes; a wider table wraps
constexpr std::size_t longest_name = 24;

std::string short_name(const ConfusionMatrix& matrix, std::size_t label) {
  return printable(matrix.names[label], longest_name);
}

std::size_t widest_name(const ConfusionMatrix& matrix) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < matrix.names.size(); ++i) width = std::max(width, short_name(matrix, i).size());
  return width;
}

std::string render_share(const std::optional<double>& share) {
  return share ? fmt::format("{:6.2f} %", 100.0 * *share) : "       -";
}

std::string render_accuracies(const ConfusionMatrix& matrix) {
  std::string text = "accuracy (recall), precision and F1 of each class:\n";
  for (std::size_t i = 0; i < matrix.names.size(); ++i) {
    const std::size_t images = matrix.images_of(i);
    text += fmt::format("  {:<{}}  {}\n", short_name(matrix, i), widest_name(matrix),
                        images == 0 ? std::string("no images")
                                    : fmt::format("{}  {}  {}  {} of {}", render_share(matrix.recall(i)),
                                                  render_share(matrix.precision(i)),
                                                  render_share(matrix.f1(i)), matrix.at(i, i), images));
  }
  return text;
}

std::string render_table(const ConfusionMatrix& matrix) {
  const std::size_t first = widest_name(matrix);
  std::string text = "confusion matrix (row: class of the image, column: predicted class):\n";
  text += "  " + std::string(first, ' ');
  for (std::size_t j = 0; j < matrix.names.size(); ++j) text += fmt::format("  {:>5}", short_name(matrix, j));
  text += '\n';
  for (std::size_t i = 0; i < matrix.names.size(); ++i) {
    text += fmt::format("  {:<{}}", short_name(matrix, i), first);
    for (std::size_t j = 0; j < matrix.names.size(); ++j)
      text +=
          fmt::format("  {:>{}}", matrix.at(i, j), std::max<std::size_t>(5, short_name(matrix, j).size()));
    text += '\n';
  }
  return text;
}

std::string render_frequent(const ConfusionMatrix& matrix) {
  constexpr std::size_t most_shown = 10;
  const std::size_t classes = matrix.names.size();
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i < matrix.counts.size(); ++i) {
    if (i / classes != i % classes && matrix.counts[i] != 0) wrong.push_back(i);
  }
  std::ranges::stable_sort(wrong, std::greater<>(), [&](std::size_t i) { return matrix.counts[i]; });
  if (wrong.empty()) return "";
  if (wrong.size() > most_shown) wrong.erase(wrong.begin() + most_shown, wrong.end());
  std::string text = "the most frequent confusions:\n";
  for (const std::size_t i : wrong)
    text += fmt::format("  {} predicted as {}: {}\n", short_name(matrix, i / classes),
                        short_name(matrix, i % classes), matrix.counts[i]);
  return text;
}

Error refuse_classes(const std::string& what, const std::string& data) {
  return {ErrorKind::request, {what, printable(data), "--data PATH with images of the same classes"}};
}

// Test images alone: training images beside them are not read. Of one tree the part that --val-fraction kept
// from the training.
SourcePtr open_test_images(const SavedModel& model, const std::string& data, const TestRequest& test) {
  DataRequest request = model.images;
  if (test.data.empty()) request.root = model.test_root;
  if (test.errors) request.memory = 0;  // a copy in memory has no names of files
  const auto own = detect_split(data, true);
  const auto train = request.val_fraction > 0.0 ? detect_split(data, false) : std::nullopt;
  const bool is_divided = train && (!own || own->path == train->path);
  if (!is_divided || test.all_images) request.val_fraction = 0.0;
  const SplitPath place = is_divided ? SplitPath{train->kind, train->path, true} : require_split(data, true);
  if (request.val_fraction > 0.0)
    fmt::print(stderr,
               "ddl-train test: only the photos that --val-fraction {} kept from the training; all: "
               "--all-images\n",
               request.val_fraction);
  request.crop = {};  // the transform of the checkpoint has it
  ClassDirectories classes;
  const bool numbered = model.class_names.front() == "0";  // the training images had no names
  if (place.kind == DataKind::lmdb && !numbered) classes = {place.path, model.class_names};
  if (place.kind == DataKind::directories) {
    const std::string wanted =
        numbered ? "the checkpoint has its classes by number, without the names of directories"
                 : "the class directories are not those of the training: " +
                       printable(join(model.class_names, ", "), 300);
    for (const std::string& name : find_class_directories(place.path)) {
      if (std::ranges::find(model.class_names, name) == model.class_names.end())
        throw refuse_classes(wanted, place.path);
    }
    classes = {place.path, model.class_names};
  }
  const Sides trained{model.decoded.height, model.decoded.width};
  // Trained without --resize, for example on an LMDB.
  if (is_in_files(place.kind) && request.resize.height == 0) {
    const ImageSizes sizes = survey_sizes(list_files(place, request, classes));
    if (sizes.least != trained || sizes.most != trained) request.resize = trained;
  }
  const SourcePtr images = open_split(place, request, classes);
  const int found = count_classes(*images);
  const std::size_t known = model.class_names.size();
  if (static_cast<std::size_t>(found) > known)
    throw refuse_classes(fmt::format("the images have {} classes, the checkpoint has {}", found, known),
                         data);
  if (images->shape() != model.decoded)
    throw Error(ErrorKind::request, {"the images have another size than those of the training",
                                     printable(data), "--data PATH with images like those"});
  return images;
}

}  // namespace

std::size_t ConfusionMatrix::images_of(std::size_t actual) const {
  const auto row = std::span(counts).subspan(actual * names.size(), names.size());
  return std::accumulate(row.begin(), row.end(), std::size_t{0});
}

std::optional<double> ConfusionMatrix::recall(std::size_t label) const {
  const std::size_t images = images_of(label);
  if (images == 0) return std::nullopt;
  return static_cast<double>(at(label, label)) / static_cast<double>(images);
}

std::optional<double> ConfusionMatrix::precision(std::size_t label) const {
  std::size_t predicted = 0;
  for (std::size_t actual = 0; actual < names.size(); ++actual) predicted += at(actual, label);
  if (predicted == 0) return std::nullopt;
  return static_cast<double>(at(label, label)) / static_cast<double>(predicted);
}

std::optional<double> ConfusionMatrix::f1(std::size_t label) const {
  const std::size_t images = images_of(label);
  if (images == 0) return std::nullopt;
  const double sum = recall(label).value_or(0.0) + precision(label).value_or(0.0);
  return sum > 0.0 ? 2.0 * *recall(label) * precision(label).value_or(0.0) / sum : 0.0;
}

std::string render_wrong(const std::vector<WrongImage>& wrong) {
  if (wrong.empty()) return "no image has a wrong prediction\n";
  std::string text = "images with a wrong prediction:\n";
  for (const WrongImage& one : wrong)
    text += fmt::format("  {}: {}, predicted as {} ({:.1f} %)\n", printable(one.image),
                        printable(one.actual, 80), printable(one.predicted, 80), 100.0 * one.probability);
  return text;
}

std::string render_confusion(const ConfusionMatrix& matrix) {
  return render_accuracies(matrix) +
         (matrix.names.size() <= widest_matrix ? render_table(matrix) : render_frequent(matrix));
}

DatasetPath find_test_data(const std::string& asked, const SavedModel& model) {
  if (!asked.empty()) return {asked, "--data"};
  const std::string& own = model.test_data;
  if (own.empty())
    throw Error(ErrorKind::request, {"the checkpoint does not name the data of its training", "no --data",
                                     "--data PATH   # with test images, or they alone"});
  if (!is_synthetic(own) && kind_of(own) == EntryKind::none)
    throw Error(ErrorKind::request, {"the data of the checkpoint's training are not here", printable(own),
                                     "--data PATH   # where they are now"});
  return {own, "the data of the checkpoint's training"};
}

void test_checkpoint(const TestRequest& request) {
  std::vector<std::string> data_words;
  if (!request.data.empty()) data_words = {"--data", request.data};
  SavedModel model = open_model("ddl-train test", request.checkpoint, data_words);
  const DatasetPath found = find_test_data(request.data, model);
  const SourcePtr images = open_test_images(model, found.directory, request);
  const std::unique_ptr<Engine> engine = make_cpu_engine(model.net, 1, model.parameters, {});
  std::ranges::copy(model.state, engine->state().begin());
  const std::size_t classes = model.class_names.size();
  ConfusionMatrix matrix{model.class_names, std::vector<std::size_t>(classes * classes)};
  const std::size_t most = engine->evaluation_batch();
  Loader loader(*images, model.transform, LoadPurpose::testing, most);
  LossSum sum;
  std::vector<std::uint32_t> indices;
  std::vector<WrongImage> wrong;
  for (std::size_t done = 0; done < images->count(); done += indices.size()) {
    indices.resize(std::min(most, images->count() - done));
    std::iota(indices.begin(), indices.end(), static_cast<std::uint32_t>(done));
    loader.prefetch(indices, {});
    const LoadedBatch batch = loader.take();
    const std::vector<float> logits = model.of_classes(engine->predict(batch.images, batch.labels.size()));
    const LossSum part = softmax_cross_entropy(logits, batch.labels, classes, 1.0F, {});
    sum.loss += part.loss;
    sum.correct += part.correct;
    for (std::size_t i = 0; i < batch.labels.size(); ++i) {
      const auto row = std::span(logits).subspan(i * classes, classes);
      const auto best = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
      ++matrix.counts[batch.labels[i] * classes + best];
      if (best == batch.labels[i] || !request.errors) continue;
      wrong.push_back({images->name(indices[i]), model.class_names[batch.labels[i]], model.class_names[best],
                       class_shares(row)[best]});
    }
  }
  const auto count = static_cast<double>(images->count());
  const CheckpointTest test{
      found.directory,  images->count(),   static_cast<double>(sum.correct) / count,
      sum.loss / count, std::move(matrix), request.errors ? std::optional(std::move(wrong)) : std::nullopt};
  if (request.json) {
    fmt::print("{}\n", render_test_json(test));
    return;
  }
  fmt::print("test accuracy {:.2f} %, loss {:.4f}: {} images of {} ({})\n{}", 100.0 * test.accuracy,
             test.loss, test.images, printable(test.data), found.reason, render_confusion(test.matrix));
  if (test.wrong) fmt::print("{}", render_wrong(*test.wrong));
}

}  // namespace ddlrun::runtime
