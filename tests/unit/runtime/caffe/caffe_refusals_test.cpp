// SPDX-License-Identifier: MIT
// What is wrong in Caffe's files, or cannot be honoured: each with its location, and all at once.
#include "tests/unit/runtime/caffe/caffe_support.hpp"

namespace ddlrun::runtime {

namespace {

// A layer that reads "data" and makes "top".
std::string layer_of(const std::string& type, const std::string& rest) {
  return net_with("layer { name: \"x\" type: \"" + type + "\" bottom: \"data\" top: \"top\"\n" + rest + " }");
}

}  // namespace
TEST_SUITE_BEGIN("runtime/caffe/caffe_refusals");

// namespace

TEST_CASE("caffe refusals: what a layer may not be") {
  struct Row {
    std::string text;
    const char* reported;  // part of the first line
  };
  const std::string filler = " weight_filler { type: \"xavier\" }";
  const Row rows[] = {
      {layer_of("Convolution", "convolution_param { kernel_size: 3" + filler + " }"),
       "net.prototxt:3:1 layer x: has no num_output"},
      {layer_of("Convolution", "convolution_param { num_output: 4" + filler + " }"),
       "net.prototxt:3:1 layer x: has no kernel_size"},
      {layer_of("Convolution",
                "convolution_param { num_output: 4 kernel_size: 3 dilation: 0" + filler + " }"),
       "net.prototxt:3:50 layer x: has a dilation of 0x0; both must be 1 or more"},
      {layer_of("Convolution",
                "convolution_param { num_output: 4 kernel_size: 3 kernel_h: 3 kernel_w: 3" + filler + " }"),
       "layer x: has kernel_size and also kernel_h or kernel_w"},
      {layer_of("Convolution", "convolution_param { num_output: 4 kernel_h: 3" + filler + " }"),
       "net.prototxt:3:35 layer x: has kernel_h without kernel_w"},
      {layer_of(
           "Convolution",
           "convolution_param { num_output: 4 kernel_size: 3 kernel_size: 3 kernel_size: 3" + filler + " }"),
       "net.prototxt:3:65 layer x: has 3 values of kernel_size; images have 2 sides"},
      {layer_of("Convolution", "convolution_param { num_output: 4 kernel_size: 3 stride: 0" + filler + " }"),
       "layer x: has a stride of 0x0; both must be 1 or more"},
      {layer_of("Convolution", "convolution_param { num_output: 4 kernel_size: 3 axis: 2" + filler + " }"),
       "net.prototxt:3:50 layer x: axis is 2; ddl-train supports only Caffe's default, 1"},
      {layer_of("Convolution",
                "convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: \"xaver\" } }"),
       "net.prototxt:3:66 layer x: has the type 'xaver'; only constant, gaussian, uniform, xavier, msra are "
       "supported"},
      {layer_of("Convolution",
                "convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: \"msra\" "
                "variance_norm: AVERAGE } }"),
       "layer x: has variance_norm AVERAGE; only FAN_IN and FAN_OUT are supported"},
      {layer_of("Convolution",
                "convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: \"gaussian\" sparse: "
                "3 } }"),
       "layer x: sparse is 3; ddl-train supports only Caffe's default, -1"},
      {layer_of("Convolution", "param {} param {} param {} convolution_param { num_output: 4 kernel_size: 3" +
                                   filler + " }"),
       "net.prototxt:3:19 layer x: has 3 param blocks for 2 trainable blobs"},
      {layer_of("InnerProduct", "inner_product_param { num_output: 4 axis: 2" + filler + " }"), "axis is 2"},
      {layer_of("InnerProduct",
                "inner_product_param { num_output: 4 weight_filler { type: \"gaussian\" std: nan } }"),
       "layer x: std is nan, which is not a number"},
      {layer_of("InnerProduct",
                "inner_product_param { num_output: 4 weight_filler { type: \"gaussian\" std: -1 } }"),
       "layer x: has a std of -1; it must be 0 or more"},
      {layer_of("Pooling", "pooling_param { pool: MAXX kernel_size: 2 }"),
       "unknown value 'MAXX' of pool: must be one of MAX, AVE, STOCHASTIC; did you mean MAX?"},
      {layer_of("Pooling", "pooling_param { pool: STOCHASTIC kernel_size: 2 }"),
       "pools STOCHASTIC; only MAX and AVE are supported"},
      {layer_of("Pooling", "pooling_param { global_pooling: true kernel_size: 2 }"),
       "net.prototxt:3:17 layer x: has global_pooling and a kernel"},
      {layer_of("Pooling", "pooling_param { pool: MAX }"), "has no kernel_size"},
      {layer_of("ReLU", "relu_param { negative_slope: -0.1 }"),
       "net.prototxt:3:14 layer x: has a negative_slope of -0.1; it must be 0 or more"},
      {layer_of("LRN", "lrn_param { norm_region: WITHIN_CHANNEL }"), "norm_region is WITHIN_CHANNEL"},
      {layer_of("LRN", "lrn_param { local_size: 4 }"), "has a local_size of 4, which must be odd"},
      {layer_of("Dropout", "dropout_param { dropout_ratio: 1 }"),
       "has a dropout_ratio of 1; it must be at least 0 and less than 1"},
      {layer_of("BatchNorm", "batch_norm_param { use_global_stats: true }"),
       "uses global statistics in training"},
      {layer_of("Scale", ""), "Scale is supported only right after a BatchNorm"},
      {layer_of("PReLU", ""), "net.prototxt:2:19 layer x: ddl-train does not support Caffe's PReLU layers"},
      {layer_of("Relu", ""), "net.prototxt:2:19 layer x: unknown layer type 'Relu'; did you mean ReLU?"},
      {layer_of("ReLU", "loss_weight: 1"), "has a loss_weight of 1; only SoftmaxWithLoss can be a loss"},
      {layer_of("ReLU", "quantization_param { precision: DYNAMIC_FIXED_POINT }"),
       "net.prototxt:3:1 layer x: quantization_param is a field of Caffe that ddl-train does not support"},
      {layer_of("ReLU", "include { phase: TRAIN } exclude { phase: TEST }"), "has include and exclude rules"},
      {layer_of("Concat", "bottom: \"data\" concat_param { axis: 2 }"), "axis is 2"},
      {layer_of("Eltwise", "bottom: \"data\" eltwise_param { operation: PROD }"), "operation is PROD"},
      {layer_of("Eltwise", "bottom: \"data\" eltwise_param { coeff: 1 coeff: -1 }"),
       "net.prototxt:3:41 layer x: has a coeff of -1"},
      {layer_of("Eltwise", ""), "has 1 bottoms; a layer of type Eltwise reads 2 or more"},
      {layer_of("ReLU", "bottom: \"label\""), "has 2 bottoms; a layer of type ReLU reads 1"},
      {net_with("layer { name: \"x\" type: \"ReLU\" bottom: \"dat\" top: \"top\" }"),
       "net.prototxt:2:32 layer x: reads 'dat', which no earlier layer produces in the TRAIN phase; did you "
       "mean data?"},
      {net_with("layer { name: \"x\" type: \"ReLU\" bottom: \"label\" top: \"top\" }"),
       "reads 'label', which are labels"},
      {layer_of("ReLU", "} layer { name: \"y\" type: \"ReLU\" bottom: \"data\" top: \"top\""),
       "net.prototxt:3:49 layer y: produces 'top', which x already produces"},
      {net_with("layer { name: \"f\" type: \"Flatten\" bottom: \"data\" top: \"f\" }\n"
                "layer { name: \"x\" type: \"LRN\" bottom: \"f\" top: \"top\" }"),
       "reads the output of Flatten"},
      {net_with("layer { name: \"p\" type: \"Softmax\" bottom: \"data\" top: \"p\" }\n"
                "layer { name: \"x\" type: \"ReLU\" bottom: \"p\" top: \"top\" }"),
       "reads 'p' of p, after which ddl-train computes nothing"},
      {layer_of("ReLU", "} layer { name: \"l2\" type: \"SoftmaxWithLoss\" bottom: \"top\" bottom: \"label\""),
       "the net has 2 losses, l2, loss; ddl-train supports one"},
      {net_with("layer { name: \"x\" type: \"BatchNorm\" bottom: \"data\" top: \"b\" }\n"
                "layer { name: \"s\" type: \"Scale\" bottom: \"b\" top: \"top\" }\n"
                "layer { name: \"y\" type: \"Eltwise\" bottom: \"b\" bottom: \"top\" top: \"z\" }"),
       "reads 'b', a batch norm that another Scale layer has scaled"},
      {"layer { type: \"ReLU\" layers { } }", "net.prototxt:1:22 unknown field 'layers' in a LayerParameter"},
      {"layers { layer { name: \"old\" } }", "net.prototxt:1:1 this net has Caffe's first format (2013)"},
      {"layer {} layers {}", "the net has 1 layer blocks and 1 old layers blocks"},
      {"", "the net has no layer that computes in the TRAIN phase"},
      {"input: \"data\" input_dim: 1", "1 input(s) have 1 input_dim; 4 each are needed"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const std::string errors = find_net_errors(row.text);
    CHECK_MESSAGE(errors.find(row.reported) != std::string::npos, errors);
  }
}

TEST_CASE("caffe refusals: data and losses") {
  const auto data = [](const std::string& type, const std::string& rest) {
    return "layer { name: \"d\" type: \"" + type + "\" top: \"data\" top: \"label\"\n" + rest +
           " }\nlayer { name: \"ip\" type: \"InnerProduct\" bottom: \"data\" top: \"ip\" inner_product_param "
           "{ "
           "num_output: 2 } }\n";
  };
  const auto loss = [&](const std::string& rest) {
    return data("Data", "data_param { source: \"s\" batch_size: 1 }") +
           "layer { name: \"l\" type: \"SoftmaxWithLoss\" bottom: \"ip\" bottom: \"label\"\n" + rest + " }";
  };
  struct Row {
    std::string text;
    const char* reported;
  };
  const Row rows[] = {
      {data("Data", "data_param { batch_size: 64 }"), "net.prototxt:2:1 layer d: has no source"},
      {data("Data", "data_param { source: \"s\" }"), "net.prototxt:2:1 layer d: has a batch_size of 0"},
      {data("Data", "data_param { source: \"s\" batch_size: 64 backend: LMBD }"), "net.prototxt:2:50 "},
      {data("Data",
            "data_param { source: \"s\" batch_size: 1 } transform_param { mean_file: \"m\" mean_value: 1 }"),
       "layer d: has a mean_file and mean_value; Caffe takes one of them"},
      {data("Data", "data_param { source: \"s\" batch_size: 1 } transform_param { resize_param { } }"),
       "resize_param is a field of Caffe that ddl-train does not support"},
      {data("Data", "data_param { source: \"s\" batch_size: 1 } transform_param { crop_h: 3 }"),
       "has only one of crop_h and crop_w"},
      {data("ImageData", "image_data_param { source: \"s\" new_height: 3 }"),
       "has only one of new_height and new_width"},
      {data("DummyData", ""), "layer d: has no shape"},
      {data("Input", "input_param { shape { dim: 1 dim: 2 } }"),
       "net.prototxt:2:15 layer d: has a shape of 2 dims"},
      {data("Data", "data_param { source: \"s\" batch_size: 1 }") +
           data("Data", "data_param { source: \"s\" batch_size: 1 }"),
       "layer d: is a second data layer in the TRAIN phase"},
      {loss("loss_weight: 0.3"), "net.prototxt:5:1 layer l: has a loss_weight of 0.3"},
      {loss("loss_param { ignore_label: 255 }"), "layer l: ignore_label is a field of Caffe"},
      {loss("loss_param { normalization: NONE }"),
       "layer l: normalizes by NONE; ddl-train supports only the batch"},
      {loss("loss_param { label_smoothing: 0.1 }"), "layer l: label_smoothing is 0.1"},
      {loss("softmax_param { axis: 2 }"), "layer l: axis is 2"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const std::string errors = find_net_errors(row.text);
    CHECK_MESSAGE(errors.find(row.reported) != std::string::npos, errors);
  }
}

TEST_CASE("caffe refusals: no prototxt") {
  struct Row {
    const char* text;
    const char* location;
  };
  const Row rows[] = {
      {"layer {\n  name: conv\n}", "net.prototxt:2:9 "},
      {"layer { name: \"a\" ", "net.prototxt:1:"},
      {"layer { convolution_param { num_output: -1 } }", "net.prototxt:1:41 "},
      {"layer { convolution_param { num_output: 1e3 } }", "net.prototxt:1:41 "},
      {"layer { convolution_param { bias_term: maybe } }", "net.prototxt:1:40 "},
      {"layer { convolution_param { bias_term: true bias_term: true } }", "net.prototxt:1:45 "},
      {"layers { type: \"Convolution\" }", "net.prototxt:1:16 "},
      {"\x01\x02\x03", "net.prototxt:1:1 "},
      {"name: \"unended\nlayer {}", "net.prototxt:1:"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK_MESSAGE(find_net_errors(row.text).starts_with(row.location), find_net_errors(row.text));
  }
}

TEST_CASE("caffe refusals: all at once, each once") {
  CHECK(find_net_errors(R"(nam: "typo"
layer { name: "d" type: "Data" top: "data" top: "label" data_param { batch: 64 source: "s" batch_size: 1 } include { phase: TRAIN } }
layer { name: "d" type: "Data" top: "data" top: "label" data_param { source: "s" batch_size: 0 } include { phase: TEST } }
layer { name: "c" type: "Convolution" bottom: "data" top: "c"
  convolution_param { num_outputs: 4 kernal_size: 3 weight_filler { typ: "xavier" } } }
layer { name: "r" type: "ReLU6" bottom: "c" top: "c" bogus { deep { deeper: 1 } } }
layer { name: "l" type: "SoftmaxWithLoss" bottom: "c" bottom: "label" }
)") == R"(net.prototxt:1:1 unknown field 'nam' in a NetParameter; did you mean name?
net.prototxt:2:70 unknown field 'batch' in a DataParameter; did you mean batch_size?
net.prototxt:5:23 unknown field 'num_outputs' in a ConvolutionParameter; did you mean num_output?
net.prototxt:5:38 unknown field 'kernal_size' in a ConvolutionParameter; did you mean kernel_size?
net.prototxt:5:69 unknown field 'typ' in a FillerParameter; did you mean type?
net.prototxt:6:54 unknown field 'bogus' in a LayerParameter
net.prototxt:5:3 layer c: has no num_output
net.prototxt:5:3 layer c: has no kernel_size
net.prototxt:6:19 layer r: unknown layer type 'ReLU6'; did you mean ReLU?
net.prototxt:3:82 layer d: has a batch_size of 0; it must be 1 to 16777216
)");
}

TEST_CASE("caffe refusals: phases that compute different nets") {
  const auto errors = [](const std::string& layers) {
    const char* data =
        "layer { name: \"d\" type: \"Data\" top: \"data\" top: \"label\" data_param { source: \"s\" "
        "batch_size: 1 } }\n";
    return find_net_errors(
        data + layers +
        "layer { name: \"ip\" type: \"InnerProduct\" bottom: \"top\" top: \"ip\" inner_product_param { "
        "num_output: 10 } }\n"
        "layer { name: \"l\" type: \"SoftmaxWithLoss\" bottom: \"ip\" bottom: \"label\" include { phase: "
        "TRAIN } }\n"
        "layer { name: \"p\" type: \"Softmax\" bottom: \"ip\" top: \"p\" include { phase: TEST } }\n");
  };
  CHECK(errors("layer { name: \"x\" type: \"ReLU\" bottom: \"data\" top: \"top\" }\n").empty());
  CHECK(errors("layer { name: \"x\" type: \"LRN\" bottom: \"data\" top: \"top\" include { phase: TRAIN } }\n"
               "layer { name: \"x\" type: \"LRN\" bottom: \"data\" top: \"top\" include { phase: TEST } "
               "lrn_param { k: 2 } }\n") ==
        "net.prototxt:3:1 the phases compute different nets: TRAIN has 'x lrn of data local_size 5 alpha 1 "
        "beta 0.75 k 1' "
        "where TEST has 'x lrn of data local_size 5 alpha 1 beta 0.75 k 2'\n");
}

TEST_CASE("caffe refusals: phases that see other images") {
  const auto errors = [](const std::string& train, const std::string& test) {
    const auto data = [](const char* phase, const std::string& transform) {
      return std::string("layer { name: 'd' type: 'Data' top: 'data' top: 'label' include { phase: ") +
             phase + " } data_param { source: 's' batch_size: 1 } transform_param { " + transform + " } }\n";
    };
    return find_net_errors(
        data("TRAIN", train) + data("TEST", test) +
        "layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip' inner_product_param { "
        "num_output: 10 } }\n"
        "layer { name: 'l' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'label' }\n");
  };
  CHECK(errors("mirror: true scale: 0.5", "mirror: false scale: 0.5").empty());
  CHECK(errors("scale: 0.5", "mean_value: 3") ==
        "net.prototxt:2:1 test images are transformed differently from training images: TRAIN has scale 0.5 "
        "crop 0x0 mean_file '' mean_value; TEST has scale 1 crop 0x0 mean_file '' mean_value 3\n");
}

TEST_CASE("caffe refusals: logits of many places") {
  const CaffeNet net = parse_good_net(R"(
layer { name: "d" type: "Input" top: "data" top: "label" }
layer { name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param { num_output: 10 kernel_size: 3 } }
layer { name: "l" type: "SoftmaxWithLoss" bottom: "c" bottom: "label" })");
  CHECK(plan_caffe_net(net, {1, 3, 3}, 10).classes == 10);
  try {
    plan_caffe_net(net, {1, 4, 5}, 10);
    FAIL("planned");
  } catch (const Error& error) {
    CHECK(error.message().what == "the loss reads 10x2x3 of layer c; it must be 1x1, one result per image");
    CHECK(error.message().where == "net.prototxt:3:1");
  }
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
