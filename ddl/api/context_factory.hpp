// SPDX-License-Identifier: MIT
// How libddl itself makes a Context: on ranks that a Transport connects. Not installed; tests use it too.
#pragma once

#include "ddl/ddl.hpp"
#include "ddl/transport/transport.hpp"

#include <memory>
#include <optional>
#include <string>

namespace ddl {

struct ContextFactory {
  // Collective over the ranks of `transport`. Throws Error as Context's constructor.
  static Context make(std::unique_ptr<Transport> transport, const Options& options) {
    return Context(make_impl(std::move(transport), options));
  }
  static std::shared_ptr<Context::Impl> make_impl(std::unique_ptr<Transport> transport,
                                                  const Options& options);
  // The error after which each further call throws it again.
  static std::optional<Error> first_error(const Context& context);
  // As an exception that leaves the scope of `context`, but the Error(lost) of the other ranks has `reason`.
  static void abandon(Context& context, const std::string& reason) noexcept;
};

}  // namespace ddl
