// SPDX-License-Identifier: MIT
#include "launch/history/curves_svg.hpp"

#include "launch/history/html_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ddlrun::run_report {

namespace {

constexpr double chart_left = 62, chart_right = 500, chart_top = 44, chart_bottom = 230;
constexpr int chart_steps = 4;

std::string chart_text(double x, double y, std::string_view anchor, std::string_view text, int size = 12) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\">{}</text>\n", x, y,
                     anchor, size, escape_html(text, 80));
}

// A number that quarters well, at least `value`.
double nice_ceiling(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(std::max(value, 1e-12))));
  for (const double step : {1.0, 1.2, 1.6, 2.0, 2.4, 3.2, 4.0, 6.0, 8.0, 10.0})
    if (value <= step * unit * 1.0000001) return step * unit;
  return 10.0 * unit;
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
  scale.y_most = nice_ceiling(y_most);
  return any;
}

std::string draw_grid(const Scale& scale, const Chart& chart) {
  std::string text;
  for (int i = 0; i <= chart_steps; ++i) {
    const double value = scale.y_most * i / chart_steps;
    text +=
        fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"{3}\"/>\n",
                    chart_left, scale.y(value), chart_right, i == 0 ? "#444" : "#ddd");
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
      text += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"/>\n",
                          points, line.colour);
    points.clear();
  };
  for (const auto& point : line.points) {
    if (!is_shown(point)) {
      end_stretch();
      continue;
    }
    points += fmt::format("{:.1f},{:.1f} ", scale.x(point.first), scale.y(point.second));
    if (!line.dots && line.points.size() > 1) continue;
    text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", scale.x(point.first),
                        scale.y(point.second), line.colour);
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
    text += fmt::format("<rect x=\"{:.1f}\" y=\"25\" width=\"10\" height=\"10\" fill=\"{}\"/>\n", x,
                        line->colour);
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

}  // namespace ddlrun::run_report
