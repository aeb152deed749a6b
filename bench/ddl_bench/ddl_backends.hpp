// SPDX-License-Identifier: MIT
// libddl's backends: in shared memory, in anyone's memory, with bfloat16 on the wire, as a ring, with the use
// of the sums once a host.
#pragma once

#include "bench/ddl_bench/backend.hpp"
#include "ddl/ddl.hpp"

#include <memory>
#include <string>

namespace ddlrun::ddl_bench {

// The contexts outlive the backends. Each way gets one that was made for it.
Backend ddl_backend(std::string name, std::shared_ptr<ddl::Context> context, ddl::DataType type, bool shared,
                    Roofline limit);
// float32: w += sum, each element by one rank of the host; or by every rank for its own w.
Backend ddl_update_backend(std::shared_ptr<ddl::Context> context);
Backend ddl_each_backend(std::shared_ptr<ddl::Context> context);

}  // namespace ddlrun::ddl_bench
