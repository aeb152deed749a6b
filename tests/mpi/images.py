# SPDX-License-Identifier: MIT
"""Others' programs write images and LMDBs, and read what ddl-train wrote. images.sh says what is compared.

The Datum message is made here from the names and numbers of Caffe's caffe.proto, for protobuf's own library.
"""
import gzip
import io
import os
import subprocess
import sys

import lmdb
import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from PIL import Image, ImageOps

HEIGHT, WIDTH = 40, 48


def make_messages():
    file = descriptor_pb2.FileDescriptorProto(name="caffe.proto", package="caffe", syntax="proto2")
    field = descriptor_pb2.FieldDescriptorProto
    datum = file.message_type.add(name="Datum")
    rows = [("channels", 1, field.TYPE_INT32, 1), ("height", 2, field.TYPE_INT32, 1), ("width", 3, field.TYPE_INT32, 1),
            ("data", 4, field.TYPE_BYTES, 1), ("label", 5, field.TYPE_INT32, 1), ("float_data", 6, field.TYPE_FLOAT, 3),
            ("encoded", 7, field.TYPE_BOOL, 1)]
    for name, number, kind, label in rows:
        datum.field.add(name=name, number=number, type=kind, label=label)
    blob = file.message_type.add(name="BlobProto")
    for number, name in enumerate(["num", "channels", "height", "width"], 1):
        blob.field.add(name=name, number=number, type=field.TYPE_INT32, label=1)
    blob.field.add(name="data", number=5, type=field.TYPE_FLOAT, label=3).options.packed = True
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return (factory.GetPrototype(pool.FindMessageTypeByName("caffe.Datum")),
            factory.GetPrototype(pool.FindMessageTypeByName("caffe.BlobProto")))


Datum, BlobProto = make_messages()


