// SPDX-License-Identifier: MIT
#include "runtime/data/cifar.hpp"

#include "base/text/text.hpp"
#include "runtime/core/gzip.hpp"

#include <fmt/format.h>

namespace ddlrun::runtime {

void append_cifar(std::span<const std::uint8_t> file, CifarKind kind, std::string_view name, ImageSet& set) {
  set.shape = {3, 32, 32};
  const std::size_t pixels = set.shape.count();
  const std::size_t labels = kind == CifarKind::ten ? 1 : 2;
  const std::size_t classes = kind == CifarKind::ten ? 10 : 100;
  const std::size_t record = labels + pixels;
  if (file.empty() || file.size() % record != 0) {
    throw refuse_file(
        name,
        fmt::format("a CIFAR-{} file must hold records of {} bytes; this one has {} = {} x {} + {}", classes,
                    record, file.size(), file.size() / record, record, file.size() % record),
        "ls -l " + quote_shell(name));
  }
  for (std::size_t at = 0; at < file.size(); at += record) {
    const std::uint8_t label = file[at + labels - 1];
    if (label >= classes) {
      throw refuse_file(name,
                        fmt::format("record {} has the label {}; the largest of CIFAR-{} is {}", at / record,
                                    label, classes, classes - 1),
                        "sha256sum " + quote_shell(name) + "   # and compare it with the original");
    }
    set.labels.push_back(label);
    const auto image = file.subspan(at + labels, pixels);
    set.pixels.insert(set.pixels.end(), image.begin(), image.end());
  }
}

}  // namespace ddlrun::runtime
