# SPDX-License-Identifier: MIT
"""Reads Caffe's files with protobuf's own Python and prints what ddl-train should have read, a value a line.

usage: prototxt_judge.py DIRECTORY_OF_caffe_pb2 FILE...
"""
import math
import sys

sys.path.insert(0, sys.argv[1])
import caffe_pb2 as caffe  # noqa: E402  made by protoc just before
from google.protobuf import text_format  # noqa: E402

V1 = caffe.V1LayerParameter
OLD_TYPES = {V1.DATA: 'Data', V1.CONVOLUTION: 'Convolution', V1.POOLING: 'Pooling', V1.INNER_PRODUCT: 'InnerProduct',
             V1.RELU: 'ReLU', V1.SOFTMAX_LOSS: 'SoftmaxWithLoss'}
KINDS = {'Convolution': 'convolution', 'InnerProduct': 'inner_product', 'Pooling': 'pooling', 'ReLU': 'relu',
         'Dropout': 'dropout', 'LRN': 'lrn', 'BatchNorm': 'batch_norm', 'Eltwise': 'sum', 'Concat': 'concat'}


def parse(text, message):
    # What is inside an Unread is not looked at; in these files nothing else is unknown.
    return text_format.Parse(text, message, allow_unknown_field=True)


def number(value):
    return '%.6g' % value


def modern(net):
    """Today's layers of a net of any age."""
    layers = list(net.layer)
    for old in net.layers:
        new = caffe.LayerParameter(name=old.name, type=OLD_TYPES[old.type], bottom=old.bottom, top=old.top)
        for field in ('convolution_param', 'pooling_param', 'inner_product_param', 'data_param', 'relu_param'):
            if old.HasField(field):
                getattr(new, field).CopyFrom(getattr(old, field))
        for i in range(max(len(old.blobs_lr), len(old.weight_decay))):
            spec = new.param.add()
            if i < len(old.blobs_lr):
                spec.lr_mult = old.blobs_lr[i]
            if i < len(old.weight_decay):
                spec.decay_mult = old.weight_decay[i]
        if old.HasField('data_param'):
            new.transform_param.scale = old.data_param.scale
        layers.append(new)
    return layers


def included(layer, phase):
    def holds(rule):
        return not rule.HasField('phase') or rule.phase == phase
    if layer.include:
        return any(holds(rule) for rule in layer.include)
    return not any(holds(rule) for rule in layer.exclude)


def filler(f, fan_out):
    if f.type in ('xavier', 'msra') and f.variance_norm == caffe.FillerParameter.FAN_OUT:
        limit = math.sqrt((3 if f.type == 'xavier' else 2) / fan_out)
        return 'uniform:%s:%s' % (number(-limit), number(limit)) if f.type == 'xavier' else 'gaussian:0:' + number(limit)
    return {'constant': 'constant:' + number(f.value),
            'uniform': 'uniform:%s:%s' % (number(f.min), number(f.max)),
            'gaussian': 'gaussian:%s:%s' % (number(f.mean), number(f.std)),
            'xavier': 'xavier', 'msra': 'msra'}[f.type]


def rule(layer, index, first):
    spec = layer.param[index] if index < len(layer.param) else caffe.ParamSpec()
    return '%s %s %s' % (first, number(spec.lr_mult), number(spec.decay_mult))


def rules(layer, p, fan_out):
    weights = filler(p.weight_filler, fan_out) if p.HasField('weight_filler') else 'ours'
    text = ' %s bias %d ' % (rule(layer, 0, weights), p.bias_term)
    return text + (rule(layer, 1, filler(p.bias_filler, fan_out)) if p.bias_term else '')


def sides(p, both, stem, missing):
    values = list(getattr(p, both))
    if p.HasField(stem + '_h') or p.HasField(stem + '_w'):
        return getattr(p, stem + '_h'), getattr(p, stem + '_w')
    if not values:
        return missing, missing
    return values[0], values[-1]


def window(p):
    return ''.join(' %dx%d' % pair for pair in (sides(p, 'kernel_size', 'kernel', 0), sides(p, 'stride', 'stride', 1),
                                                sides(p, 'pad', 'pad', 0)))


