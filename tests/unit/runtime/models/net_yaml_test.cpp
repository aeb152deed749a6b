// SPDX-License-Identifier: MIT
#include "runtime/models/net_yaml.hpp"

#include "base/text/text.hpp"
#include "runtime/models/net_library.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

namespace ddlrun::runtime {

TEST_SUITE_BEGIN("runtime/models/net_yaml");

TEST_CASE("net yaml: every key arrives") {
  const NetDescription net = parse_net_yaml(R"(name: mine
images: [1x28x28, 3x32x16]
border: 32x40
layers:
  - {name: c, kind: convolution, outputs: 8, kernel: [3, 5], stride: 2, padding: [1, 2], dilation: [1, 3], groups: 4, bias: false}
  - {kind: max_pool, kernel: 3}
  - {kind: average_pool, kernel: 2, stride: 1, padding: 1, rounding: ceil, inputs: [c]}
  - {kind: average_pool, global: true}
  - {kind: dropout, rate: 0.25}
  - {kind: lrn, size: 3, alpha: 1e-3, beta: 0.5, k: 2}
  - {kind: batch_norm, affine: false, epsilon: 0.001, keep: 0.99}
  - {name: s, kind: sum, inputs: [a, b]}
  - {kind: concat, inputs: [s, data]}
  - {kind: inner_product, outputs: classes, weights: {gaussian: 0.01}, biases: {constant: 0.1}, lr: [1, 2], decay: [1, 0]}
  - {kind: relu, slope: 0.1}
  - {name: loss, kind: softmax_loss}
)",
                                            "dir/net.yaml");
  CHECK(net.name == "mine");
  CHECK(net.images == std::vector<Shape>{{1, 28, 28}, {3, 32, 16}});
  CHECK(net.border == Shape{0, 32, 40});
  REQUIRE(net.layers.size() == 12);
  const Layer& c = net.layers[0];
  CHECK(c.kind == LayerKind::convolution);
  CHECK(c.name == "c");
  CHECK(c.location == "dir/net.yaml:5:5");
  CHECK(c.outputs == 8);
  CHECK(c.kernel == Sides{3, 5});
  CHECK(c.stride == Sides{2, 2});
  CHECK(c.padding == Sides{1, 2});
  CHECK(c.dilation == Sides{1, 3});
  CHECK(c.groups == 4);
  CHECK(!c.bias);
  CHECK(net.layers[1].stride == Sides{3, 3});  // side by side, where nothing else is said
  CHECK(net.layers[1].rounding == Rounding::floor);
  CHECK(net.layers[2].stride == Sides{1, 1});
  CHECK(net.layers[2].method == PoolMethod::average);
  CHECK(net.layers[2].rounding == Rounding::ceil);
  CHECK(net.layers[2].inputs == std::vector<std::string>{"c"});
  CHECK(net.layers[3].global);
  CHECK(net.layers[4].rate == 0.25);
  CHECK(net.layers[5].size == 3);
  CHECK(net.layers[5].alpha == 1e-3);
  CHECK(net.layers[5].beta == 0.5);
  CHECK(net.layers[5].k == 2.0);
  CHECK(!net.layers[6].bias);
  CHECK(net.layers[6].epsilon == 0.001);
  CHECK(net.layers[6].keep == 0.99);
  CHECK(net.layers[7].inputs == std::vector<std::string>{"a", "b"});
  CHECK(net.layers[10].slope == 0.1);
  CHECK(net.layers[8].kind == LayerKind::concat);
  const Layer& ip = net.layers[9];
  CHECK(ip.outputs == as_many_as_classes);
  CHECK(ip.weight_spec.filler == Filler{Filler::Kind::gaussian, 0.0, 0.01});
  CHECK(ip.bias_spec.filler == Filler{Filler::Kind::constant, 0.1, 0.0});
  CHECK(ip.bias_spec.lr_factor == 2.0);
  CHECK(ip.weight_spec.decay_factor == 1.0);
  CHECK(ip.bias_spec.decay_factor == 0.0);
  CHECK(net.layers[11].kind == LayerKind::softmax_loss);
}

TEST_CASE("net yaml: the name of the file, where the net has none") {
  CHECK(parse_net_yaml("layers: [{kind: relu}]", "some/where/tiny.yaml").name == "tiny");
}

