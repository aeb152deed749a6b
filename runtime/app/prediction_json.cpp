// SPDX-License-Identifier: MIT
#include "runtime/app/predict_photos.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun::runtime {

using PredictionJson = nlohmann::ordered_json;

std::string render_prediction_json(const std::string& file, const std::vector<ClassShare>& classes) {
  PredictionJson shares = PredictionJson::array();
  for (const ClassShare& one : classes) shares.push_back({{"name", one.name}, {"probability", one.share}});
  const PredictionJson json{{"file", file}, {"classes", std::move(shares)}};
  return json.dump(-1, ' ', false, PredictionJson::error_handler_t::replace);  // paths need not be UTF-8
}

}  // namespace ddlrun::runtime