def picture(seed, height=HEIGHT, width=WIDTH):
    """Smooth shapes with some noise: JPEG's worst and best."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    planes = [127 + 100 * np.sin(x / (3 + c + seed % 5) + y / (7 - c)) + random.normal(0, 8, (height, width))
              for c in range(3)]
    return np.clip(np.stack(planes, 2), 0, 255).astype(np.uint8)


def upright(orientation, seed):
    """An image that EXIF turns to HEIGHT x WIDTH."""
    return picture(seed, WIDTH, HEIGHT) if orientation >= 5 else picture(seed)


def write_netpbm(path, command, pixels, brightest=255):
    head = f"P{6 if pixels.ndim == 3 else 5}\n{pixels.shape[1]} {pixels.shape[0]}\n{brightest}\n".encode()
    data = pixels.astype(">u2" if brightest > 255 else np.uint8).tobytes()
    with open(path, "wb") as out:
        if command:
            subprocess.run(command, input=head + data, stdout=out, stderr=subprocess.DEVNULL, check=True)
        else:
            out.write(head + data)


def make_pictures(root):
    """Every kind of file that people have, in two classes, for training and testing."""
    for part in ("train", "val"):
        for kind in ("jpeg", "other"):
            os.makedirs(f"{root}/{part}/{kind}")
    jpegs = f"{root}/train/jpeg"
    rgb = Image.fromarray(picture(1))
    rgb.save(f"{jpegs}/420.jpg", quality=90)
    rgb.save(f"{jpegs}/444.jpeg", quality=95, subsampling=0)
    rgb.save(f"{jpegs}/422.JPG", quality=50, subsampling=1)
    rgb.save(f"{jpegs}/progressive.jpg", progressive=True)
    rgb.save(f"{jpegs}/optimised.jpg", optimize=True, dpi=(72, 72), comment=b"a comment")
    rgb.convert("L").save(f"{jpegs}/grey.jpg")
    rgb.convert("CMYK").save(f"{jpegs}/cmyk.jpg")
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[274] = orientation
        Image.fromarray(upright(orientation, orientation)).save(f"{jpegs}/exif{orientation}.jpg", exif=exif)
    others = f"{root}/train/other"
    rgb.save(f"{others}/rgb.png")
    rgb.convert("L").save(f"{others}/l.png")
    alpha = np.dstack([picture(2), picture(3)[:, :, 0]])
    Image.fromarray(alpha, "RGBA").save(f"{others}/rgba.png")
    Image.fromarray(alpha[:, :, 2:], "LA").save(f"{others}/la.png")
    rgb.quantize(200).save(f"{others}/p.png")
    rgb.quantize(13).save(f"{others}/p4.png", bits=4, transparency=3)
    rgb.convert("1").save(f"{others}/one.png")
    rgb.save(f"{others}/named.jpg", format="PNG")  # the bytes count, not the name
    write_netpbm(f"{others}/rgb16.png", ["pnmtopng"], picture(4).astype(np.uint16) * 251 + 77, 65535)
    write_netpbm(f"{others}/grey16.png", ["pnmtopng"], picture(5)[:, :, 0].astype(np.uint16) * 249 + 5, 65535)
    write_netpbm(f"{others}/interlaced.png", ["pnmtopng", "-interlace"], picture(6))
    write_netpbm(f"{others}/plain.ppm", None, picture(7))
    write_netpbm(f"{others}/plain.pgm", None, picture(8)[:, :, 0])
    rgb.save(f"{root}/val/jpeg/1.jpg")
    rgb.save(f"{root}/val/other/1.png")


def read_netpbm(data):
    """djpeg's and pngtopnm's output."""
    words, at = [], 0
    while len(words) < (3 if data[:2] == b"P4" else 4):
        end = at
        while data[end:end + 1] not in (b" ", b"\n"):
            end += 1
        words.append(data[at:end])
        at = end + 1
    if data[:2] == b"P4":  # bits, 1 is black
        width, height = int(words[1]), int(words[2])
        bits = np.unpackbits(np.frombuffer(data, np.uint8, offset=at)).reshape(height, -1)[:, :width]
        return np.repeat(255 * (1 - bits)[:, :, None], 3, 2).astype(np.uint8)
    width, height, brightest = (int(word) for word in words[1:])
    pixels = np.frombuffer(data, ">u2" if brightest > 255 else np.uint8, offset=at)
    if brightest > 255:
        pixels = (pixels >> 8).astype(np.uint8)  # the upper half, as OpenCV strips it
    elif brightest < 255:
        pixels = (pixels.astype(np.uint32) * 255 // brightest).astype(np.uint8)
    pixels = pixels.reshape(height, width, -1)
    return np.repeat(pixels, 3, 2) if pixels.shape[2] == 1 else pixels


def judge_pixels(path):
    """Red, green, blue by djpeg and pngtopnm; EXIF by Pillow."""
    start = open(path, "rb").read(4)
    if start[:2] == b"\xff\xd8":
        pixels = read_netpbm(subprocess.run(["djpeg", "-pnm", path], capture_output=True, check=True).stdout)
        orientation = Image.open(path).getexif().get(274, 1)
        turned = Image.fromarray(pixels)
        turned.getexif()[274] = orientation
        return np.asarray(ImageOps.exif_transpose(turned))
    if start == b"\x89PNG":
        return read_netpbm(subprocess.run(["pngtopnm", path], capture_output=True, check=True).stdout)
    return read_netpbm(open(path, "rb").read())


def read_lmdb(path):
    """(key, Datum) in the order of the keys, by others' libraries."""
    with lmdb.open(path, readonly=True, lock=False) as env, env.begin() as txn:
        for key, value in txn.cursor():
            datum = Datum()
            datum.ParseFromString(value)
            yield key, datum


def planes_of(datum):
    return np.frombuffer(datum.data, np.uint8).reshape(datum.channels, datum.height, datum.width)


def files_in_order(root):
    for label, kind in enumerate(sorted(os.listdir(root))):
        for name in sorted(os.listdir(f"{root}/{kind}")):
            yield f"{root}/{kind}/{name}", label


