// SPDX-License-Identifier: MIT
#include "runtime/models/net_yaml.hpp"

#include "base/text/text.hpp"
#include "base/text/yaml_tree.hpp"
#include "runtime/core/error_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace ddlrun::runtime {
namespace {

using NodeKind = YamlValue::Kind;

struct KindWord {
  const char* word;
  LayerKind kind;
  PoolMethod method;
};
constexpr KindWord kind_words[] = {
    {"convolution", LayerKind::convolution, PoolMethod::max},
    {"max_pool", LayerKind::pooling, PoolMethod::max},
    {"average_pool", LayerKind::pooling, PoolMethod::average},
    {"inner_product", LayerKind::inner_product, PoolMethod::max},
    {"relu", LayerKind::relu, PoolMethod::max},
    {"dropout", LayerKind::dropout, PoolMethod::max},
    {"lrn", LayerKind::lrn, PoolMethod::max},
    {"batch_norm", LayerKind::batch_norm, PoolMethod::max},
    {"sum", LayerKind::sum, PoolMethod::max},
    {"concat", LayerKind::concat, PoolMethod::max},
    {"softmax_loss", LayerKind::softmax_loss, PoolMethod::max},
};

class NetReader {
 public:
  explicit NetReader(std::string file) : file_(std::move(file)) {}

  NetDescription read(const YamlValue& root) {
    description_.location = file_;
    description_.name = file_.substr(file_.rfind('/') + 1);
    description_.name = description_.name.substr(0, description_.name.rfind('.'));
    if (root.kind != NodeKind::mapping) {
      refuse(root, "this is not a net: the key 'layers' is missing",
             "ddl-train print-net lenet5 > FILE   # a net to start from");
    } else {
      check_keys(root, {"name", "images", "border", "layers"});
      if (const YamlValue* name = root.find("name")) description_.name = word(*name);
      if (const YamlValue* images = root.find("images")) read_images(*images);
      if (const YamlValue* border = root.find("border")) read_border(*border);
      read_layers(root);
    }
    if (!errors_.empty()) throw join_errors(errors_);
    return std::move(description_);
  }

  // "kernel    3, or [HEIGHT, WIDTH]; of convolution, max_pool, average_pool", a line each.
  static std::string render_keys() {
    std::string text;
    for (const LayerKey& key : layer_keys()) {
      std::vector<std::string> of;
      for (const KindWord& row : kind_words) {
        const auto& kinds = key.kinds;
        if (std::find(kinds.begin(), kinds.end(), row.kind) != kinds.end()) of.emplace_back(row.word);
      }
      text += fmt::format("  {:<9} {}\n", key.key, key.help);
      if (!of.empty()) text += fmt::format("  {:<9} of {}\n", "", join(of, ", "));
    }
    return text;
  }

 private:
  using Apply = void (NetReader::*)(const YamlValue&, Layer&);
  // A key of a layer: the kinds that accept it, its reader and its help text.
  struct LayerKey {
    const char* key;
    std::vector<LayerKind> kinds;  // empty: all
    Apply apply;
    const char* help;
  };
  static const std::vector<LayerKey>& layer_keys() {
    using K = LayerKind;
    using R = NetReader;
    static const std::vector<LayerKey> keys{
        {"name",
         {},
         &R::read_name,
         "name for inputs (default: kind and position, as convolution1, pooling2, relu3)"},
        {"kind", {}, &R::read_nothing, "one of the above"},
        {"inputs", {}, &R::read_inputs, "names of layers; data means the images (default: the layer before)"},
        {"outputs",
         {K::convolution, K::inner_product},
         &R::read_outputs,
         "channels or neurons: a number, or the word classes"},
        {"kernel", {K::convolution, K::pooling}, &R::read_kernel, "3, or [HEIGHT, WIDTH]"},
        {"stride",
         {K::convolution, K::pooling},
         &R::read_stride,
         "as kernel (default: convolution 1, pools their kernel)"},
        {"padding", {K::convolution, K::pooling}, &R::read_padding, "zeros on each side (default 0)"},
        {"dilation",
         {K::convolution},
         &R::read_dilation,
         "distance between the values of a kernel, as kernel (default 1)"},
        {"groups",
         {K::convolution},
         &R::read_groups,
         "groups of channels that are convolved separately (default 1)"},
        {"bias", {K::convolution, K::inner_product}, &R::read_bias, "true or false (default true)"},
        {"rounding",
         {K::pooling},
         &R::read_rounding,
         "floor, or ceil: the last window may reach beyond the image (default floor)"},
        {"global", {K::pooling}, &R::read_global, "true: over the whole image, without a kernel"},
        {"slope", {K::relu}, &R::read_slope, "of negative values (default 0)"},
        {"rate", {K::dropout}, &R::read_rate, "fraction of values that are dropped (default 0.5)"},
        {"size", {K::lrn}, &R::read_size, "channels, odd (default 5)"},
        {"alpha", {K::lrn}, &R::read_alpha, "default 0.0001"},
        {"beta", {K::lrn}, &R::read_beta, "default 0.75"},
        {"k", {K::lrn}, &R::read_k, "default 1"},
        {"affine", {K::batch_norm}, &R::read_bias, "false: without weights and biases (default true)"},
        {"epsilon", {K::batch_norm}, &R::read_epsilon, "added to the variance (default 0.00001)"},
        {"keep",
         {K::batch_norm},
         &R::read_momentum,
         "momentum of the running mean and variance (default 0.9)"},
        {"weights",
         {K::convolution, K::inner_product, K::batch_norm},
         &R::read_weights,
         "initial values: xavier, msra, {constant: X}, {gaussian: DEVIATION}, {uniform: [LOW, HIGH]}"},
        {"biases",
         {K::convolution, K::inner_product, K::batch_norm},
         &R::read_biases,
         "initial values of the biases"},
        {"lr",
         {K::convolution, K::inner_product, K::batch_norm},
         &R::read_lr,
         "[X, Y] times the learning rate, for weights and biases"},
        {"decay",
         {K::convolution, K::inner_product, K::batch_norm},
         &R::read_decay,
         "[X, Y] times the weight decay"},
    };
    return keys;
  }

