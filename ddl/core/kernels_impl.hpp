// SPDX-License-Identifier: MIT
// The loops of the kernels, in vectors of Isa::bytes bytes; compiled once for each instruction set. All names
// belong to Kernels<Isa>, so that no two sets share a symbol. An Isa defines its width and how to convert
// float16 to float32 and back, to store past the caches and to fence such stores.
#pragma once

#include "ddl/core/kernel_table.hpp"

namespace ddl {

template <class Number, std::size_t Bytes>
struct VectorOf {
  typedef Number Type __attribute__((vector_size(Bytes)));
};

template <class Isa>
struct Kernels {
  using F32 = typename VectorOf<float, Isa::bytes>::Type;
  using F64 = typename VectorOf<double, Isa::bytes>::Type;
  using S32 = typename VectorOf<std::int32_t, Isa::bytes>::Type;
  using U32 = typename VectorOf<std::uint32_t, Isa::bytes>::Type;
  using U16 = typename VectorOf<std::uint16_t, Isa::bytes / 2>::Type;
  using S64 = typename VectorOf<std::int64_t, Isa::bytes>::Type;
  using U64 = typename VectorOf<std::uint64_t, Isa::bytes>::Type;
  using U8 = typename VectorOf<std::uint8_t, Isa::bytes>::Type;

  // Rounds to bfloat16, which is the upper half: to nearest even; a NaN must not become infinity.
  static U32 round_to_upper(F32 value) {
    const U32 bits = (U32)value;
    return value != value ? bits | 0x400000 : bits + 0x7fff + ((bits >> 16) & 1);
  }

  // A number type: Packed lies in memory, Sums are added. Both have the same number of lanes.
  template <class Vector, class Factor>
  struct Plain {
    static constexpr std::size_t size = sizeof(Vector{}[0]);
    using Packed = Vector;
    using Sums = Vector;
    using Scale = Factor;
    static Sums unpack(Packed values) { return values; }
    static Packed pack(Sums sums) { return sums; }
  };
  using Float32 = Plain<F32, float>;
  using Float64 = Plain<F64, double>;
  using Int32 = Plain<S32, float>;
  using Int64 = Plain<S64, float>;
  using UInt8 = Plain<U8, float>;
  struct Half {
    static constexpr std::size_t size = 2;
    using Packed = U16;
    using Sums = F32;
    using Scale = float;
    static Sums unpack(Packed values) { return Isa::template widen_half<Sums>(values); }
    static Packed pack(Sums sums) { return Isa::template narrow_half<Packed>(sums); }
  };
  // Two vectors of every other number: no lane has to move.
  struct Pair {
    F32 low, high;
  };
  struct Brain {
    static constexpr std::size_t size = 2;
    using Packed = U32;
    using Sums = Pair;
    using Scale = float;
    static Sums unpack(Packed values) { return {(F32)(values << 16), (F32)(values & 0xffff0000)}; }
    static Packed pack(Sums sums) {
      return (round_to_upper(sums.low) >> 16) | (round_to_upper(sums.high) & 0xffff0000);
    }
  };

  struct Unscaled {
    template <class Sums, class Scale>
    static Sums last(Sums sums, Scale) {
      return sums;
    }
  };
  struct Sum : Unscaled {
    static F32 both(F32 a, F32 b) { return a + b; }
    static F64 both(F64 a, F64 b) { return a + b; }
    static S32 both(S32 a, S32 b) { return (S32)((U32)a + (U32)b); }
    static S64 both(S64 a, S64 b) { return (S64)((U64)a + (U64)b); }
    static U8 both(U8 a, U8 b) { return a + b; }
    static Pair both(Pair a, Pair b) { return {a.low + b.low, a.high + b.high}; }
  };
  struct ScaledSum : Sum {
    template <class Sums, class Scale>
    static Sums last(Sums sums, Scale scale) {
      return sums * scale;
    }
    static Pair last(Pair sums, float scale) { return {sums.low * scale, sums.high * scale}; }
  };
  struct Max : Unscaled {
    template <class Sums>
    static Sums both(Sums a, Sums b) {
      return ((a >= b) | (a != a)) ? a : b;  // of two equal ones the first, of NaNs the first
    }
    static Pair both(Pair a, Pair b) { return {both(a.low, b.low), both(a.high, b.high)}; }
  };

