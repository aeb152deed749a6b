// SPDX-License-Identifier: MIT
#include "runtime/caffe/phase_protobuf.hpp"

#include "base/text/text.hpp"
#include "runtime/caffe/blobs_protobuf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace ddlrun::runtime {
namespace {

namespace proto = caffe_files;

constexpr int most_bottoms = 10'000;
constexpr const char* example_loss =
    "layer { name: \"loss\" type: \"SoftmaxWithLoss\" bottom: \"ip2\" bottom: \"label\" }";

bool rule_holds(const proto::NetStateRule& rule, const proto::NetState& state) {
  const auto staged = [&](const std::string& stage) {
    return std::find(state.stage().begin(), state.stage().end(), stage) != state.stage().end();
  };
  return (!rule.has_phase() || rule.phase() == state.phase()) &&
         (!rule.has_min_level() || state.level() >= rule.min_level()) &&
         (!rule.has_max_level() || state.level() <= rule.max_level()) &&
         std::all_of(rule.stage().begin(), rule.stage().end(), staged) &&
         std::none_of(rule.not_stage().begin(), rule.not_stage().end(), staged);
}

class PhaseReader {
 public:
  PhaseReader(const proto::NetState& state, const PrototxtLocation& net, CaffeReport& report)
      : state_(state),
        phase_name_(proto::Phase_Name(state.phase())),
        net_(net),
        report_(report),
        blobs_(phase_name_, report) {}

  CaffePhase read(const std::vector<LocatedLayer>& layers) {
    for (const LocatedLayer& layer : layers) {
      if (is_included(layer, state_, report_)) add(layer);
    }
    find_logits();
    keep_what_leads_to_logits();
    return std::move(phase_);
  }

 private:
  void refuse(const LocatedLayer& layer, const char* field, int index, const std::string& what,
              std::string hint) {
    refuse_field(layer, field, index, what, std::move(hint), report_);
  }

  void add(const LocatedLayer& written) {
    LocatedLayer layer = written;
    drop_foreign_fields(layer, report_);
    const LayerRole role = find_role(layer, report_);
    if (role != LayerRole::refused) check_known_fields(layer.parameter, layer.location, layer.owner, report_);
    switch (role) {
      case LayerRole::data:
        return add_data(layer);
      case LayerRole::compute:
        return add_computing(layer);
      case LayerRole::alias:
        return add_alias(layer);
      case LayerRole::scale:
        return add_scaling(layer);
      case LayerRole::loss:
        return add_loss(layer);
      case LayerRole::accuracy:
        return add_accuracy(layer);
      case LayerRole::softmax:
        return add_softmax(layer);
      case LayerRole::silence:
        return;
      case LayerRole::refused:
        return blobs_.set_tops(layer, BlobKind::unknown);
    }
  }

  void add_data(const LocatedLayer& layer) {
    const proto::LayerParameter& p = layer.parameter;
    CaffeData data = read_data_layer(layer, report_);
    const bool first = !phase_.data;
    if (!first && p.type() != "Input") {  // one Input for each blob is common
      refuse(layer, "type", 0, fmt::format("is a second data layer in the {} phase", phase_name_),
             "include { phase: TEST }");
    }
    if (first) phase_.data = std::move(data);
    if (p.top_size() == 0) refuse(layer, "top", 0, "has no top", "top: \"data\" top: \"label\"");
    for (int i = 0; i < p.top_size(); ++i) {
      blobs_.set_top(layer, i, {i == 0 && first ? BlobKind::images : BlobKind::labels, 0, false, {}});
    }
  }

  // Names its inputs; false if one of them cannot be read.
  bool link(const LocatedLayer& layer, Layer& made, std::vector<std::size_t>& sources, bool& flat) {
    bool whole = true;
    for (int i = 0; i < layer.parameter.bottom_size(); ++i) {
      const CaffeBlob blob = blobs_.find(layer, i);
      if (!blobs_.check_readable(layer, i, blob)) {
        whole = false;
      } else if (blob.kind == BlobKind::images) {
        made.inputs.emplace_back(name_of_images);
      } else {
        made.inputs.push_back(phase_.layers[blob.layer].name);
        sources.push_back(blob.layer);
        readers_[blob.layer] += 1;
      }
      flat = flat || blob.flat;
    }
    return whole;
  }

