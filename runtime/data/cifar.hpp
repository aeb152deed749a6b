// SPDX-License-Identifier: MIT
// The binary version of CIFAR-10 and CIFAR-100: records of one or two labels and 3x32x32 bytes, red, green
// and blue planes as Caffe's convert_cifar_data keeps them. Of CIFAR-100's two labels the fine one counts.
#pragma once

#include "runtime/data/image_source.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace ddlrun::runtime {

enum class CifarKind { ten, hundred };

// Appends one file's records. Throws Error(request) for another size or a label beyond the classes.
void append_cifar(std::span<const std::uint8_t> file, CifarKind kind, std::string_view name, ImageSet& set);

}  // namespace ddlrun::runtime
