// SPDX-License-Identifier: MIT
#include "runtime/caffe/caffe_net.hpp"

#include "runtime/models/layer_shapes.hpp"
#include "tests/unit/runtime/caffe/caffe_support.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <algorithm>
#include <map>

namespace ddlrun::runtime {
namespace {

std::map<std::string, std::string> shapes_of(const Net& net) {
  std::map<std::string, std::string> shapes;
  for (const PlannedLayer& layer : net.layers) shapes[layer.name] = render_shape(layer.output);
  return shapes;
}

CaffeNet read_net_file(const std::string& path) { return *read_caffe_run("", path).net; }

const Layer& layer_called(const CaffeNet& net, std::string_view name) {
  const auto found = std::find_if(net.net.layers.begin(), net.net.layers.end(),
                                  [&](const Layer& layer) { return layer.name == name; });
  REQUIRE(found != net.net.layers.end());
  return *found;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/caffe/caffe_net");

// namespace

// Sizes as the papers and Caffe's own logs tell them.
TEST_CASE("caffe nets: published shapes and numbers of weights") {
  struct Row {
    std::string file;
    Shape images;
    int classes;
    std::size_t parameters;
    std::map<std::string, std::string> shapes;
  };
  const Row rows[] = {
      {example_file("lenet_train_test.prototxt"),
       {1, 28, 28},
       10,
       431'080,
       {{"conv1", "20x24x24"},
        {"pool1", "20x12x12"},
        {"conv2", "50x8x8"},
        {"pool2", "50x4x4"},
        {"ip1", "500x1x1"},
        {"relu1", "500x1x1"},
        {"ip2", "10x1x1"}}},
      {prototxt_file("valid/lenet_2014_train.prototxt"),
       {1, 28, 28},
       10,
       431'080,
       {{"conv1", "20x24x24"},
        {"pool1", "20x12x12"},
        {"conv2", "50x8x8"},
        {"pool2", "50x4x4"},
        {"ip1", "500x1x1"},
        {"relu1", "500x1x1"},
        {"ip2", "10x1x1"}}},
      {example_file("cifar10_quick_train_test.prototxt"),
       {3, 32, 32},
       10,
       145'578,
       {{"conv1", "32x32x32"},
        {"pool1", "32x16x16"},
        {"conv2", "32x16x16"},
        {"pool2", "32x8x8"},
        {"conv3", "64x8x8"},
        {"pool3", "64x4x4"},
        {"ip1", "64x1x1"},
        {"ip2", "10x1x1"}}},
      {example_file("alexnet_train_val.prototxt"),
       {3, 227, 227},
       1000,
       60'965'224,
       {{"conv1", "96x55x55"},
        {"norm1", "96x55x55"},
        {"pool1", "96x27x27"},
        {"conv2", "256x27x27"},
        {"pool2", "256x13x13"},
        {"conv3", "384x13x13"},
        {"conv4", "384x13x13"},
        {"conv5", "256x13x13"},
        {"pool5", "256x6x6"},
        {"fc6", "4096x1x1"},
        {"fc8", "1000x1x1"}}},
      {prototxt_file("valid/googlenet_3b_train_val.prototxt"),
       {3, 224, 224},
       1000,
       1'157'848,
       {{"conv1/7x7_s2", "64x112x112"},
        {"pool1/3x3_s2", "64x56x56"},
        {"conv2/3x3", "192x56x56"},
        {"pool2/3x3_s2", "192x28x28"},
        {"inception_3a/output", "256x28x28"},
        {"inception_3b/output", "480x28x28"},
        {"pool", "480x1x1"}}},
      {prototxt_file("valid/resnet50_train_val.prototxt"),
       {3, 224, 224},
       1000,
       25'557'032,
       {{"conv1", "64x112x112"},
        {"pool1", "64x56x56"},
        {"res2c_relu", "256x56x56"},
        {"res3d_relu", "512x28x28"},
        {"res4f_relu", "1024x14x14"},
        {"res5c_relu", "2048x7x7"},
        {"pool5", "2048x1x1"},
        {"fc1000", "1000x1x1"}}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.file);
    const Net net = plan_caffe_net(read_net_file(row.file), row.images, row.classes);
    CHECK(net.parameter_count == row.parameters);
    const auto shapes = shapes_of(net);
    for (const auto& [name, shape] : row.shapes) {
      CAPTURE(name);
      REQUIRE(shapes.contains(name));
      CHECK(shapes.at(name) == shape);
    }
  }
}

TEST_CASE("caffe nets: all that a file says arrives") {
  const CaffeNet net = read_net_file(prototxt_file("valid/intel_train_val.prototxt"));
  CHECK(net.net.name == "intel");
  REQUIRE(net.train_data);
  CHECK(net.train_data->kind == CaffeSource::invented);
  CHECK(net.train_data->batch_size == 16);
  CHECK(net.train_data->shape == Shape{3, 32, 32});
  CHECK(net.net.images == std::vector<Shape>{{3, 32, 32}});
  const Layer& conv = layer_called(net, "conv1");
  CHECK(conv.inputs == std::vector<std::string>{"data"});
  CHECK(conv.padding == Sides{1, 1});
  CHECK(conv.bias_spec.lr_factor == 2.0);
  CHECK(conv.bias_spec.filler == Filler{Filler::Kind::constant, 0.1, 0.0});
  CHECK(conv.weight_spec.filler.kind == Filler::Kind::uniform);  // xavier by FAN_OUT: sqrt(3 / (16 x 3 x 3))
  CHECK(conv.weight_spec.filler.b == doctest::Approx(0.1443375673));
  const Layer& norm = layer_called(net, "bn1");
  CHECK(norm.bias);
  CHECK(norm.epsilon == 0.001);
  CHECK(norm.keep == 0.9);
  const Layer& pool = layer_called(net, "pool1");
  CHECK(pool.inputs ==
        std::vector<std::string>{"relu1"});  // in location: the name of the blob is bn1 all the time
  CHECK(pool.method == PoolMethod::average);
  CHECK(pool.rounding == Rounding::ceil);
  CHECK(pool.kernel == Sides{3, 2});
  CHECK(pool.stride == Sides{2, 2});
  CHECK(layer_called(net, "fc").weight_spec.filler == Filler{Filler::Kind::uniform, -0.05, 0.05});
}

TEST_CASE("caffe nets: hints in Caffe's words") {
  struct Row {
    std::string layer;
    int classes;
    const char* hint;
  };
  const std::string whole = "layer { name: 'x' type: 'ReLU' bottom: 'data' top: 'top' }";
  const Row rows[] = {
      {whole, 11, "num_output: 11"},
      {"layer { name: 'x' type: 'Convolution' bottom: 'data' top: 'top' convolution_param { num_output: 2 "
       "kernel_size: 9 } }",
       10, "kernel_size: 8"},
      {"layer { name: 'x' type: 'Convolution' bottom: 'data' top: 'top' convolution_param { num_output: 2 "
       "kernel_size: 3 group: 3 } }",
       10, "group: 1"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.hint);
    const CaffeNet net = parse_good_net(net_with(row.layer));
    CHECK(expect_error(ErrorKind::request, "", [&] {
            plan_caffe_net(net, {1, 8, 8}, row.classes);
          }).hint == row.hint);
  }
}

TEST_CASE("caffe nets: a net for use is trained too") {
  CaffeRun run = read_caffe_run("", prototxt_file("valid/deploy.prototxt"));
  const Layer& conv = layer_called(*run.net, "conv");
  CHECK(conv.kernel == Sides{3, 5});
  CHECK(conv.padding == Sides{1, 2});
  CHECK(conv.stride == Sides{2, 1});
  CHECK(!conv.bias);
  CHECK(layer_called(*run.net, "sum").inputs == std::vector<std::string>{"relu", "conv"});
  const Net net = plan_caffe_net(*run.net, {3, 32, 32}, 10);
  CHECK(net.layers.back().name == "ip");
  CHECK(net.parameter_count == 3 * 8 * 15 + 8 * 16 * 32 * 10 + 10);
  bool reported = false;
  for (const Message& note : run.notes)
    reported = reported || note.what.find("no SoftmaxWithLoss") != std::string::npos;
  CHECK(reported);
}

TEST_CASE("caffe nets: data of both phases") {
  const CaffeNet net = read_net_file(example_file("lenet_train_test.prototxt"));
  REQUIRE(net.train_data);
  REQUIRE(net.test_data);
  CHECK(net.train_data->kind == CaffeSource::lmdb);
  CHECK(net.train_data->source == "examples/mnist/mnist_train_lmdb");
  CHECK(net.train_data->batch_size == 64);
  CHECK(net.train_data->transform.scale == 0.00390625);
  CHECK(net.test_data->source == "examples/mnist/mnist_test_lmdb");
  CHECK(net.test_data->batch_size == 100);
  const CaffeNet imagenet = read_net_file(prototxt_file("valid/resnet50_train_val.prototxt"));
  CHECK(imagenet.train_data->transform.mirror);
  CHECK(!imagenet.test_data->transform.mirror);
  CHECK(imagenet.train_data->transform.crop == Sides{224, 224});
  CHECK(imagenet.train_data->transform.mean_values == std::vector<double>{104.0, 117.0, 123.0});
  const CaffeNet old = read_net_file(prototxt_file("valid/lenet_2014_train.prototxt"));
  CHECK(old.train_data->kind == CaffeSource::leveldb);
  CHECK(old.train_data->transform.scale == 0.00390625);  // from data_param, as Caffe upgrades it
  CHECK(layer_called(old, "conv2").bias_spec.decay_factor == 0.0);
  CHECK(layer_called(old, "conv1").bias_spec.lr_factor == 2.0);
}

TEST_CASE("caffe nets: images in lists") {
  const CaffeNet net = parse_good_net(R"(
layer { name: "d" type: "ImageData" top: "data" top: "label"
  image_data_param { source: "train.txt" batch_size: 8 root_directory: "/images/" new_height: 256 new_width: 240
                     is_color: false shuffle: true mirror: true }
  transform_param { crop_h: 200 crop_w: 220 force_color: true scale: 0.5 } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 2 } }
layer { name: "l" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" })");
  REQUIRE(net.train_data);
  CHECK(net.train_data->kind == CaffeSource::list);
  CHECK(net.train_data->source == "train.txt");
  CHECK(net.train_data->root_directory == "/images/");
  CHECK(net.train_data->resize == Sides{256, 240});
  CHECK(net.train_data->channels == 3);
  CHECK(net.train_data->shuffle);
  CHECK(net.train_data->transform.mirror);
  CHECK(net.train_data->transform.crop == Sides{200, 220});
  CHECK(net.train_data->transform.scale == 0.5);
}

TEST_CASE("caffe nets: layers of a phase") {
  // Caffe's rules: any include holds, or no exclude does; stages all there, not_stages none.
  struct Row {
    const char* rules;
    bool in_train;
  };
  const Row rows[] = {
      {"", true},
      {"include { phase: TRAIN }", true},
      {"include { phase: TEST }", false},
      {"include { phase: TEST } include { phase: TRAIN }", true},
      {"exclude { phase: TRAIN }", false},
      {"exclude { phase: TEST }", true},
      {"include { min_level: 1 }", false},
      {"include { max_level: 0 }", true},
      {"include { stage: \"fast\" }", true},
      {"include { stage: \"fast\" stage: \"slow\" }", false},
      {"include { not_stage: \"fast\" }", false},
      {"exclude { not_stage: \"slow\" }", false},
      {"include { phase: TRAIN not_stage: \"slow\" }", true},
  };
  for (const Row& row : rows) {
    CAPTURE(row.rules);
    CaffeReport unused;  // TRAIN and TEST differ
    const CaffeNet net = parse_net_text(
        "state { stage: \"fast\" }\n" +
            net_with(std::string("layer { name: \"a\" type: \"ReLU\" bottom: \"data\" top: \"top\" }\n"
                                 "layer { name: \"b\" type: \"ReLU\" bottom: \"top\" top: \"top\" ") +
                     row.rules + " }"),
        unused);
    CHECK(net.net.layers.size() == (row.in_train ? 3 : 2));
  }
}

TEST_CASE("caffe nets: what leads to no loss is left out") {
  CaffeReport report;
  const CaffeNet net = parse_net_text(
      net_with(
          "layer { name: \"a\" type: \"ReLU\" bottom: \"data\" top: \"top\" }\n"
          "layer { name: \"aux\" type: \"InnerProduct\" bottom: \"top\" top: \"aux\" inner_product_param { "
          "num_output: 3 } }\n"
          "layer { name: \"p\" type: \"Softmax\" bottom: \"aux\" top: \"p\" }\n"
          "layer { name: \"hush\" type: \"Silence\" bottom: \"p\" }"),
      report);
  CHECK(report.errors.empty());
  CHECK(net.net.layers.size() == 2);
  REQUIRE(report.notes.size() == 2);  // aux has no filler either
  CHECK(report.notes[1].what == "1 layer(s) do not lead to the loss and are ignored: aux");
}

TEST_CASE("caffe nets: batch norm and scale are one layer") {
  const auto norm = [](const std::string& scale) {
    const CaffeNet net = parse_good_net(
        net_with("layer { name: \"bn\" type: \"BatchNorm\" bottom: \"data\" top: \"top\" }\n" + scale));
    return net.net.layers.front();
  };
  CHECK(!norm("").bias);
  CHECK(norm("").keep == 0.999);
  const Layer scaled = norm(
      "layer { name: \"s\" type: \"Scale\" bottom: \"top\" top: \"top\" param { lr_mult: 3 } param { "
      "decay_mult: 0 } "
      "scale_param { bias_term: true filler { value: 0.5 } bias_filler { value: 0.25 } } }");
  CHECK(scaled.bias);
  CHECK(scaled.weight_spec.filler == Filler{Filler::Kind::constant, 0.5, 0.0});
  CHECK(scaled.weight_spec.lr_factor == 3.0);
  CHECK(scaled.bias_spec.filler == Filler{Filler::Kind::constant, 0.25, 0.0});
  CHECK(scaled.bias_spec.decay_factor == 0.0);
  const Layer half = norm("layer { name: \"s\" type: \"Scale\" bottom: \"top\" top: \"top\" }");
  CHECK(half.weight_spec.filler == Filler{Filler::Kind::constant, 1.0, 0.0});  // Caffe's default for a Scale
  CHECK(half.bias_spec.lr_factor == 0.0);                                      // there is none to learn
}

TEST_CASE("caffe nets: names that are taken") {
  const CaffeNet net =
      parse_good_net(net_with("layer { name: \"data\" type: \"ReLU\" bottom: \"data\" top: \"a\" }\n"
                              "layer { name: \"r\" type: \"ReLU\" bottom: \"a\" top: \"b\" }\n"
                              "layer { name: \"r\" type: \"ReLU\" bottom: \"b\" top: \"c\" }\n"
                              "layer { type: \"ReLU\" bottom: \"c\" top: \"top\" }"));
  std::string names;
  for (const Layer& layer : net.net.layers) names += layer.name + " ";
  CHECK(names == "data_2 r r_2 ReLU ip ");
  plan_caffe_net(net, {1, 4, 4}, 10);
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