  void add_computing(const LocatedLayer& layer) {
    const proto::LayerParameter& p = layer.parameter;
    const bool joins = p.type() == "Eltwise" || p.type() == "Concat";
    if (p.type() == "Concat" && p.bottom_size() == 1) return add_alias(layer);
    if (!blobs_.check_counts(layer, joins ? 2 : 1, joins ? most_bottoms : 1, 1)) return;
    check_propagation(layer);
    check_sharing(layer);
    check_batch_norm(layer);
    Layer made = read_computing_layer(layer, report_);
    made.name = unique_name(layer);
    std::vector<std::size_t> sources;
    bool flat = false;
    CaffeBlob blob;
    if (link(layer, made, sources, flat)) {
      const bool by_value = made.kind == LayerKind::relu || made.kind == LayerKind::dropout;
      if (flat && !by_value && made.kind != LayerKind::inner_product) {
        refuse(layer, "bottom", 0, "reads the output of Flatten; only InnerProduct, ReLU and Dropout may",
               "type: \"InnerProduct\"");
      }
      blob = {BlobKind::values, phase_.layers.size(), flat && by_value, {}};
      phase_.layers.push_back(std::move(made));
      sources_.push_back(std::move(sources));
      readers_.push_back(0);
    }
    blobs_.set_top(layer, 0, std::move(blob));
  }

  // Names are unique in nets/; those of Caffe's files need not be.
  std::string unique_name(const LocatedLayer& layer) {
    const std::string& given = layer.parameter.name();
    const bool plain = given.size() <= 100 && std::all_of(given.begin(), given.end(), [](char c) {
                         return c > ' ' && c <= '~' && c != '"' && c != '\\';
                       });
    if (!plain) {
      refuse(layer, "name", 0, "a name is up to 100 letters, digits and signs without blanks",
             "name: \"conv1\"");
    }
    const std::string base = given.empty() || !plain ? layer.parameter.type() : given;
    std::string name = base;
    for (int i = 2; name == name_of_images || names_.contains(name); ++i)
      name = fmt::format("{}_{}", base, i);
    names_.insert(name);
    if (name != base && base == given) {
      report_.add_note(
          layer.location.at("name").text(),
          fmt::format("{}the name is used twice; this layer is renamed to {}", layer.owner, name),
          fmt::format("name: \"{}\"", name));
    }
    return name;
  }

  void check_propagation(const LocatedLayer& layer) {
    const proto::LayerParameter& p = layer.parameter;
    for (int i = 0; i < std::min(p.propagate_down_size(), p.bottom_size()); ++i) {
      if (p.propagate_down(i) || blobs_.find(layer, i).kind != BlobKind::values) continue;
      refuse(layer, "propagate_down", i, "stops the gradient, which ddl-train does not support",
             "param { lr_mult: 0 }   # in layers that should not be trained");
    }
    for (int i = 0; i < p.loss_weight_size(); ++i) {
      if (p.loss_weight(i) == 0.0F) continue;
      refuse(layer, "loss_weight", i,
             fmt::format("has a loss_weight of {}; only SoftmaxWithLoss can be a loss", p.loss_weight(i)),
             "loss_weight: 0");
    }
  }

  void check_sharing(const LocatedLayer& layer) {
    for (int i = 0; i < layer.parameter.param_size(); ++i) {
      const std::string& name = layer.parameter.param(i).name();
      if (name.empty() || shared_.insert(name).second) continue;
      refuse(layer, "param", i,
             fmt::format("shares the weights '{}' with another layer", printable(name, 60)),
             "param { lr_mult: 1 }   # separate weights");
    }
  }

