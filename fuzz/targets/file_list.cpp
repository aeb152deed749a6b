// SPDX-License-Identifier: MIT
// Lists of images ("PATH LABEL"): each line has a path and a label.
#include "runtime/data/file_list.hpp"

#include "fuzz/fuzz_target.hpp"

using namespace ddlrun;

DDLRUN_FUZZ_TARGET(file_list) {
  const auto list = fuzz::accepted([&] { return runtime::parse_file_list(input, "train.txt", "/data"); });
  if (!list) return;
  for (std::size_t i = 0; i < list->count(); ++i)
    fuzz::require(!list->name(i).empty() && list->path(i).starts_with('/'), "an image has a path",
                  list->name(i));
}