def layer_line(layer, name, sources, scale):
    line = '%s %s of %s' % (name, KINDS[layer.type], ' '.join(sources))
    if layer.type == 'Convolution':
        p = layer.convolution_param
        kernel = sides(p, 'kernel_size', 'kernel', 0)
        dilation = tuple(p.dilation)[:1] + tuple(p.dilation)[-1:] or (1, 1)
        return line + ' %d %d %dx%d' % (p.num_output, p.group, *dilation) + window(p) + rules(layer, p, p.num_output * kernel[0] * kernel[1])
    if layer.type == 'InnerProduct':
        p = layer.inner_product_param
        return line + ' %d' % p.num_output + rules(layer, p, p.num_output)
    if layer.type == 'Pooling':
        p = layer.pooling_param
        method = caffe.PoolingParameter.PoolMethod.Name(p.pool)
        return line + ' %s %s' % (method, 'global' if p.global_pooling else 'sliding') + window(p)
    if layer.type == 'ReLU':
        return line + ' ' + number(layer.relu_param.negative_slope)
    if layer.type == 'Dropout':
        return line + ' ' + number(layer.dropout_param.dropout_ratio)
    if layer.type == 'LRN':
        p = layer.lrn_param
        return line + ' %d %s %s %s' % (p.local_size, number(p.alpha), number(p.beta), number(p.k))
    if layer.type == 'BatchNorm':
        p = layer.batch_norm_param
        line += ' %s %s' % (number(p.eps), number(p.moving_average_fraction))
        if scale is not None:
            s = scale.scale_param
            gamma = filler(s.filler, 1) if s.HasField('filler') else 'constant:1'
            beta = rule(scale, 1, filler(s.bias_filler, 1)) if s.bias_term else 'constant:0 0 0'
            return line + ' %s bias 1 %s' % (rule(scale, 0, gamma), beta)
        if p.HasField('use_weight_bias') and p.use_weight_bias:
            return line + ' %s 1 1 bias 1 %s 1 1' % (filler(p.filler, 1), filler(p.bias_filler, 1))
    return line


def data_line(phase, layer):
    p = {'Data': layer.data_param, 'DummyData': layer.dummy_data_param, 'Input': layer.input_param}[layer.type]
    kind = 'Input' if layer.type == 'Input' else 'DummyData'
    source, batch = '', p.shape[0].dim[0] if layer.type != 'Data' and p.shape else 0
    if layer.type == 'Data':
        kind = 'LMDB' if p.backend == caffe.DataParameter.LMDB else 'LevelDB'
        source, batch = p.source, p.batch_size
    t = layer.transform_param
    return '%s %s %s batch %d scale %s mirror %d crop %dx%d file %s mean%s' % (
        phase, kind, source, batch, number(t.scale), t.mirror, t.crop_size, t.crop_size, t.mean_file,
        ''.join(' ' + number(mean) for mean in t.mean_value))


def show_net(net):
    print('net', net.name)
    layers = modern(net)
    if net.input:
        first = caffe.LayerParameter(name='input', type='Input', top=net.input)
        first.input_param.shape.add(dim=net.input_dim)
        layers.insert(0, first)
    for phase, word in ((caffe.TRAIN, 'TRAIN'), (caffe.TEST, 'TEST')):
        for layer in layers:
            if layer.type in ('Data', 'DummyData', 'Input') and included(layer, phase):
                print(data_line(word, layer))
    made, holds, scales = [], {}, {}
    for layer in layers:
        if not included(layer, caffe.TRAIN):
            continue
        if layer.type in ('Data', 'DummyData', 'Input'):
            holds.update({top: 'data' for top in layer.top})
        elif layer.type == 'Scale':
            scales[holds[layer.bottom[0]]] = layer
            holds[layer.top[0]] = holds[layer.bottom[0]]
        elif layer.type in ('Split', 'Flatten'):
            holds.update({top: holds[layer.bottom[0]] for top in layer.top})
        elif layer.type in KINDS:
            made.append((layer, [holds[bottom] for bottom in layer.bottom]))
            holds[layer.top[0]] = layer.name
    for layer, sources in made:
        print(layer_line(layer, layer.name, sources, scales.get(layer.name)))


def show_solver(s):
    kinds = {'SGD': 'sgd', 'Nesterov': 'nesterov'}
    print('solver net', s.train_net or s.net, 'test', s.test_net[0] if s.test_net else '')
    policy = {'fixed': 'none'}.get(s.lr_policy, s.lr_policy)
    print('rate', number(s.base_lr), policy, number(s.gamma), number(s.power), s.stepsize, *s.stepvalue)
    print('rule', kinds[s.type], *map(number, (s.momentum, s.momentum2, s.rms_decay, s.delta)), 'decay',
          number(s.weight_decay), s.regularization_type, 'clip', number(max(0, s.clip_gradients)))
    print('steps', s.max_iter, s.iter_size, 'test', s.test_iter[0] if s.test_iter else 0, s.test_interval, 'snapshot',
          s.snapshot, s.snapshot_prefix, 'seed', s.random_seed if s.random_seed >= 0 else 'none', 'gpu',
          int(s.solver_mode == caffe.SolverParameter.GPU))


for path in sys.argv[2:]:
    print('file', path.rsplit('/', 1)[-1])
    with open(path, encoding='utf-8') as file:
        text = file.read()
    if 'solver' in path.rsplit('/', 1)[-1]:
        show_solver(parse(text, caffe.SolverParameter()))
    else:
        show_net(parse(text, caffe.NetParameter()))
