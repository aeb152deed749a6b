// SPDX-License-Identifier: MIT
#include "runtime/models/net_text.hpp"

#include "runtime/models/net_yaml.hpp"

#include <doctest/doctest.h>

namespace ddlrun::runtime {

TEST_SUITE_BEGIN("runtime/models/net_text");

TEST_CASE("a planned net, written and read, is the same net") {
  struct Row {
    const char* net;
    Shape images;
    int classes;
  };
  for (const Row& row :
       {Row{"lenet5", {1, 28, 28}, 10}, Row{"caffe", {1, 28, 28}, 10}, Row{"mlp", {3, 20, 31}, 7},
        Row{"cifar-quick", {3, 32, 32}, 10}, Row{"alexnet", {3, 227, 227}, 1000}, Row{"ddl", {1, 28, 28}, 10},
        Row{"resnet-18", {3, 64, 64}, 5}, Row{"resnet-50", {3, 64, 64}, 5}}) {
    CAPTURE(row.net);
    const Net net = build_net(row.net, row.images, row.classes);
    const Net again = plan_net(parse_net_yaml(render_net_yaml(net), "again.yaml"), row.images, row.classes);
    CHECK(fingerprint(again) == fingerprint(net));
    CHECK(again.name == net.name);
    CHECK(again.parameter_count == net.parameter_count);
    CHECK(render_net_yaml(again) == render_net_yaml(net));
  }
}

// PyYAML's resolver of YAML 1.1: a float has a point, and its exponent a sign.
TEST_CASE("a planned net has numbers and names that other readers of YAML take") {
  for (const char* name : {"resnet-18", "alexnet"}) {
    const std::string text = render_net_yaml(build_net(name, {3, 227, 227}, 5));
    for (std::size_t at = text.find(": 1e"); at != std::string::npos;) FAIL(text.substr(at, 10));
  }
  CHECK(render_net_yaml(build_net("resnet-18", {3, 64, 64}, 5)).find("epsilon: 1.0e-05,") !=
        std::string::npos);
  NetDescription odd = parse_net_yaml(
      "name: 'LeNet:#1'\nlayers:\n"
      "- {name: 'ip,1''s', kind: inner_product, outputs: 3}\n",
      "odd.yaml");
  const Net net = plan_net(odd, {1, 2, 2}, 3);
  const Net again = plan_net(parse_net_yaml(render_net_yaml(net), "again.yaml"), {1, 2, 2}, 3);
  CHECK(again.name == "LeNet:#1");
  CHECK(fingerprint(again) == fingerprint(net));
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