  struct Min : Unscaled {
    template <class Sums>
    static Sums both(Sums a, Sums b) {
      return ((a <= b) | (a != a)) ? a : b;  // as Max
    }
    static Pair both(Pair a, Pair b) { return {both(a.low, b.low), both(a.high, b.high)}; }
  };
  struct Product : Unscaled {
    static F32 both(F32 a, F32 b) { return a * b; }
    static F64 both(F64 a, F64 b) { return a * b; }
    static S32 both(S32 a, S32 b) { return (S32)((U32)a * (U32)b); }
    static S64 both(S64 a, S64 b) { return (S64)((U64)a * (U64)b); }
    static U8 both(U8 a, U8 b) { return a * b; }
    static Pair both(Pair a, Pair b) { return {a.low * b.low, a.high * b.high}; }
  };

  // What does not fill a block: vector by vector, the last one in part.
  template <class Number, class Rule>
  struct Edge {
    using Packed = typename Number::Packed;
    using Sums = typename Number::Sums;

    static Sums load(const std::byte* from, std::size_t bytes) {
      Packed values{};
      __builtin_memcpy(&values, from, bytes);
      return Number::unpack(values);
    }
    static void vector(const ReduceCall& call, std::size_t at, std::size_t bytes) {
      Sums sums = load(call.sources[0] + at, bytes);
      for (std::size_t s = 1; s < call.source_count; ++s)
        sums = Rule::both(sums, load(call.sources[s] + at, bytes));
      const Packed result = Number::pack(Rule::last(sums, static_cast<typename Number::Scale>(call.scale)));
      for (std::size_t t = 0; t < call.destination_count; ++t)
        __builtin_memcpy(call.destinations[t] + at, &result, bytes);
    }
    [[gnu::noinline]] static void run(const ReduceCall& call, std::size_t at, std::size_t end) {
      for (; at + sizeof(Packed) <= end; at += sizeof(Packed)) vector(call, at, sizeof(Packed));
      if (at < end) vector(call, at, end - at);
    }
  };

  // The bulk: N sources, known to the compiler, or any number of them (0).
  template <class Number, class Rule, int N, bool Streaming>
  struct Bulk {
    using Packed = typename Number::Packed;
    using Sums = typename Number::Sums;
    static constexpr std::size_t step = sizeof(Packed), block = 4 * step;

    static Sums load(const std::byte* from) {
      Packed values;
      __builtin_memcpy(&values, from, sizeof values);
      return Number::unpack(values);
    }
    static void store(std::byte* to, Packed values) {
      if constexpr (Streaming)
        Isa::stream(to, values);
      else
        __builtin_memcpy(to, &values, sizeof values);
    }

    // Four vectors at once: enough additions under way, and few enough for the registers.
    static std::size_t run(const ReduceCall& call, std::size_t at, std::size_t end) {
      const std::size_t sources = N > 0 ? N : call.source_count;
      const auto scale = static_cast<typename Number::Scale>(call.scale);
      for (; at + block <= end; at += block) {
        const std::byte* from = call.sources[0] + at;
        Sums a = load(from), b = load(from + step), c = load(from + 2 * step), d = load(from + 3 * step);
#pragma GCC unroll 8
        for (std::size_t s = 1; s < sources; ++s) {
          from = call.sources[s] + at;
          a = Rule::both(a, load(from));
          b = Rule::both(b, load(from + step));
          c = Rule::both(c, load(from + 2 * step));
          d = Rule::both(d, load(from + 3 * step));
        }
        const Packed first = Number::pack(Rule::last(a, scale)), second = Number::pack(Rule::last(b, scale));
        const Packed third = Number::pack(Rule::last(c, scale)), fourth = Number::pack(Rule::last(d, scale));
        for (std::size_t t = 0; t < call.destination_count; ++t) {
          std::byte* to = call.destinations[t] + at;
          store(to, first);
          store(to + step, second);
          store(to + 2 * step, third);
          store(to + 3 * step, fourth);
        }
      }
      if constexpr (Streaming) Isa::fence();
      return at;
    }
  };