  void refuse(const YamlValue& at, std::string what, std::string hint) {
    errors_.push_back({std::move(what), at.line > 0 ? place_in(file_, at) : file_, std::move(hint)});
  }
  static std::string shown(const YamlValue& value) {
    return value.kind == NodeKind::scalar ? "'" + printable(value.text, 60) + "'" : "a list or a mapping";
  }
  void check_keys(const YamlValue& mapping, const std::vector<std::string>& known) {
    for (const auto& [key, value] : mapping.fields) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      refuse(value, fmt::format("unknown key '{}': must be one of {}", printable(key, 60), join(known, ", ")),
             closest_match(key, known).value_or(known.front()) + ": ...");
    }
  }

  // An invalid value is reported and replaced with the first valid one.
  std::string word(const YamlValue& value) {
    const bool plain = std::ranges::all_of(value.text, [](char c) {
      return c > ' ' && c <= '~' && c != '"' && c != '\\';
    });  // as in Caffe's files
    if (value.kind == NodeKind::scalar && !value.text.empty() && value.text.size() <= 100 && plain)
      return value.text;
    refuse(value, "a name is up to 100 letters, digits and signs without blanks, not " + shown(value),
           "name: conv1");
    return "?";
  }
  int whole(const YamlValue& value) {
    const auto number = value.kind == NodeKind::scalar ? parse_unsigned(value.text, 1U << 30U) : std::nullopt;
    if (!number) refuse(value, fmt::format("{} is not a whole number from 0 to 2^30", shown(value)), "3");
    return static_cast<int>(number.value_or(1));
  }
  double real(const YamlValue& value) {
    const auto number = value.kind == NodeKind::scalar ? parse_number(value.text) : std::nullopt;
    if (!number) refuse(value, shown(value) + " is not a number", "0.5");
    return number.value_or(1.0);
  }
  bool yes_or_no(const YamlValue& value) {
    if (value.kind == NodeKind::scalar && (value.text == "true" || value.text == "false"))
      return value.text == "true";
    refuse(value, shown(value) + " is neither true nor false", "true");
    return false;
  }
  // 3 or [3, 5]: height, width.
  Sides sides(const YamlValue& value) {
    if (value.kind == NodeKind::scalar) return {whole(value), whole(value)};
    if (value.items.size() == 2) return {whole(value.items[0]), whole(value.items[1])};
    refuse(value, fmt::format("{} values instead of height and width", value.items.size()), "[3, 3]");
    return {1, 1};
  }
  std::vector<int> by_x(const YamlValue& value, std::size_t count, const char* example) {
    std::vector<int> numbers;
    for (const std::string_view part : split(value.text, 'x')) {
      const auto number = parse_unsigned(part, 1U << 15U);
      if (number && *number > 0) numbers.push_back(static_cast<int>(*number));
    }
    if (value.kind == NodeKind::scalar && numbers.size() == count && split(value.text, 'x').size() == count)
      return numbers;
    refuse(value, fmt::format("{} is not {} sizes from 1 to 32768 joined by x", shown(value), count),
           example);
    return std::vector<int>(count, 1);
  }