  void check_batch_norm(const LocatedLayer& layer) {
    const proto::BatchNormParameter& p = layer.parameter.batch_norm_param();
    if (layer.parameter.type() != "BatchNorm" || !p.has_use_global_stats()) return;
    const std::string at = layer.location.at("batch_norm_param").at("use_global_stats").text();
    if (p.use_global_stats() && state_.phase() == proto::TRAIN) {
      report_.refuse(at,
                     layer.owner + "uses global statistics in training; ddl-train uses those of the batch",
                     "use_global_stats: false");
    }
    if (!p.use_global_stats() && state_.phase() == proto::TEST) ++batch_tests_;
    if (batch_tests_ == 1 && !p.use_global_stats()) {
      report_.add_note(at, "tests use the running statistics of batch norms, not those of the test batch",
                       "use_global_stats: true   # in the TEST phase");
    }
  }

  void add_alias(const LocatedLayer& layer) {
    if (!blobs_.check_counts(layer, 1, 1, -1)) return;
    CaffeBlob same = blobs_.find(layer, 0);
    same.flat = same.flat || layer.parameter.type() == "Flatten";
    for (int i = 0; i < layer.parameter.top_size(); ++i) blobs_.set_top(layer, i, same);
  }

  void add_scaling(const LocatedLayer& layer) {
    if (!blobs_.check_counts(layer, 1, 1, 1)) return;
    const CaffeBlob blob = blobs_.find(layer, 0);
    if (blob.kind != BlobKind::unknown) {
      Layer* norm = blob.kind == BlobKind::values ? &phase_.layers[blob.layer] : nullptr;
      if (norm == nullptr || norm->kind != LayerKind::batch_norm || readers_[blob.layer] > 0 ||
          !scaled_.insert(blob.layer).second) {
        refuse(layer, "type", 0, "Scale is supported only right after a BatchNorm that no other layer reads",
               "type: \"BatchNorm\"");
      } else {
        add_scale(layer, *norm, report_);
      }
    }
    const std::string& bottom = layer.parameter.bottom(0);
    if (layer.parameter.top(0) != bottom) blobs_.spend(bottom);
    blobs_.set_top(layer, 0, blob);
  }

  void add_loss(const LocatedLayer& layer) {
    const proto::LayerParameter& p = layer.parameter;
    if (!blobs_.check_counts(layer, 2, 2, -1)) {
      unclear_ = true;
      return;
    }
    const CaffeBlob label = blobs_.find(layer, 1);
    if (label.kind != BlobKind::labels && label.kind != BlobKind::unknown) {
      refuse(layer, "bottom", 1,
             fmt::format("compares with '{}', which are not labels", printable(p.bottom(1), 60)),
             "bottom: \"label\"");
    }
    const CaffeBlob blob = blobs_.find(layer, 0);
    blobs_.set_tops(layer, BlobKind::observed);
    if (p.loss_weight_size() > 0 && p.loss_weight(0) == 0.0F) return;  // observed only
    check_loss(layer, report_);
    losses_.push_back(printable(p.name().empty() ? p.type() : p.name(), 60));
    if (losses_.size() == 2) second_loss_ = layer.location.at("type").text();
    const bool readable = blobs_.check_readable(layer, 0, blob);
    if (readable && blob.kind == BlobKind::values) {
      logits_ = blob.layer;
    } else {
      if (readable) refuse(layer, "bottom", 0, "reads the images themselves", "bottom: \"ip2\"");
      unclear_ = true;
    }
  }

  void add_accuracy(const LocatedLayer& layer) {
    const proto::LayerParameter& p = layer.parameter;
    for (int i = 0; i < p.bottom_size(); ++i) blobs_.find(layer, i);
    blobs_.set_tops(layer, BlobKind::observed);
    if (p.accuracy_param().top_k() <= 1) return;
    report_.add_note(layer.location.text(),
                     fmt::format("{}ddl-train reports top-1 accuracy, not top-{}", layer.owner,
                                 p.accuracy_param().top_k()),
                     "accuracy_param { top_k: 1 }");
  }

