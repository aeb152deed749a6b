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

TEST_SUITE_END();

}  // namespace ddlrun::runtime