  void read_images(const YamlValue& value) {
    for (const YamlValue& item :
         value.kind == NodeKind::scalar ? std::vector<YamlValue>{value} : value.items) {
      const std::vector<int> sizes = by_x(item, 3, "images: [1x28x28]");
      description_.images.push_back({sizes[0], sizes[1], sizes[2]});
    }
  }
  void read_border(const YamlValue& value) {
    const std::vector<int> sizes = by_x(value, 2, "border: 32x32");
    description_.border = {0, sizes[0], sizes[1]};
  }

  void read_layers(const YamlValue& root) {
    const YamlValue* layers = root.find("layers");
    if (layers == nullptr || layers->kind != NodeKind::sequence || layers->items.empty()) {
      refuse(layers == nullptr ? root : *layers, "the list of layers is missing or empty",
             "layers: [{kind: inner_product, outputs: classes}]   # see ddl-train print-net");
      return;
    }
    for (const YamlValue& item : layers->items) read_layer(item);
  }

  void read_layer(const YamlValue& item) {
    std::vector<std::string> words;
    for (const KindWord& row : kind_words) words.emplace_back(row.word);
    const YamlValue* kind = item.find("kind");
    if (kind == nullptr || kind->kind != NodeKind::scalar) {
      refuse(item, "a layer must be a mapping with the key 'kind'", "{kind: relu}");
      return;
    }
    const auto found = std::find(words.begin(), words.end(), kind->text);
    if (found == words.end()) {
      refuse(*kind,
             fmt::format("unknown kind of layer {}: must be one of {}", shown(*kind), join(words, ", ")),
             "kind: " + closest_match(kind->text, words).value_or("convolution"));
      return;
    }
    const KindWord& row = kind_words[found - words.begin()];
    Layer layer;
    layer.kind = row.kind;
    layer.method = row.method;
    layer.location = place_in(file_, item);
    layer.stride = {0, 0};
    read_fields(item, row, layer);
    const Sides side_by_side = layer.kind == LayerKind::pooling ? layer.kernel : Sides{1, 1};
    if (layer.stride == Sides{0, 0} && item.find("stride") == nullptr) layer.stride = side_by_side;
    description_.layers.push_back(std::move(layer));
  }

  void read_fields(const YamlValue& item, const KindWord& row, Layer& layer) {
    std::vector<std::string> known;
    for (const LayerKey& key : layer_keys()) {
      if (!key.kinds.empty() && std::find(key.kinds.begin(), key.kinds.end(), row.kind) == key.kinds.end())
        continue;
      known.emplace_back(key.key);
      if (const YamlValue* value = item.find(key.key)) (this->*key.apply)(*value, layer);
    }
    check_keys(item, known);
    if (layer.global && item.find("kernel") != nullptr) {
      refuse(item, "global pooling takes no kernel", "global: true, or kernel: 3");
    }
    const bool sized = layer.kind == LayerKind::convolution || layer.kind == LayerKind::pooling;
    if (sized && item.find("kernel") == nullptr && !layer.global) {
      refuse(item, fmt::format("a layer of kind {} needs a kernel", row.word), "kernel: 3");
    }
    const bool counted = layer.kind == LayerKind::convolution || layer.kind == LayerKind::inner_product;
    if (counted && item.find("outputs") == nullptr) {
      refuse(item, fmt::format("a layer of kind {} needs outputs", row.word), "outputs: 10");
    }
  }

  void read_nothing(const YamlValue&, Layer&) {}
  void read_name(const YamlValue& value, Layer& layer) { layer.name = word(value); }
  void read_inputs(const YamlValue& value, Layer& layer) {
    if (value.kind == NodeKind::scalar) layer.inputs = {word(value)};
    for (const YamlValue& item : value.items) layer.inputs.push_back(word(item));
    if (layer.inputs.empty()) refuse(value, "the list of inputs is empty", "inputs: [data]");
  }
  void read_outputs(const YamlValue& value, Layer& layer) {
    layer.outputs = value.text == "classes" ? as_many_as_classes : whole(value);
  }
  void read_kernel(const YamlValue& value, Layer& layer) { layer.kernel = sides(value); }
  void read_stride(const YamlValue& value, Layer& layer) { layer.stride = sides(value); }
  void read_padding(const YamlValue& value, Layer& layer) { layer.padding = sides(value); }
  void read_dilation(const YamlValue& value, Layer& layer) { layer.dilation = sides(value); }
  void read_groups(const YamlValue& value, Layer& layer) { layer.groups = whole(value); }
  void read_bias(const YamlValue& value, Layer& layer) { layer.bias = yes_or_no(value); }
  void read_global(const YamlValue& value, Layer& layer) { layer.global = yes_or_no(value); }
  void read_slope(const YamlValue& value, Layer& layer) { layer.slope = real(value); }
  void read_rate(const YamlValue& value, Layer& layer) { layer.rate = real(value); }
  void read_size(const YamlValue& value, Layer& layer) { layer.size = whole(value); }
  void read_alpha(const YamlValue& value, Layer& layer) { layer.alpha = real(value); }
  void read_beta(const YamlValue& value, Layer& layer) { layer.beta = real(value); }
  void read_k(const YamlValue& value, Layer& layer) { layer.k = real(value); }
  void read_epsilon(const YamlValue& value, Layer& layer) { layer.epsilon = real(value); }
  void read_momentum(const YamlValue& value, Layer& layer) { layer.keep = real(value); }
  void read_rounding(const YamlValue& value, Layer& layer) {
    layer.rounding = value.text == "ceil" ? Rounding::ceil : Rounding::floor;
    if (value.text != "ceil" && value.text != "floor")
      refuse(value, shown(value) + " is neither floor nor ceil", "rounding: ceil");
  }

