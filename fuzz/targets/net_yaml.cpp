// SPDX-License-Identifier: MIT
// Nets in YAML: what is planned is written and read alike.
#include "runtime/models/net_yaml.hpp"

#include "fuzz/fuzz_target.hpp"
#include "runtime/models/net_text.hpp"

using namespace ddlrun;
using namespace ddlrun::runtime;

DDLRUN_FUZZ_TARGET(net_yaml) {
  const auto net = fuzz::accepted([&] {
    const NetDescription description = parse_net_yaml(input, "net.yaml");
    const Shape shape = description.images.empty() ? Shape{3, 32, 32} : description.images.front();
    return plan_net(description, shape, 10);
  });
  if (!net) return;
  const std::string text = render_net_yaml(*net);
  const Net again = plan_net(parse_net_yaml(text, "net.yaml"), net->input, 10);
  fuzz::require(fingerprint(again) == fingerprint(*net), "a net is read as written", text);
}
