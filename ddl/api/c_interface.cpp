// SPDX-License-Identifier: MIT
// ddl.h over ddl.hpp: exceptions become numbers and a message of the thread.
#include "ddl/api/context_factory.hpp"
#include "ddl/ddl.h"
#include "ddl/ddl.hpp"

#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <map>
#include <string>

struct ddl_context {
  ddl::Context context;
  std::map<void*, ddl::Buffer<std::byte>> buffers;
  std::string device;
};
struct ddl_handle {
  ddl::Handle handle;
};

namespace {

static_assert(DDL_UINT8 + 1 == ddl::data_types && DDL_PRODUCT + 1 == ddl::operations);

thread_local std::string last_message;  // as errno: C has nowhere else to put it

int number_of(ddl::Fault fault) {
  switch (fault) {
    case ddl::Fault::usage:
      return DDL_ERROR_USAGE;
    case ddl::Fault::mismatch:
      return DDL_ERROR_MISMATCH;
    case ddl::Fault::lost:
      return DDL_ERROR_LOST;
    case ddl::Fault::unsupported:
      break;
  }
  return DDL_ERROR_UNSUPPORTED;
}

template <typename Work>
int guarded(const Work& work) noexcept {
  try {
    work();
    return 0;
  } catch (const ddl::Error& error) {
    last_message = fmt::format("{}{}; try {}", error.what(),
                               error.where().empty() ? "" : " (at " + error.where() + ")", error.hint());
    return number_of(error.fault());
  } catch (const std::exception& error) {
    last_message = error.what();
    return DDL_ERROR_OTHER;
  }
}

ddl::Context& of(ddl_context* context) {
  if (context != nullptr) return context->context;
  throw ddl::Error(ddl::Fault::usage, "the ddl_context is NULL", "",
                   "ddl_last_error() after a ddl_init that failed");
}

ddl::Tensor tensor_of(const void* data, size_t count, ddl_type type) {
  // Calls only read their inputs; a Tensor has no const pointer.
  auto* bytes = static_cast<std::byte*>(const_cast<void*>(data));
  if (type < DDL_FLOAT32 || type > DDL_UINT8)
    throw ddl::Error(
        ddl::Fault::usage, fmt::format("unknown type {}", static_cast<int>(type)), "",
        "DDL_FLOAT32, DDL_FLOAT64, DDL_FLOAT16, DDL_BFLOAT16, DDL_INT32, DDL_INT64 or DDL_UINT8");
  constexpr size_t most_numbers = size_t{1} << 56;
  if (count > most_numbers || (data == nullptr && count != 0))
    throw ddl::Error(ddl::Fault::usage,
                     data == nullptr ? fmt::format("{} numbers at NULL", count)
                                     : fmt::format("{} numbers exceed any memory", count),
                     "",
                     "a pointer to count numbers; where ddl_allocate() returned NULL, ddl_last_error() right "
                     "after it has the reason");
  return {bytes, count, static_cast<ddl::DataType>(type), "", ddl::Memory::host, nullptr};
}

ddl::Tensor gpu_tensor_of(const void* data, size_t count, ddl_type type, void* stream) {
  ddl::Tensor tensor = tensor_of(data, count, type);
  tensor.memory = ddl::Memory::device;
  tensor.stream = stream;
  return tensor;
}

ddl::Operation operation_of(ddl_operation operation) {
  if (operation < DDL_SUM || operation > DDL_PRODUCT) {
    throw ddl::Error(ddl::Fault::usage, fmt::format("unknown operation {}", static_cast<int>(operation)), "",
                     "DDL_SUM, DDL_AVERAGE, DDL_MAX, DDL_MIN or DDL_PRODUCT");
  }
  return static_cast<ddl::Operation>(operation);
}

// Keeps the Handle that `start` returns: the caller must wait for it.
template <typename Start>
int started(ddl_handle** handle, const Start& start) {
  return guarded([&] {
    if (handle == nullptr)
      throw ddl::Error(ddl::Fault::usage, "the handle argument is NULL", "",
                       "ddl_start_all_reduce(..., &handle), then ddl_wait(handle)");
    *handle = new ddl_handle{start()};
  });
}

}  // namespace

