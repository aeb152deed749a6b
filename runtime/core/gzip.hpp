// SPDX-License-Identifier: MIT
// Files that may be compressed, read with a limit. The size field at the end of a gzip file is not used.
#pragma once

#include "base/text/error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// A limit above all supported data sets; without it, a compressed file of a megabyte could unpack to a
// gigabyte.
constexpr std::size_t max_data_bytes = std::size_t{2} << 30;

// True for the two magic bytes of gzip, whatever the file is called.
bool is_gzip(std::span<const std::uint8_t> bytes);

// The size of a file by its first bytes, 0 while there are too few of them.
using SizeOfHead = std::function<std::uint64_t(std::span<const std::uint8_t> head)>;

// All members of a gzip stream. Throws Error(request) if it is damaged, cut short, larger than `limit`, or
// larger than its own head declares: that is known before all of it is unpacked.
std::vector<std::uint8_t> gunzip(std::span<const std::uint8_t> bytes, std::size_t limit,
                                 std::string_view name, const SizeOfHead& size_of_head = {});

// Builds the error for an invalid data file.
Error refuse_file(std::string_view name, std::string what, std::string hint);

// The contents of a regular file, unpacked if it is gzip.
std::vector<std::uint8_t> read_data_file(const std::string& path, std::size_t limit = max_data_bytes,
                                         const SizeOfHead& size_of_head = {});

}  // namespace ddlrun::runtime
