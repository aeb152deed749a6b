#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""read_tfevents.py FILE: reads TensorBoard's event file with Google's protocol buffers and crcmod's CRC-32C; only
the messages' numbers are written here, from tensorflow/core/util/event.proto and framework/summary.proto. Prints a
line for each value."""
import struct
import sys

try:
    import crcmod.predefined
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError as missing:
    print(f"skipped: {missing}; apt-get install python3-protobuf python3-crcmod")
    sys.exit(125)

F = descriptor_pb2.FieldDescriptorProto
MESSAGES = {
    "Event": [("wall_time", 1, F.TYPE_DOUBLE), ("step", 2, F.TYPE_INT64), ("file_version", 3, F.TYPE_STRING),
              ("summary", 5, "Summary"), ("session_log", 7, "SessionLog")],
    "SessionLog": [("status", 1, F.TYPE_INT32)],
    "Summary": [("value", 1, "[Value]")],
    "Value": [("tag", 1, F.TYPE_STRING), ("simple_value", 2, F.TYPE_FLOAT), ("tensor", 8, "Tensor"),
              ("metadata", 9, "Metadata")],
    "Metadata": [("plugin_data", 1, "Plugin"), ("data_class", 4, F.TYPE_INT32)],
    "Plugin": [("plugin_name", 1, F.TYPE_STRING), ("content", 2, F.TYPE_BYTES)],
    "Tensor": [("dtype", 1, F.TYPE_INT32), ("tensor_shape", 2, "Shape"), ("string_val", 8, "[bytes]")],
    "Shape": [("unknown_rank", 3, F.TYPE_BOOL)],
}


def make_event_class():
    file = descriptor_pb2.FileDescriptorProto(name="event.proto", package="t", syntax="proto3")
    for message, fields in MESSAGES.items():
        made = file.message_type.add(name=message)
        for name, number, kind in fields:
            field = made.field.add(name=name, number=number, label=F.LABEL_OPTIONAL)
            if kind == "[bytes]":
                field.label, field.type = F.LABEL_REPEATED, F.TYPE_BYTES
            elif isinstance(kind, str):
                field.label = F.LABEL_REPEATED if kind.startswith("[") else F.LABEL_OPTIONAL
                field.type, field.type_name = F.TYPE_MESSAGE, ".t." + kind.strip("[]")
            else:
                field.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptor = pool.FindMessageTypeByName("t.Event")
    return (message_factory.GetMessageClass(descriptor) if hasattr(message_factory, "GetMessageClass")
            else message_factory.MessageFactory(pool).GetPrototype(descriptor))


def unknown_fields(message):
    found = len(message.UnknownFields()) if hasattr(message, "UnknownFields") else 0
    for field, value in message.ListFields():
        if field.type == F.TYPE_MESSAGE:
            found += sum(unknown_fields(each) for each in (value if field.label == F.LABEL_REPEATED else [value]))
    return found


def main():
    event_class = make_event_class()
    crc = crcmod.predefined.mkCrcFun("crc-32c")

    def masked(data):
        value = crc(data)
        return (((value >> 15) | (value << 17)) + 0xA282EAD8) & 0xFFFFFFFF

    data = open(sys.argv[1], "rb").read()
    at = count = 0
    while at < len(data):
        head = data[at:at + 8]
        length, = struct.unpack("<Q", head)
        assert struct.unpack("<I", data[at + 8:at + 12])[0] == masked(head), f"the sum of the length at {at}"
        body = data[at + 12:at + 12 + length]
        assert len(body) == length, f"cut off at {at}"
        assert struct.unpack("<I", data[at + 12 + length:at + 16 + length])[0] == masked(body), f"the sum at {at}"
        at += 16 + length
        event = event_class()
        assert event.ParseFromString(body) == len(body)
        assert unknown_fields(event) == 0, event
        if count == 0:
            assert event.file_version == "brain.Event:2", event
        assert event.wall_time > 1.5e9
        count += 1
        if event.session_log.status:
            print(f"session {event.session_log.status} step {event.step}")
        for value in event.summary.value:
            if value.HasField("tensor"):
                assert value.tensor.dtype == 7 and value.metadata.plugin_data.plugin_name == "text"
                print(f"text {value.tag} {value.tensor.string_val[0].decode()!r}")
            else:
                print(f"scalar {value.tag} {event.step} {value.simple_value:.9g}")
    print(f"records {count}")


main()