  void add_softmax(const LocatedLayer& layer) {
    if (!blobs_.check_counts(layer, 1, 1, 1)) return;
    const CaffeBlob blob = blobs_.find(layer, 0);
    if (blob.kind == BlobKind::values) softmax_ = blob.layer;
    blobs_.set_tops(layer, blob.kind == BlobKind::unknown ? BlobKind::unknown : BlobKind::observed);
  }

  // Nets for use, not for training, have no loss; they can be trained all the same.
  void find_logits() {
    if (losses_.size() > 1) {
      report_.refuse(second_loss_,
                     fmt::format("the net has {} losses, {}; ddl-train supports one", losses_.size(),
                                 join(losses_, ", ")),
                     "loss_weight: 0   # in all but one");
    }
    if (logits_ || unclear_) return;
    logits_ = softmax_;
    if (!logits_ && !phase_.layers.empty()) logits_ = phase_.layers.size() - 1;
    if (!logits_) {
      report_.refuse(net_.text(),
                     fmt::format("the net has no layer that computes in the {} phase", phase_name_),
                     example_loss);
    } else if (state_.phase() == proto::TRAIN) {
      report_.add_note(net_.text(),
                       fmt::format("the net has no SoftmaxWithLoss; one is added after layer {}",
                                   phase_.layers[*logits_].name),
                       example_loss);
    }
  }

  void keep_what_leads_to_logits() {
    if (!logits_) return;
    std::vector<bool> kept(phase_.layers.size(), false);
    kept[*logits_] = true;
    for (std::size_t i = kept.size(); i-- > 0;) {
      for (const std::size_t source : sources_[i]) kept[source] = kept[source] || kept[i];
    }
    std::vector<std::string> dropped;
    std::vector<Layer> layers;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (kept[i])
        layers.push_back(std::move(phase_.layers[i]));
      else
        dropped.push_back(phase_.layers[i].name);
    }
    if (!dropped.empty()) {
      report_.add_note(net_.text(),
                       fmt::format("{} layer(s) do not lead to the loss and are ignored: {}", dropped.size(),
                                   printable(join(dropped, ", "))),
                       "exclude { phase: TRAIN }   # in them");
    }
    phase_.layers = std::move(layers);
  }

  const proto::NetState& state_;
  std::string phase_name_;
  const PrototxtLocation& net_;
  CaffeReport& report_;
  CaffePhase phase_;
  BlobTable blobs_;
  std::vector<std::vector<std::size_t>> sources_;  // of each layer of phase_
  std::vector<int> readers_;                       // the same
  std::set<std::size_t> scaled_;                   // batch norms that have their Scale
  std::set<std::string> names_;
  std::set<std::string> shared_;
  std::vector<std::string> losses_;
  std::string second_loss_;
  std::optional<std::size_t> logits_;
  std::optional<std::size_t> softmax_;
  int batch_tests_ = 0;
  bool unclear_ = false;  // the layer of the logits is a reported error
};

}  // namespace

bool is_included(const LocatedLayer& layer, const proto::NetState& state, CaffeReport& report) {
  const proto::LayerParameter& p = layer.parameter;
  const auto holds = [&](const proto::NetStateRule& rule) { return rule_holds(rule, state); };
  if (p.include_size() > 0 && p.exclude_size() > 0) {
    report.refuse(layer.location.at("exclude").text(),
                  layer.owner + "has include and exclude rules; Caffe accepts only one kind",
                  "include { phase: TRAIN }");
  }
  if (p.include_size() > 0) return std::any_of(p.include().begin(), p.include().end(), holds);
  return std::none_of(p.exclude().begin(), p.exclude().end(), holds);
}

CaffePhase read_phase(const std::vector<LocatedLayer>& layers, const proto::NetState& state,
                      const PrototxtLocation& net, CaffeReport& report) {
  return PhaseReader(state, net, report).read(layers);
}

}  // namespace ddlrun::runtime
