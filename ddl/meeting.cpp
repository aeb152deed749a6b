// SPDX-License-Identifier: MIT
// Collectives' part in calls that something else carries out.
#include "ddl/collectives.hpp"

namespace ddl {

void Collectives::meet(const Occasion& occasion, const Tensor& tensor) {
  under_way_ = UnderWay{occasion.verb, occasion.call.sequence, &tensor};
  const Past past{under_way_};
  WireOptions options;
  options.signature = static_cast<std::uint32_t>(occasion.call.signature);
  stage_.meet(occasion);
  ddl::barrier(wires(), options);
}

void Collectives::look() {
  stage_.look();
  if (roll_) roll_->wait_for(-1);  // for nobody that is known
}

void Collectives::tell(const Error& error) noexcept {
  stage_.give_up(error);
  if (roll_) roll_->give_up(error);
}

}  // namespace ddl
