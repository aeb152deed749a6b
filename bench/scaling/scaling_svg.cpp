// SPDX-License-Identifier: MIT
// Two pictures side by side: images/s against the ideal line, and each run's step as a stacked bar.
#include "base/text/svg.hpp"
#include "bench/scaling/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::bench_report {
namespace {

constexpr double panel_width = 360;
constexpr double panel_height = 240;
constexpr double left_panel = 70;
constexpr double right_panel = 520;
constexpr double top = 70;
constexpr double bottom = top + panel_height;
constexpr int grid_steps = 4;
constexpr std::size_t most_long_labels = 5;  // that stand side by side

constexpr std::string_view compute_colour = "#4878a8";
constexpr std::string_view exposed_colour = "#d9822b";
constexpr std::string_view input_colour = "#7a9a52";
constexpr std::string_view other_colour = "#b0b0b0";

std::string chart_text(double x, double y, std::string_view anchor, std::string_view text, int size = 12) {
  return svg_text(x, y, text, fmt::format(" text-anchor=\"{}\" font-size=\"{}\"", anchor, size));
}

std::string svg_axes(double left, double highest, std::string_view unit) {
  std::string text;
  for (int i = 0; i <= grid_steps; ++i) {
    const double y = bottom - panel_height * i / grid_steps;
    text += svg_line(left, y, left + panel_width, y, i == 0 ? "#444" : "#ddd");
    text += chart_text(left - 6, y + 4, "end", fmt::format("{:.6g}", highest * i / grid_steps));
  }
  return text + chart_text(left, top - 12, "start", unit) +
         chart_text(left + panel_width / 2, bottom + 36, "middle", "ranks");
}

// The middle of a run's place on the axis: runs stand side by side, whatever their numbers are.
double place_of(double left, std::size_t index, std::size_t count) {
  return left + panel_width * (static_cast<double>(index) + 0.5) / static_cast<double>(count);
}

std::string draw_speed(const Scaling& scaling) {
  const double first = scaling.rows.front().run.images_per_second;
  double highest = 0.0;
  for (const ScalingRow& row : scaling.rows)
    highest = std::max({highest, row.run.images_per_second, first * row.ideal});
  highest = axis_ceiling(highest);
  std::string text = svg_axes(left_panel, highest, "images/s; dashed: ideal");
  std::string measured, ideal, marks;
  for (std::size_t i = 0; i < scaling.rows.size(); ++i) {
    const ScalingRow& row = scaling.rows[i];
    const double x = place_of(left_panel, i, scaling.rows.size());
    const double y = bottom - panel_height * row.run.images_per_second / highest;
    measured += svg_point(x, y);
    ideal += svg_point(x, bottom - panel_height * first * row.ideal / highest);
    marks += svg_circle(x, y, 4, compute_colour);
    const std::string percent = fmt::format("{:.0f} %", 100.0 * row.efficiency);
    const bool fits = scaling.rows.size() <= most_long_labels;
    marks += chart_text(x, y + 18, "middle",
                        fits ? fmt::format("{:.0f} ({})", row.run.images_per_second, percent) : percent);
    marks += chart_text(x, bottom + 18, "middle", fmt::format("{}", row.run.ranks));
  }
  text += svg_polyline(ideal, " stroke=\"#888\" stroke-dasharray=\"6 4\"");
  text += svg_polyline(measured, fmt::format(" stroke=\"{}\" stroke-width=\"2\"", compute_colour));
  return text + marks;
}

std::string draw_steps(const Scaling& scaling) {
  double highest = 0.0;
  for (const ScalingRow& row : scaling.rows) highest = std::max(highest, row.step_ms);
  highest = axis_ceiling(highest);
  std::string text = svg_axes(right_panel, highest, "ms of a step");
  const double width = std::min(60.0, 0.6 * panel_width / static_cast<double>(scaling.rows.size()));
  for (std::size_t i = 0; i < scaling.rows.size(); ++i) {
    const ScalingRow& row = scaling.rows[i];
    const double x = place_of(right_panel, i, scaling.rows.size());
    double y = bottom;
    const auto stack = [&](double ms, std::string_view colour, std::string_view what) {
      const double height = panel_height * ms / highest;
      y -= height;
      text += svg_rect({x - width / 2, y, width, height}, colour, "", fmt::format("{}: {:.3g} ms", what, ms));
    };
    stack(row.compute_ms, compute_colour, "compute");
    if (row.input_ms) stack(*row.input_ms, input_colour, "input");
    stack(row.exposed_ms, exposed_colour, "exposed communication");
    if (row.other_ms) stack(*row.other_ms, other_colour, "update and rest");
    text += chart_text(x, y - 5, "middle", fmt::format("{:.3g}", row.step_ms));
    text += chart_text(x, bottom + 18, "middle", fmt::format("{}", row.run.ranks));
  }
  return text;
}

std::string draw_legend(bool input, bool other) {
  std::string text;
  double x = right_panel - (other ? 110 : 0);
  const auto entry = [&](std::string_view colour, std::string_view what) {
    text += svg_rect({x, bottom + 48, 12, 12}, colour) + chart_text(x + 17, bottom + 59, "start", what);
    x += 40 + 7.0 * static_cast<double>(what.size());
  };
  entry(compute_colour, "compute");
  if (input) entry(input_colour, "input");
  entry(exposed_colour, "exposed communication");
  if (other) entry(other_colour, "update and rest");
  return text;
}

}  // namespace

std::string render_scaling_svg(const Scaling& scaling) {
  const bool input = std::any_of(scaling.rows.begin(), scaling.rows.end(),
                                 [](auto& row) { return row.input_ms.has_value(); });
  const bool other = std::any_of(scaling.rows.begin(), scaling.rows.end(),
                                 [](auto& row) { return row.other_ms.has_value(); });
  std::string text =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 920 400\" width=\"920\" height=\"400\" "
      "font-family=\"DejaVu Sans, Arial, sans-serif\" fill=\"#222\">\n"
      "<rect x=\"0\" y=\"0\" width=\"920\" height=\"400\" fill=\"#ffffff\"/>\n";
  text += chart_text(
      left_panel, 28, "start",
      fmt::format("{}: {} images a rank and step, on {}", scaling.net, scaling.batch_a_rank, scaling.hosts),
      16);
  return text + draw_speed(scaling) + draw_steps(scaling) + draw_legend(input, other) + "</svg>\n";
}

}  // namespace ddlrun::bench_report
