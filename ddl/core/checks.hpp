// SPDX-License-Identifier: MIT
// What no call can take, on no rank: found before anything is sent.
#pragma once

#include "ddl/ddl.hpp"

#include <string_view>

namespace ddl {

// All throw Error(usage).
void check_type(const Tensor& tensor);
// A type, no more bytes than max_bytes, and an address for them.
void check_tensor(const Tensor& tensor);
// An operation that there is, for this type.
void check_operation(const Tensor& tensor, Operation operation);
// A rank that there is. `call`: its name, for the hint.
void check_root(const Tensor& tensor, int root, int ranks, std::string_view call = "broadcast(tensor");

// Ranks times the elements of the output, or of the input; of one type.
void check_reduce_scatter(const Tensor& in, const Tensor& out, int ranks);
void check_all_gather(const Tensor& in, const Tensor& out, int ranks);
// Of the root, which alone has a tensor of all ranks' elements.
void check_scatter(const Tensor& in, const Tensor& out, int ranks);
void check_gather(const Tensor& in, const Tensor& out, int ranks);

constexpr int max_timeout = 86400;  // seconds
// A deadline that comes: more than 0 s, a day at most.
void check_timeout(const Options& options);

}  // namespace ddl
