// SPDX-License-Identifier: MIT
#include "base/text/svg.hpp"

#include "base/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ddlrun {

namespace {

// C0 without tab and newline, DEL, C1.
bool is_control(std::string_view character, bool lines) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (lines && (first == '\n' || first == '\t')) return false;
  if (character.size() == 2) return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
  return character.size() == 1 && (first < 0x20 || first == 0x7f);
}

void append_escaped_html(std::string& html, std::string_view character) {
  switch (character[0]) {
    case '&':
      html += "&amp;";
      break;
    case '<':
      html += "&lt;";
      break;
    case '>':
      html += "&gt;";
      break;
    case '"':
      html += "&quot;";
      break;
    case '\'':
      html += "&#39;";
      break;
    default:
      html += character;
  }
}

}  // namespace

std::string escape_html(std::string_view text, std::size_t limit, bool lines) {
  std::string html;
  std::size_t taken = 0;
  while (taken < text.size()) {
    if (taken >= limit) return html + "...";
    std::size_t length = utf8_length(text.substr(taken));
    const bool bad = length == 0;
    if (bad) length = 1;
    const std::string_view character = text.substr(taken, length);
    taken += length;
    if (!bad && !is_control(character, lines)) {
      append_escaped_html(html, character);
      continue;
    }
    for (const char byte : character) html += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
  return html;
}

std::string svg_number(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string svg_text(double x, double y, std::string_view text, std::string_view attributes) {
  return fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>\n", svg_number(x), svg_number(y), attributes,
                     escape_html(text, 160));
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view stroke) {
  return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\"/>\n", svg_number(x1),
                     svg_number(y1), svg_number(x2), svg_number(y2), stroke);
}

std::string svg_circle(double x, double y, double radius, std::string_view fill) {
  return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n", svg_number(x), svg_number(y),
                     svg_number(radius), fill);
}

std::string svg_point(double x, double y) { return svg_number(x) + "," + svg_number(y) + " "; }

std::string svg_polyline(std::string_view points, std::string_view attributes) {
  return fmt::format("<polyline points=\"{}\" fill=\"none\"{}/>\n", points, attributes);
}

std::string svg_rect(const SvgRect& rect, std::string_view fill, std::string_view attributes,
                     std::string_view title) {
  const std::string open = fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"{}",
                                       svg_number(rect.x), svg_number(rect.y), svg_number(rect.width),
                                       svg_number(std::max(0.0, rect.height)), fill, attributes);
  if (title.empty()) return open + "/>\n";
  return open + "><title>" + escape_html(title, 160) + "</title></rect>\n";
}

double axis_ceiling(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(std::max(value, 1e-12))));
  for (const double step : {1.0, 1.2, 1.6, 2.0, 2.4, 3.2, 4.0, 6.0, 8.0, 10.0})
    if (value <= step * unit * 1.0000001) return step * unit;
  return 10.0 * unit;
}

}  // namespace ddlrun
