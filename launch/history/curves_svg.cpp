// SPDX-License-Identifier: MIT
#include "launch/history/curves_svg.hpp"

#include "base/text/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ddlrun::launch {

namespace {

constexpr double chart_left = 62, chart_right = 500, chart_top = 44, chart_bottom = 230;
constexpr int chart_steps = 4;

std::string chart_text(double x, double y, std::string_view anchor, std::string_view text, int size = 12) {
  return svg_text(x, y, text, fmt::format(" text-anchor=\"{}\" font-size=\"{}\"", anchor, size));
}

struct Scale {
  double x_least = 0, x_most = 1, y_most = 1;
  double x(double value) const {
    return chart_left + (chart_right - chart_left) * (value - x_least) / std::max(x_most - x_least, 1e-12);
  }
  double y(double value) const { return chart_bottom - (chart_bottom - chart_top) * value / y_most; }
};

bool is_shown(const std::pair<double, double>& point) {
  return std::isfinite(point.first) && std::isfinite(point.second);
}

// False where there is nothing to draw.
bool find_scale(const Chart& chart, Scale& scale) {
  bool any = false;
  double y_most = 0;
  for (const ChartLine& line : chart.lines) {
    for (const auto& point : line.points) {
      if (!is_shown(point)) continue;
      scale.x_least = any ? std::min(scale.x_least, point.first) : point.first;
      scale.x_most = any ? std::max(scale.x_most, point.first) : point.first;
      y_most = std::max(y_most, point.second);
      any = true;
    }
  }
  scale.y_most = axis_ceiling(y_most);
  return any;
}

std::string draw_grid(const Scale& scale, const Chart& chart) {
  std::string text;
  for (int i = 0; i <= chart_steps; ++i) {
    const double value = scale.y_most * i / chart_steps;
    text += svg_line(chart_left, scale.y(value), chart_right, scale.y(value), i == 0 ? "#444" : "#ddd");
    text += chart_text(chart_left - 6, scale.y(value) + 4, "end", fmt::format("{:.4g}", value));
  }
  text += chart_text(chart_left, chart_bottom + 18, "middle", fmt::format("{:.6g}", scale.x_least));
  if (scale.x_most > scale.x_least)
    text += chart_text(chart_right, chart_bottom + 18, "middle", fmt::format("{:.6g}", scale.x_most));
  return text + chart_text((chart_left + chart_right) / 2, chart_bottom + 18, "middle", chart.x_label);
}

std::string draw_line(const Scale& scale, const ChartLine& line) {
  std::string text, points;
  const auto end_stretch = [&] {
    if (!points.empty())
      text += svg_polyline(points, fmt::format(" stroke=\"{}\" stroke-width=\"1.8\"", line.colour));
    points.clear();
  };
  for (const auto& point : line.points) {
    if (!is_shown(point)) {
      end_stretch();
      continue;
    }
    points += svg_point(scale.x(point.first), scale.y(point.second));
    if (!line.dots && line.points.size() > 1) continue;
    text += svg_circle(scale.x(point.first), scale.y(point.second), 3, line.colour);
  }
  end_stretch();
  return text;
}

std::string draw_names(const Chart& chart) {
  std::string text;
  double x = chart_right;
  for (auto line = chart.lines.rbegin(); line != chart.lines.rend(); ++line) {
    if (line->points.empty()) continue;
    x -= 24 + 6.6 * static_cast<double>(line->name.size());
    text += svg_rect({x, 25, 10, 10}, line->colour);
    text += chart_text(x + 14, 34, "start", line->name);
  }
  return text;
}

}  // namespace

std::string render_chart_svg(const Chart& chart) {
  Scale scale;
  if (!find_scale(chart, scale)) return {};
  std::string text = fmt::format(
      "<svg viewBox=\"0 0 520 260\" width=\"520\" height=\"260\" role=\"img\" aria-label=\"{}\">\n",
      escape_html(chart.title, 120));
  text += chart_text(8, 18, "start", chart.title, 14) + draw_names(chart) + draw_grid(scale, chart);
  for (const ChartLine& line : chart.lines) text += draw_line(scale, line);
  return text + "</svg>\n";
}

}  // namespace ddlrun::launch
