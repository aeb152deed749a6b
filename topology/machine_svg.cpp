// SPDX-License-Identifier: MIT
#include "topology/machine_svg.hpp"

#include "base/text/svg.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace ddlrun::topology {
namespace {

constexpr double row_width = 1180;  // where packages, NUMA nodes and the legend go on in the next row
constexpr double gap = 6;
constexpr double core_width = 30;
constexpr double core_height = 22;
constexpr int cores_per_row = 16;
constexpr std::string_view plain = "#ffffff";

// A finished part of the picture, drawn from its own (0, 0).
struct Box {
  double width = 0;
  double height = 0;
  std::string body;
};

std::string channel(double hue, double saturation, double lightness, double offset) {
  const double k = std::fmod(offset + hue / 30, 12);
  const double a = saturation * std::min(lightness, 1 - lightness);
  const double value = lightness - a * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
  return fmt::format("{:02x}", static_cast<int>(std::lround(value * 255)));
}

// Neighbours differ most when each hue is the golden angle away from the last; light enough for
// black text.
std::string colour(std::size_t number) {
  const double hue = std::fmod(static_cast<double>(number) * 137.508 + 205, 360);
  const double lightness = number % 2 == 0 ? 0.80 : 0.72;
  return "#" + channel(hue, 0.75, lightness, 0) + channel(hue, 0.75, lightness, 8) +
         channel(hue, 0.75, lightness, 4);
}

std::string rectangle(double width, double height, std::string_view fill, std::string_view stroke) {
  return svg_rect({0, 0, width, height}, fill, fmt::format(" rx=\"3\" stroke=\"{}\"", stroke));
}

// Boxes in rows of at most `width`, or of `per_row` boxes.
Box flow(const std::vector<Box>& boxes, double width, int per_row = 1 << 20) {
  Box all;
  double x = 0, y = 0, row_height = 0;
  int in_row = 0;
  for (const Box& box : boxes) {
    if (in_row > 0 && (x + box.width > width || in_row == per_row)) {
      y += row_height + gap;
      x = row_height = 0;
      in_row = 0;
    }
    all.body += fmt::format("<g transform=\"translate({:g},{:g})\">{}</g>\n", x, y, box.body);
    all.width = std::max(all.width, x + box.width);
    row_height = std::max(row_height, box.height);
    all.height = y + row_height;
    x += box.width + gap;
    ++in_row;
  }
  return all;
}

// A frame with a title around parts that stand one under the other.
Box frame(std::string_view title, const std::vector<Box>& parts, std::string_view fill,
          std::string_view stroke) {
  std::vector<Box> filled;
  std::ranges::copy_if(parts, std::back_inserter(filled), [](const Box& part) { return part.height > 0; });
  const Box inside = flow(filled, 0);
  const double title_width = 6.8 * static_cast<double>(title.size());
  Box box{std::max(inside.width, title_width) + 2 * gap, inside.height + 22 + gap, ""};
  box.body = rectangle(box.width, box.height, fill, stroke) + svg_text(gap, 15, title, " class=\"title\"") +
             fmt::format("<g transform=\"translate({:g},22)\">\n{}</g>", gap, inside.body);
  return box;
}

class Picture {
 public:
  Picture(const MachineTopology& machine, const std::vector<DrawnRank>& ranks)
      : machine_(machine), ranks_(ranks) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      for (const CoreIndex core : ranks[i].cores) rank_of_core_[core.logical] = i;
      if (ranks[i].gpu >= 0) ranks_of_gpu_[ranks[i].gpu].push_back(i);
    }
  }

  std::string render() const {
    std::vector<Box> packages;
    for (const Package& package : machine_.packages) packages.push_back(package_box(package));
    const Box all =
        frame(title(), {flow(packages, row_width), rest_box(), legend_box()}, "#ffffff", "#ffffff");
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"-4 "
        "-4 {0:g} {1:g}\">\n"
        "<style>text{{font-family:DejaVu "
        "Sans,Helvetica,Arial,sans-serif;font-size:11px;fill:#1a1a1a}}"
        ".title{{font-weight:bold}}</style>\n"
        "<rect x=\"-4\" y=\"-4\" width=\"{0:g}\" height=\"{1:g}\" "
        "fill=\"#ffffff\"/>\n{2}\n</svg>\n",
        all.width + 8, all.height + 8, all.body);
  }

 private:
  std::string title() const {
    return fmt::format("{}  ({})", machine_.host_name.empty() ? "machine" : machine_.host_name,
                       machine_.source);
  }

  Box core_box(const Core& core) const {
    const auto found = rank_of_core_.find(core.index.logical);
    std::vector<int> pus;
    for (const PuIndex pu : core.pus) pus.push_back(pu.os);
    std::string hover = fmt::format("core {}, PUs {}", core.index.logical, render_ranges(pus));
    if (found != rank_of_core_.end()) hover += fmt::format(", rank {}", ranks_[found->second].rank);
    Box box{core_width, core_height, ""};
    box.body = "<title>" + hover + "</title>" +
               rectangle(core_width, core_height,
                         found == rank_of_core_.end() ? plain : colour(found->second), "#666666") +
               svg_text(core_width / 2, 15, std::to_string(core.index.logical), " text-anchor=\"middle\"");
    return box;
  }

  static Box device_box(const std::string& label, std::string_view fill, std::string_view stroke) {
    const double width = 6.6 * static_cast<double>(std::min<std::size_t>(label.size(), 60)) + 3 * gap;
    return {width, core_height,
            rectangle(width, core_height, fill, stroke) + svg_text(gap, 15, label.substr(0, 60))};
  }

  Box gpu_box(const Gpu& gpu) const {
    std::string label = fmt::format("GPU {}  {}  {}", gpu.index, gpu.pci_bus_id, gpu.model);
    const auto found = ranks_of_gpu_.find(gpu.index);
    if (found == ranks_of_gpu_.end()) return device_box(label, plain, "#2e7d32");
    return device_box(label, colour(found->second.front()), "#2e7d32");
  }

  template <typename Belongs>
  Box devices(const Belongs& belongs) const {
    std::vector<Box> boxes;
    for (const Gpu& gpu : machine_.gpus) {
      if (belongs(gpu.numa_node, gpu.package)) boxes.push_back(gpu_box(gpu));
    }
    for (const Nic& nic : machine_.nics) {
      if (belongs(nic.numa_node, -1)) {
        boxes.push_back(device_box(fmt::format("{}  {}", nic.name, nic.kind), "#e3eefb", "#1565c0"));
      }
    }
    return flow(boxes, cores_per_row * (core_width + gap));
  }

  template <typename Belongs>
  Box cores(const Belongs& belongs) const {
    std::vector<Box> boxes;
    for (const Core& core : machine_.cores) {
      if (belongs(core)) boxes.push_back(core_box(core));
    }
    return flow(boxes, row_width, cores_per_row);
  }

  // A node over several packages: its cores are drawn in their packages.
  bool spans_packages(const NumaNode& node) const {
    return std::any_of(node.cores.begin(), node.cores.end(), [&](CoreIndex core) {
      return machine_.cores[static_cast<std::size_t>(core.logical)].package !=
             machine_.cores[static_cast<std::size_t>(node.cores.front().logical)].package;
    });
  }
  bool is_drawn_in_package(const Core& core) const {
    return core.numa_node < 0 ||
           spans_packages(machine_.numa_nodes[static_cast<std::size_t>(core.numa_node)]);
  }

  // The package of the node's cores; nodes without cores, or over several packages, belong to the machine.
  int package_of(const NumaNode& node) const {
    if (node.memory_only || node.cores.empty() || spans_packages(node)) return -1;
    return machine_.cores[static_cast<std::size_t>(node.cores.front().logical)].package;
  }

  Box numa_box(const NumaNode& node) const {
    std::string label = fmt::format("NUMA node {}", node.logical);
    if (node.memory_bytes > 0)
      label += fmt::format("  {:.0f} GiB", static_cast<double>(node.memory_bytes) / (1u << 30));
    if (node.memory_only) label += "  memory only";
    return frame(
        label,
        {cores([&](const Core& core) { return core.numa_node == node.logical && !spans_packages(node); }),
         devices([&](int numa, int) { return numa == node.logical; })},
        "#eef3ea", "#9bb08c");
  }

  std::vector<Box> numa_boxes(int package) const {
    std::vector<Box> boxes;
    for (const NumaNode& node : machine_.numa_nodes) {
      if (package_of(node) == package) boxes.push_back(numa_box(node));
    }
    return boxes;
  }

  Box package_box(const Package& package) const {
    std::string label = fmt::format("package {}  {}", package.logical, package.model);
    if (package.core_count == 0) label += "  no usable core";
    return frame(label,
                 {flow(numa_boxes(package.logical), row_width), cores([&](const Core& core) {
                    return core.package == package.logical && is_drawn_in_package(core);
                  }),
                  devices([&](int numa, int of) { return numa < 0 && of == package.logical; })},
                 "#faf6ec", "#c4b48a");
  }

  // What hangs on no package.
  Box rest_box() const {
    return flow({flow(numa_boxes(-1), row_width),
                 cores([](const Core& core) { return core.package < 0 && core.numa_node < 0; }),
                 devices([](int numa, int package) { return numa < 0 && package < 0; })},
                0);
  }

  Box legend_box() const {
    std::vector<Box> boxes;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      std::vector<int> numbers;
      for (const CoreIndex core : ranks_[i].cores) numbers.push_back(core.logical);
      std::string label = fmt::format("rank {}: cores {}", ranks_[i].rank, render_ranges(numbers));
      if (ranks_[i].gpu >= 0) label += fmt::format(", GPU {}", ranks_[i].gpu);
      boxes.push_back(device_box(label, colour(i), "#666666"));
    }
    return flow(boxes, row_width);
  }

  const MachineTopology& machine_;
  const std::vector<DrawnRank>& ranks_;
  std::map<int, std::size_t> rank_of_core_;
  std::map<int, std::vector<std::size_t>> ranks_of_gpu_;
};

}  // namespace

std::string render_machine_svg(const MachineTopology& machine, const std::vector<DrawnRank>& ranks) {
  return Picture(machine, ranks).render();
}

}  // namespace ddlrun::topology