TEST_CASE("net yaml: refusals, with both numbers and their place") {
  struct Row {
    const char* text;
    const char* what;
    const char* where;
  };
  const Row rows[] = {
      {"[1, 2]", "the key 'layers' is missing", "n.yaml:1:1"},
      {"", "the key 'layers' is missing", "n.yaml"},
      {"name: x", "the list of layers is missing or empty", "n.yaml:1:1"},
      {"layers: 3", "the list of layers", "n.yaml:1:9"},
      {"layers:\n  - {name: x}", "a mapping with the key 'kind'", "n.yaml:2:5"},
      {"layers:\n  - {kind: convolutoin}",
       "unknown kind of layer 'convolutoin': must be one of convolution, max_pool", "n.yaml:2:12"},
      {"layers:\n  - {kind: relu, kernel: 3}", "unknown key 'kernel': must be one of name, kind, inputs",
       "n.yaml:2:26"},
      {"layers:\n  - {kind: convolution, outputs: 3}", "a layer of kind convolution needs a kernel",
       "n.yaml:2:5"},
      {"layers:\n  - {kind: inner_product}", "needs outputs", "n.yaml:2:5"},
      {"layers:\n  - {kind: inner_product, outputs: many}", "'many' is not a whole number", "n.yaml:2:36"},
      {"layers:\n  - {kind: max_pool, kernel: [1, 2, 3]}", "3 values instead of height and width",
       "n.yaml:2:30"},
      {"layers:\n  - {kind: dropout, rate: half}", "'half' is not a number", "n.yaml:2:27"},
      {"layers:\n  - {kind: max_pool, kernel: 2, rounding: up}", "'up' is neither floor nor ceil",
       "n.yaml:2:43"},
      {"images: [28x28]\nlayers: [{kind: relu}]", "'28x28' is not 3 sizes from 1 to 32768 joined by x",
       "n.yaml:1:10"},
      {"layers:\n  - {name: a b, kind: relu}", "a name is up to 100 letters, digits", "n.yaml:2:12"},
      {"layer: []\nlayers: [{kind: relu}]", "unknown key 'layer'", "n.yaml:1:8"},
      {"layers:\n  - @x", "not YAML", "n.yaml:2:5"},
      {"name: x\nname: y", "the key 'name' twice", "n.yaml:2:1"},
      {"layers:\n  - {kind: inner_product, outputs: 3, weights: {gaussian: -1}}",
       "the deviation -1 is negative", "n.yaml:2:59"},
      {"layers:\n  - {kind: inner_product, outputs: 3, weights: {uniform: [1, -1]}}",
       "uniform from 1 to -1: the lower bound must come first", "n.yaml:2:48"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    try {
      parse_net_yaml(row.text, "n.yaml");
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::request);
      CHECK(error.message().what.find(row.what) != std::string::npos);
      CHECK(error.message().where == row.where);
      CHECK(!error.message().hint.empty());
    }
  }
}

TEST_CASE("net yaml: what cannot be read is to be mended") {
  for (const char* text : {"name: x\nname: y", "layers:\n  - @x"}) {
    const Message message = expect_error(ErrorKind::request, "", [&] { parse_net_yaml(text, "n.yaml"); });
    CHECK(message.hint.starts_with("fix that line; `ddl-train print-net"));
  }
}

TEST_CASE("net yaml: all errors at once, those of shapes at their layers") {
  expect_error(ErrorKind::request, "(the first of 3 errors)", [] {
    parse_net_yaml("layers:\n  - {kind: rleu}\n  - {kind: dropout, rate: x}\n  - {kind: lrn, sise: 5}\n",
                   "n.yaml");
  });
  try {
    const char* text =
        "layers:\n  - {kind: convolution, kernel: 9, outputs: 3}\n  - {kind: relu, inputs: [x]}\n";
    plan_net(parse_net_yaml(text, "n.yaml"), {1, 8, 8}, 2);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.message().where == "n.yaml:3:5");
    CHECK(error.message().what.find("kernel of 9x9, but its input is only 8x8") != std::string::npos);
    CHECK(error.message().what.find("at n.yaml:2:5") != std::string::npos);
  }
}

TEST_CASE("net yaml: a net with nothing to learn") {
  for (const char* text : {"layers: [{kind: relu}]", "layers: [{kind: max_pool, kernel: 4}]",
                           "layers: [{kind: batch_norm, affine: false}]"}) {
    CAPTURE(text);
    expect_error(ErrorKind::request, "no weights to learn", [&] {
      plan_net(parse_net_yaml(text, "n.yaml"), {1, 8, 8}, 3);
    });
  }
}

TEST_CASE("net yaml: how nets are written names all kinds and keys, and its example is a net") {
  const std::string form = render_net_form();
  for (const char* word :
       {"convolution", "average_pool", "softmax_loss", "dilation", "slope", "inputs", "rounding"})
    CHECK_MESSAGE(form.find(word) != std::string::npos, word);
  for (const std::string_view line : split(form, '\n')) CHECK_MESSAGE(line.size() <= 120, line);
  const std::size_t begin = form.find("  name: mine");
  const std::string example = form.substr(begin, form.find("\n\n", begin) - begin);
  CHECK(plan_net(parse_net_yaml(example, "n.yaml"), {1, 28, 28}, 7).classes == 7);
}

TEST_CASE("net yaml: a mistake with a net of the program is placed where it can be looked at") {
  const Message reported = expect_error(ErrorKind::request, "needs images of", [] {
    build_net("lenet5", {3, 9, 9}, 2);
  });
  CHECK(reported.where.starts_with("ddl-train print-net lenet5"));
  CHECK(find_net_text("lenet5").find("name: conv1") != std::string_view::npos);
  expect_error(ErrorKind::usage, "unknown net 'lenet6'", [] { find_net_text("lenet6"); });
}

TEST_CASE("net yaml: the nets of the program are read without a mistake") {
  for (const auto& [name, text] : builtin_nets()) {
    CAPTURE(name);
    CHECK(parse_net_yaml(text, name + ".yaml").name == name);
  }
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