def check_pictures(root, path):
    expected = list(files_in_order(f"{root}/train"))
    records = list(read_lmdb(path))
    assert len(records) == len(expected), (len(records), len(expected))
    for number, ((key, datum), (file, label)) in enumerate(zip(records, expected)):
        assert key == b"%08d" % number, key
        assert datum.label == label and not datum.encoded, file
        want = judge_pixels(file)[:, :, ::-1].transpose(2, 0, 1)  # blue, green, red
        got = planes_of(datum)
        assert got.shape == want.shape, (file, got.shape, want.shape)
        assert (got == want).all(), (file, int(np.abs(got.astype(int) - want).max()))
    print(f"{len(records)} files of all kinds: pixels equal to djpeg's and pngtopnm's")


def bilinear(pixels, height, width):
    """In floating point, by the definition: centres at halves, borders repeated."""
    def taps(size, to):
        place = (np.arange(to) + 0.5) * size / to - 0.5
        first = np.floor(place).astype(int)
        part = place - first
        return np.clip(first, 0, size - 1), np.clip(first + 1, 0, size - 1), part
    y0, y1, dy = taps(pixels.shape[0], height)
    x0, x1, dx = taps(pixels.shape[1], width)
    p = pixels.astype(float)
    rows = p[y0] * (1 - dy)[:, None, None] + p[y1] * dy[:, None, None]
    return rows[:, x0] * (1 - dx)[:, None] + rows[:, x1] * dx[:, None]


def check_resize(root, path, height, width):
    worst = 0.0
    for (_, datum), (file, _) in zip(read_lmdb(path), files_in_order(f"{root}/train")):
        want = bilinear(judge_pixels(file), height, width)[:, :, ::-1].transpose(2, 0, 1)
        worst = max(worst, float(np.abs(planes_of(datum) - want).max()))
    print(f"resized to {height}x{width}: at most {worst:.2f} from exact bilinear values")
    assert worst < 1.0, worst


def read_idx(directory, part):
    def load(kind):
        return gzip.open(f"{directory}/{part}-{kind}-ubyte.gz").read()
    images = np.frombuffer(load("images-idx3"), np.uint8, offset=16).reshape(-1, 28, 28)
    return images, np.frombuffer(load("labels-idx1"), np.uint8, offset=8)


def write_lmdb(path, datums):
    with lmdb.open(path, map_size=1 << 30) as env, env.begin(write=True) as txn:
        for number, datum in enumerate(datums):
            txn.put(b"%08d" % number, datum.SerializeToString())


def as_datum(pixels, label, how):
    datum = Datum(channels=1, height=pixels.shape[0], width=pixels.shape[1], label=int(label))
    if how == "png":
        out = io.BytesIO()
        Image.fromarray(pixels).save(out, format="PNG")
        datum.data, datum.encoded = out.getvalue(), True
    elif how == "float":
        datum.float_data.extend(float(v) for v in pixels.ravel())
    else:
        datum.data = pixels.tobytes()
    return datum


def write_caffe_sets(subset, root):
    """As Caffe's convert_mnist_data: mnist_train_lmdb and mnist_test_lmdb; encoded; as floats; a mean image."""
    for how in ("plain", "png", "float"):
        os.makedirs(f"{root}/{how}")
        for part, name in (("train", "train"), ("t10k", "test")):
            images, labels = read_idx(subset, part)
            write_lmdb(f"{root}/{how}/mnist_{name}_lmdb", [as_datum(i, l, how) for i, l in zip(images, labels)])
    mean = read_idx(subset, "train")[0].astype(np.float64).mean(0)
    blob = BlobProto(num=1, channels=1, height=28, width=28, data=mean.astype(np.float32).ravel().tolist())
    open(f"{root}/mean.binaryproto", "wb").write(blob.SerializeToString())


def check_converted(subset, path):
    images, labels = read_idx(subset, "train")
    for number, (key, datum) in enumerate(read_lmdb(path)):
        assert key == b"%08d" % number
        assert (datum.channels, datum.height, datum.width, datum.label) == (1, 28, 28, labels[number])
        assert datum.data == images[number].tobytes()
    assert number + 1 == len(images)
    print(f"{len(images)} records as Caffe's convert_mnist_data writes them")


if __name__ == "__main__":
    globals()[sys.argv[1]](*(int(w) if w.isdigit() else w for w in sys.argv[2:]))
