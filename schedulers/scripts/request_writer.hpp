// SPDX-License-Identifier: MIT
// What the writers of both dialects share: the order of the parts, and where they go.
#pragma once

#include "schedulers/scripts/request.hpp"

#include <utility>

namespace ddlrun::job_scripts {

class RequestWriter {
 public:
  RenderedRequest write() {
    write_names();
    write_shape();
    write_files();
    write_life();
    return std::move(result_);
  }

 protected:
  explicit RequestWriter(const ResourceRequest& request) : request_(request) {}
  ~RequestWriter() = default;
  virtual void write_names() = 0;
  virtual void write_shape() = 0;
  virtual void write_files() = 0;
  virtual void write_life() = 0;

  const ResourceRequest& request_;
  RenderedRequest result_;
};

}  // namespace ddlrun::job_scripts
