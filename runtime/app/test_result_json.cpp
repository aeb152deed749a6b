// SPDX-License-Identifier: MIT
#include "runtime/app/test_checkpoint.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun::runtime {

using TestJson = nlohmann::ordered_json;

std::string render_test_json(const CheckpointTest& test) {
  const ConfusionMatrix& matrix = test.matrix;
  TestJson classes = TestJson::array();
  TestJson confusion = TestJson::array();
  for (std::size_t i = 0; i < matrix.names.size(); ++i) {
    const std::size_t images = matrix.images_of(i);
    const std::size_t correct = matrix.at(i, i);
    TestJson one{{"name", matrix.names[i]}, {"images", images}, {"correct", correct}};
    const auto or_null = [](const std::optional<double>& share) {
      return share ? TestJson(*share) : TestJson();
    };
    one["accuracy"] = or_null(matrix.recall(i));
    one["precision"] = or_null(matrix.precision(i));
    one["f1"] = or_null(matrix.f1(i));
    classes.push_back(std::move(one));
    TestJson row = TestJson::array();
    for (std::size_t j = 0; j < matrix.names.size(); ++j) row.push_back(matrix.at(i, j));
    confusion.push_back(std::move(row));
  }
  TestJson json{{"schema", "ddl-train.test/1"},     {"data", test.data}, {"images", test.images},
                {"accuracy", test.accuracy},        {"loss", test.loss}, {"classes", std::move(classes)},
                {"confusion", std::move(confusion)}};
  if (test.wrong) {
    json["errors"] = TestJson::array();
    for (const WrongImage& one : *test.wrong)
      json["errors"].push_back({{"file", one.image},
                                {"class", one.actual},
                                {"predicted", one.predicted},
                                {"probability", one.probability}});
  }
  return json.dump(-1, ' ', false, TestJson::error_handler_t::replace);  // paths need not be UTF-8
}

}  // namespace ddlrun::runtime
