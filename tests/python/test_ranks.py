# SPDX-License-Identifier: MIT
"""Every call on any number of ranks, against closed forms. Without NumPy only buffers are tested."""
import array
import unittest

import ddl

try:
    import numpy
except ImportError:
    numpy = None

context = ddl.Context("-timeout 20")
rank, size = context.rank, context.size
sum_of_ranks = size * (size - 1) // 2


class Calls(unittest.TestCase):
    def test_place(self):
        place = ddl.launch.place()
        self.assertEqual((place.rank, place.size), (rank, size))
        self.assertEqual((place.local_rank, place.local_size), (context.local_rank, context.local_size))
        self.assertIs(ddl.init(), context)
        self.assertEqual(context.device, "cpu")

    def test_buffers(self):
        for letter in "fdiqB":
            values = array.array(letter, [rank, 2])
            self.assertIs(context.all_reduce(values, "sum"), values)
            self.assertEqual(list(values), [sum_of_ranks, 2 * size])

    def test_operations(self):
        for operation, expected in (("sum", sum_of_ranks + size), ("mean", (size + 1) / 2), ("max", size), ("min", 1),
                                    ("product", {1: 1, 2: 2, 3: 6, 4: 24}[size])):
            values = array.array("d", [rank + 1])
            context.all_reduce(values, operation)
            self.assertEqual(values[0], expected, operation)

    def test_numbers(self):
        self.assertEqual(context.all_reduce(rank, "max"), size - 1)
        self.assertEqual(context.all_reduce(rank + 0.5, "sum"), sum_of_ranks + size / 2)
        self.assertIsInstance(context.all_reduce(1, "sum"), int)
        with self.assertRaisesRegex(ddl.UsageError, r'int64 cannot be averaged \(at operation\); try "sum", or a float$'):
            context.all_reduce(1, "mean")
        with self.assertRaisesRegex(ddl.UsageError, "does not fit into int64"):
            context.all_reduce(1 << 63, "sum")

    def test_mean_of_integers(self):
        text = r'{} cannot be averaged \(at operation\); try "sum", or an array of float32$'
        for letter, name in (("i", "int32"), ("q", "int64"), ("B", "uint8")):
            values, part = array.array(letter, [1] * size), array.array(letter, [1])
            for call in (lambda v: context.all_reduce(v, "mean"), lambda v: context.reduce(v, "mean"),
                         lambda v: context.start_all_reduce(v, "mean"), lambda v: context.start_reduce(v, "mean"),
                         lambda v: context.reduce_scatter(v, part, "mean")):
                with self.assertRaisesRegex(ddl.UsageError, text.format(name)):
                    call(values)

    def test_rooted(self):
        for root in range(size):
            values = array.array("i", [rank * 10])
            context.broadcast(values, root)
            self.assertEqual(values[0], root * 10)
            values = array.array("q", [rank])
            context.reduce(values, "sum", root)
            self.assertEqual(values[0], sum_of_ranks if rank == root else rank)
            all_of_them = array.array("f", [0] * (2 * size)) if rank == root else None
            context.gather(array.array("f", [rank, -rank]), all_of_them, root)
            if rank == root:
                self.assertEqual(list(all_of_them), [sign * one for one in range(size) for sign in (1, -1)])
            part = array.array("f", [0, 0])
            context.scatter(all_of_them, part, root)
            self.assertEqual(list(part), [rank, -rank])

    def test_of_all(self):
        out = array.array("d", [0] * (2 * size))
        context.all_gather(array.array("d", [rank, 7]), out)
        self.assertEqual(list(out), [value for one in range(size) for value in (one, 7)])
        part = array.array("i", [0, 0])
        context.reduce_scatter(array.array("i", range(2 * size)), part, "sum")
        self.assertEqual(list(part), [2 * rank * size, (2 * rank + 1) * size])
        context.barrier()

    def test_handles(self):
        values = [array.array("d", [one + rank] * 1000) for one in range(20)]
        handles = [context.start_all_reduce(one, "mean") for one in values]
        for index in reversed(range(20)):
            self.assertIs(handles[index].wait(), values[index])
            self.assertTrue(handles[index].done())
            self.assertEqual(set(values[index]), {index + (size - 1) / 2})
            handles[index].wait()
        first, second = array.array("i", [rank]), array.array("i", [rank])
        context.start_broadcast(first, size - 1).wait()
        context.start_reduce(second, "max", 0).wait()
        self.assertEqual((first[0], second[0]), (size - 1, size - 1 if rank == 0 else rank))

    def test_dropped_handles(self):
        for _ in range(50):  # their memory stays until they are complete
            context.start_all_reduce(array.array("d", [1] * 10000), "sum")
        context.barrier()
        context.start_all_reduce(array.array("d", [1]), "sum")
        self.assertLessEqual(len(context._started), 1)

    def test_what_is_refused(self):
        """On all ranks alike; nothing is sent."""
        one = array.array("f", [1])
        for call, text in ((lambda: context.all_reduce(one, "median"), "unknown operation 'median'"),
                           (lambda: context.all_reduce(one, None), "unknown operation None"),
                           (lambda: context.broadcast(one, size), "root"),
                           (lambda: context.all_gather(one, array.array("f", [0] * (size + 1))), f"an out of {size} numbers"),
                           (lambda: context.all_gather(one, array.array("d", [0] * size)), "data is of float32, out of float64"),
                           (lambda: context.reduce_scatter(array.array("f", [0] * (size + 1)), one, "sum"), "out has 1 numbers"),
                           (lambda: ddl.init("-timeout 21"), "with the options '-timeout 20' before")):
            with self.subTest(text), self.assertRaisesRegex(ddl.UsageError, text):
                call()
        self.assertEqual(context.all_reduce(1, "sum"), size)

    @unittest.skipIf(numpy is None, "no NumPy")
    def test_numpy(self):
        for name in ("float32", "float64", "float16", "int32", "int64", "uint8"):
            values = (numpy.arange(24) % 7 + rank).astype(name).reshape(2, 3, 4)
            expected = (numpy.arange(24) % 7 * size + sum_of_ranks).astype(name).reshape(2, 3, 4)
            address = values.ctypes.data
            self.assertIs(context.all_reduce(values, "sum"), values)
            self.assertEqual(values.ctypes.data, address)
            numpy.testing.assert_array_equal(values, expected)
        context.all_reduce(numpy.zeros((0, 3)), "sum")
        self.assertEqual(context.all_reduce(numpy.float32(1.5), "sum"), 1.5 * size)
        out = numpy.empty((size, 3))
        context.all_gather(numpy.full(3, float(rank)), out)
        numpy.testing.assert_array_equal(out, numpy.repeat(numpy.arange(size), 3).reshape(size, 3))


if __name__ == "__main__":
    unittest.main()
