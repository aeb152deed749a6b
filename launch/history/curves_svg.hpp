// SPDX-License-Identifier: MIT
// One chart as inline SVG: lines over a common x, with a legend. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ddlrun::launch {

struct ChartLine {
  std::string name;
  std::string colour;
  std::vector<std::pair<double, double>> points;  // x ascending; what is no finite number leaves a gap
  bool dots = false;                              // a circle at each point
};

struct Chart {
  std::string title;
  std::string x_label;
  std::vector<ChartLine> lines;
};

// Always from 0 on the y axis. "" where no line has a point.
std::string render_chart_svg(const Chart& chart);

}  // namespace ddlrun::launch