  template <class Number, class Rule, bool Streaming>
  static std::size_t bulk(const ReduceCall& call, std::size_t at, std::size_t end) {
    switch (call.source_count) {
      case 2:
        return Bulk<Number, Rule, 2, Streaming>::run(call, at, end);
      case 4:
        return Bulk<Number, Rule, 4, Streaming>::run(call, at, end);
      default:
        return Bulk<Number, Rule, 0, Streaming>::run(call, at, end);
    }
  }
  template <class Number, class Rule>
  static void reduce(const ReduceCall& call) {
    constexpr std::size_t line = 64;
    const std::size_t bytes = call.count * Number::size;
    const std::size_t place = reinterpret_cast<std::uintptr_t>(call.destinations[0]) % line;
    std::size_t at = 0;
    if (place % Number::size == 0 && bytes >= 64 * line) {  // the bulk starts where a line does
      at = (line - place) % line;
      Edge<Number, Rule>::run(call, 0, at);
    }
    if (Isa::streams && call.streaming)
      at = bulk<Number, Rule, Isa::streams>(call, at, bytes);
    else
      at = bulk<Number, Rule, false>(call, at, bytes);
    Edge<Number, Rule>::run(call, at, bytes);
  }

  // For the conversions bfloat16 keeps the order of memory.
  struct OrderedBrain {
    static F32 unpack(U16 values) { return (F32)(Isa::template widen_bits<U32>(values) << 16); }
    static U16 pack(F32 values) { return Isa::template narrow_bits<U16>(round_to_upper(values) >> 16); }
  };

  template <class Number>
  static void narrow(const float* from, std::byte* out, std::size_t count) {
    constexpr std::size_t lanes = sizeof(F32) / sizeof(float);
    for (; count >= lanes; from += lanes, out += sizeof(U16), count -= lanes) {
      F32 values;
      __builtin_memcpy(&values, from, sizeof values);
      const U16 result = Number::pack(values);
      __builtin_memcpy(out, &result, sizeof result);
    }
    F32 values{};
    __builtin_memcpy(&values, from, count * sizeof(float));
    const U16 result = Number::pack(values);
    __builtin_memcpy(out, &result, count * sizeof(std::uint16_t));
  }
  template <class Number>
  static void widen(const std::byte* in, float* out, std::size_t count) {
    constexpr std::size_t lanes = sizeof(F32) / sizeof(float);
    for (; count >= lanes; in += sizeof(U16), out += lanes, count -= lanes) {
      U16 values;
      __builtin_memcpy(&values, in, sizeof values);
      const F32 result = Number::unpack(values);
      __builtin_memcpy(out, &result, sizeof result);
    }
    U16 values{};
    __builtin_memcpy(&values, in, count * sizeof(std::uint16_t));
    const F32 result = Number::unpack(values);
    __builtin_memcpy(out, &result, count * sizeof(float));
  }

  // Integers are not scaled: `WholeRule`.
  template <class Rule, class WholeRule = Rule>
  static void fill(ReduceKernel (&row)[kernel_types]) {
    row[0] = reduce<Float32, Rule>;
    row[1] = reduce<Float64, Rule>;
    row[2] = reduce<Half, Rule>;
    row[3] = reduce<Brain, Rule>;
    row[4] = reduce<Int32, WholeRule>;
    row[5] = reduce<Int64, WholeRule>;
    row[6] = reduce<UInt8, WholeRule>;
  }
  static KernelTable table() {
    KernelTable all{Isa::name,
                    {},
                    {},
                    {},
                    {},
                    {},
                    {narrow<Half>, narrow<OrderedBrain>},
                    {widen<Half>, widen<OrderedBrain>}};
    fill<Sum>(all.sum);
    fill<ScaledSum, Sum>(all.scaled_sum);
    fill<Max>(all.max);
    fill<Min>(all.min);
    fill<Product>(all.product);
    return all;
  }
};

}  // namespace ddl