extern "C" {

int ddl_init(int* argc, char*** argv, const char* options, ddl_context** context) {
  return guarded([&] {
    if (context == nullptr)
      throw ddl::Error(ddl::Fault::usage, "the context argument is NULL", "",
                       "ddl_init(&argc, &argv, NULL, &context)");
    *context = nullptr;
    int no_arguments = 0;
    char* none[] = {nullptr};
    char** no_words = none;
    const ddl::Options parsed = ddl::parse_options(options == nullptr ? "" : options);
    *context = new ddl_context{
        {argc == nullptr ? no_arguments : *argc, argv == nullptr ? no_words : *argv, parsed}, {}, {}};
  });
}

int ddl_init_comm(const void* comm, size_t size, const char* options, ddl_context** context) {
  return guarded([&] {
    ddl::MpiComm ranks;
    if (context != nullptr) *context = nullptr;
    if (context == nullptr || comm == nullptr || size > sizeof(ranks.handle))
      throw ddl::Error(ddl::Fault::usage,
                       context == nullptr ? "the context argument is NULL" : "this is no MPI_Comm", "",
                       "ddl_init_mpi(comm, NULL, &context) of ddl/ddl_mpi.h");
    ranks.size = size;
    std::memcpy(&ranks.handle, comm, size);
    *context =
        new ddl_context{ddl::Context(ranks, ddl::parse_options(options == nullptr ? "" : options)), {}, {}};
  });
}

int ddl_split(ddl_context* context, int color, int key, ddl_context** group) {
  return guarded([&] {
    if (group == nullptr)
      throw ddl::Error(ddl::Fault::usage, "the group argument is NULL", "",
                       "ddl_split(context, color, key, &group)");
    *group = nullptr;
    std::optional<ddl::Context> made =
        of(context).split(color == DDL_NO_GROUP ? std::nullopt : std::optional(color), key);
    if (made) *group = new ddl_context{std::move(*made), {}, {}};
  });
}

int ddl_finalize(ddl_context* context) {
  return guarded([&] {
    if (context == nullptr) return;
    const auto error = ddl::ContextFactory::first_error(context->context);
    delete context;
    if (error) throw ddl::Error(*error);
  });
}

void ddl_abandon(ddl_context* context, const char* reason) {
  if (context == nullptr) return;
  const std::string text = reason == nullptr ? "" : reason;
  const std::string line = text.substr(0, text.find('\n'));  // a message has one line
  ddl::ContextFactory::abandon(context->context, line.empty() ? "ddl_abandon()" : line);
  delete context;
}

const char* ddl_last_error(void) { return last_message.c_str(); }

const char* ddl_version(void) { return DDL_VERSION; }

int ddl_rank(const ddl_context* context) { return context == nullptr ? -1 : context->context.rank(); }
int ddl_size(const ddl_context* context) { return context == nullptr ? -1 : context->context.size(); }
int ddl_local_rank(const ddl_context* context) {
  return context == nullptr ? -1 : context->context.local_rank();
}
int ddl_local_size(const ddl_context* context) {
  return context == nullptr ? -1 : context->context.local_size();
}

void* ddl_allocate(ddl_context* context, size_t bytes) {
  void* memory = nullptr;
  guarded([&] {
    ddl::Buffer<std::byte> buffer{of(context).allocate<std::byte>(bytes)};
    memory = buffer.data();
    context->buffers.emplace(memory, std::move(buffer));
  });
  return memory;
}

void ddl_free(ddl_context* context, void* memory) {
  if (context != nullptr) context->buffers.erase(memory);
}

int ddl_broadcast(ddl_context* context, void* data, size_t count, ddl_type type, int root) {
  return guarded([&] { of(context).broadcast(tensor_of(data, count, type), root); });
}

int ddl_all_reduce(ddl_context* context, void* data, size_t count, ddl_type type, ddl_operation operation) {
  return guarded([&] { of(context).all_reduce(tensor_of(data, count, type), operation_of(operation)); });
}

int ddl_reduce_scatter(ddl_context* context, const void* in, void* out, size_t count_out, ddl_type type,
                       ddl_operation operation) {
  return guarded([&] {
    const auto size = static_cast<size_t>(of(context).size());
    of(context).reduce_scatter(tensor_of(in, count_out * size, type), tensor_of(out, count_out, type),
                               operation_of(operation));
  });
}

int ddl_all_gather(ddl_context* context, const void* in, void* out, size_t count_in, ddl_type type) {
  return guarded([&] {
    const auto size = static_cast<size_t>(of(context).size());
    of(context).all_gather(tensor_of(in, count_in, type), tensor_of(out, count_in * size, type));
  });
}

int ddl_reduce(ddl_context* context, void* data, size_t count, ddl_type type, ddl_operation operation,
               int root) {
  return guarded([&] { of(context).reduce(tensor_of(data, count, type), operation_of(operation), root); });
}

int ddl_scatter(ddl_context* context, const void* in, void* out, size_t count_out, ddl_type type, int root) {
  return guarded([&] {
    const auto size = of(context).rank() == root ? static_cast<size_t>(of(context).size()) : 0;
    of(context).scatter(tensor_of(in, count_out * size, type), tensor_of(out, count_out, type), root);
  });
}

int ddl_gather(ddl_context* context, const void* in, void* out, size_t count_in, ddl_type type, int root) {
  return guarded([&] {
    const auto size = of(context).rank() == root ? static_cast<size_t>(of(context).size()) : 0;
    of(context).gather(tensor_of(in, count_in, type), tensor_of(out, count_in * size, type), root);
  });
}

int ddl_barrier(ddl_context* context) {
  return guarded([&] { of(context).barrier(); });
}

int ddl_start_all_reduce(ddl_context* context, void* data, size_t count, ddl_type type,
                         ddl_operation operation, ddl_handle** handle) {
  return started(handle, [&] {
    return of(context).start_all_reduce(tensor_of(data, count, type), operation_of(operation));
  });
}

int ddl_start_reduce(ddl_context* context, void* data, size_t count, ddl_type type, ddl_operation operation,
                     int root, ddl_handle** handle) {
  return started(handle, [&] {
    return of(context).start_reduce(tensor_of(data, count, type), operation_of(operation), root);
  });
}

int ddl_start_broadcast(ddl_context* context, void* data, size_t count, ddl_type type, int root,
                        ddl_handle** handle) {
  return started(handle, [&] { return of(context).start_broadcast(tensor_of(data, count, type), root); });
}

int ddl_wait(ddl_handle* handle) {
  return guarded([&] {
    const std::unique_ptr<ddl_handle> owned(handle);
    if (owned) owned->handle.wait();
  });
}

int ddl_done(const ddl_handle* handle) { return handle == nullptr || handle->handle.done() ? 1 : 0; }

int ddl_gpu_broadcast(ddl_context* context, void* data, size_t count, ddl_type type, int root, void* stream) {
  return guarded([&] { of(context).broadcast(gpu_tensor_of(data, count, type, stream), root); });
}

int ddl_gpu_all_reduce(ddl_context* context, void* data, size_t count, ddl_type type, ddl_operation operation,
                       void* stream) {
  return guarded(
      [&] { of(context).all_reduce(gpu_tensor_of(data, count, type, stream), operation_of(operation)); });
}

int ddl_gpu_reduce(ddl_context* context, void* data, size_t count, ddl_type type, ddl_operation operation,
                   int root, void* stream) {
  return guarded(
      [&] { of(context).reduce(gpu_tensor_of(data, count, type, stream), operation_of(operation), root); });
}

int ddl_gpu_reduce_scatter(ddl_context* context, const void* in, void* out, size_t count_out, ddl_type type,
                           ddl_operation operation, void* stream) {
  return guarded([&] {
    const auto size = static_cast<size_t>(of(context).size());
    of(context).reduce_scatter(gpu_tensor_of(in, count_out * size, type, stream),
                               gpu_tensor_of(out, count_out, type, stream), operation_of(operation));
  });
}

int ddl_gpu_all_gather(ddl_context* context, const void* in, void* out, size_t count_in, ddl_type type,
                       void* stream) {
  return guarded([&] {
    const auto size = static_cast<size_t>(of(context).size());
    of(context).all_gather(gpu_tensor_of(in, count_in, type, stream),
                           gpu_tensor_of(out, count_in * size, type, stream));
  });
}

int ddl_gpu_start_all_reduce(ddl_context* context, void* data, size_t count, ddl_type type,
                             ddl_operation operation, void* stream, ddl_handle** handle) {
  return started(handle, [&] {
    return of(context).start_all_reduce(gpu_tensor_of(data, count, type, stream), operation_of(operation));
  });
}

const char* ddl_device(ddl_context* context) {
  if (context == nullptr) return "";
  context->device = context->context.device();
  return context->device.c_str();
}

}  // extern "C"
