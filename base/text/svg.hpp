// SPDX-License-Identifier: MIT
// Foreign text made safe inside HTML and SVG, and the elements that the pictures are made of. Lengths are
// user units; numbers have one decimal at most. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ddlrun {

// At most `limit` bytes of it. Control characters and bytes that are no UTF-8 become \xNN; with `lines`
// newlines and tabs stay.
std::string escape_html(std::string_view text, std::size_t limit = 4000, bool lines = false);

// "12.3", "12".
std::string svg_number(double value);

// `text` is escaped; `attributes` begin with a blank and stand as they are: " text-anchor=\"end\"".
std::string svg_text(double x, double y, std::string_view text, std::string_view attributes = "");
std::string svg_line(double x1, double y1, double x2, double y2, std::string_view stroke);
std::string svg_circle(double x, double y, double radius, std::string_view fill);
// "1,2 3,4 ".
std::string svg_point(double x, double y);
std::string svg_polyline(std::string_view points, std::string_view attributes);

struct SvgRect {
  double x = 0, y = 0, width = 0, height = 0;
};
// `title` appears under the pointer; "" for none.
std::string svg_rect(const SvgRect& rect, std::string_view fill, std::string_view attributes = "",
                     std::string_view title = "");

// The end of an axis: a number that quarters well, at least `value`.
double axis_ceiling(double value);

}  // namespace ddlrun