  double deviation(const YamlValue& value) {
    const double number = real(value);
    if (number < 0.0) refuse(value, fmt::format("the deviation {} is negative", number), "0.01");
    return number;
  }
  Filler filler(const YamlValue& value) {  // xavier msra {constant: 0} {gaussian: 0.01} {uniform: [-1, 1]}
    using Kind = Filler::Kind;
    if (value.kind == NodeKind::scalar && value.text == "xavier") return {Kind::xavier, 0.0, 0.0};
    if (value.kind == NodeKind::scalar && value.text == "msra") return {Kind::msra, 0.0, 0.0};
    if (value.fields.size() == 1) {
      const auto& [key, number] = value.fields.front();
      if (key == "constant") return {Kind::constant, real(number), 0.0};
      if (key == "gaussian") return {Kind::gaussian, 0.0, deviation(number)};
      if (key == "uniform" && number.items.size() == 2) {
        const Filler between{Kind::uniform, real(number.items[0]), real(number.items[1])};
        if (between.a > between.b)
          refuse(value,
                 fmt::format("uniform from {} to {}: the lower bound must come first", between.a, between.b),
                 fmt::format("{{uniform: [{}, {}]}}", between.b, between.a));
        return between;
      }
    }
    refuse(
        value,
        "initial values must be xavier, msra, {constant: X}, {gaussian: DEVIATION} or {uniform: [LOW, HIGH]}",
        "weights: {gaussian: 0.01}");
    return {};
  }
  void read_weights(const YamlValue& value, Layer& layer) { layer.weight_spec.filler = filler(value); }
  void read_biases(const YamlValue& value, Layer& layer) { layer.bias_spec.filler = filler(value); }
  // [of weights, of biases]
  std::pair<double, double> factors(const YamlValue& value) {
    if (value.items.size() == 2) return {real(value.items[0]), real(value.items[1])};
    refuse(value, "two factors are needed: for the weights and for the biases", "[1, 2]");
    return {1.0, 1.0};
  }
  void read_lr(const YamlValue& value, Layer& layer) {
    std::tie(layer.weight_spec.lr_factor, layer.bias_spec.lr_factor) = factors(value);
  }
  void read_decay(const YamlValue& value, Layer& layer) {
    std::tie(layer.weight_spec.decay_factor, layer.bias_spec.decay_factor) = factors(value);
  }

  std::string file_;
  NetDescription description_;
  std::vector<Message> errors_;
};

YamlValue parse_tree(std::string_view text, const std::string& file_name) {
  return parse_yaml(text, file_name, "fix that line; `ddl-train print-net lenet5` prints an example");
}

constexpr const char* net_form = R"(Nets in YAML: ddl-train --net FILE.yaml

  name: mine                        # else the file's name
  images: [1x28x28]                 # what it takes, as channels x height x width; else whatever fits
  border: 32x32                     # smaller images lie in the middle of zeros of this size
  layers:
    - {name: conv1, kind: convolution, outputs: 20, kernel: 5}
    - {kind: max_pool, kernel: 2}
    - {name: ip1, kind: inner_product, outputs: classes}

Each layer follows the one before, unless it has inputs. The last one gives a value for each class; its loss is
softmax with cross-entropy, also where no softmax_loss says so.
)";

}  // namespace

std::string render_net_form() {
  std::vector<std::string> words;
  for (const KindWord& row : kind_words) words.emplace_back(row.word);
  const std::span<const std::string> all(words);
  return fmt::format("{}\nKinds: {},\n       {}.\n\nKeys of a layer:\n{}", net_form,
                     join(all.first(all.size() / 2), ", "), join(all.subspan(all.size() / 2), ", "),
                     NetReader::render_keys());
}

NetDescription parse_net_yaml(std::string_view text, const std::string& file_name) {
  return NetReader(printable(file_name)).read(parse_tree(text, file_name));
}

}  // namespace ddlrun::runtime
