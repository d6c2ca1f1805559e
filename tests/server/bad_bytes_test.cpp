// Requests that no generated stub sends, most of which would fill the memory if they were parsed. Every row is refused
// with its code and a remedy before that, and the server then answers a graph as before.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <sys/resource.h>

#include <future>

#include "core/ir/argument.h"
#include "server_fixture.h"

namespace uop {
namespace {

using testing::HasSubstr;

class BadBytesTest : public ServerTest {
 protected:
  void SetUp() override { start(options()); }
};

/// Any bytes as the request of any unary method.
grpc::Status call_with_bytes(const TestClient& c, const std::string& method, const std::string& bytes) {
  const grpc::Slice slice(bytes.data(), bytes.size(), grpc::Slice::STATIC_SLICE);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer reply;
  std::promise<grpc::Status> done;
  grpc::GenericStub stub(c.channel);
  const auto context = c.context();
  stub.UnaryCall(context.get(), "/uopd.v1.Uopd/" + method, {}, &request, &reply,
                 [&](grpc::Status status) { done.set_value(std::move(status)); });
  return done.get_future().get();
}

std::string repeated(std::string_view what, std::size_t times) {
  std::string all;
  all.reserve(what.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += what;
  return all;
}

/// A field of bytes with a length of four bytes.
std::string field(int number, const std::string& content) {
  std::string bytes(1, static_cast<char>(number << 3 | 2));
  for (const int shift : {0, 7, 14}) bytes += static_cast<char>((content.size() >> shift) % 128 | 128);
  bytes += static_cast<char>(content.size() >> 21);
  return bytes + content;
}

struct BadBytes {
  const char* what;
  std::vector<std::string> methods;
  std::function<std::string()> make;
  grpc::StatusCode code;
  std::vector<std::string> named;
};

constexpr std::size_t kFull = 30 << 20;  // of two bytes each: 60 MiB, as much as a message may have
constexpr std::size_t kPairs = 5 << 20;  // more than any request needs
constexpr std::string_view kEmptyFirst("\x0A\x00", 2);
constexpr std::string_view kEmptyInput("\x1A\x00", 2);
constexpr std::string_view kUnknown("\x7A\x00", 2);

const std::vector<BadBytes> kBadBytes = {
    {"empty nodes",
     {"Compile", "Execute", "Explain"},
     [] { return field(1, repeated(kEmptyFirst, kFull)); },
     grpc::RESOURCE_EXHAUSTED,
     {"1000000 nodes", "cut the program"}},
    {"empty nodes in many graphs",
     {"Compile"},
     [] { return repeated(field(1, repeated(kEmptyFirst, 1000)), 1001); },
     grpc::RESOURCE_EXHAUSTED,
     {"1000000 nodes"}},
    {"empty graphs",
     {"Compile"},
     [] { return repeated(kEmptyFirst, kPairs); },
     grpc::RESOURCE_EXHAUSTED,
     {"4000000 fields"}},
    {"empty inputs",
     {"Execute"},
     [] { return repeated(kEmptyInput, kPairs); },
     grpc::RESOURCE_EXHAUSTED,
     {"4000000 fields"}},
    {"an input more than there are slots",
     {"Execute"},
     [] { return "\x12\x01x\x30\x01" + repeated(kEmptyInput, kMaxSlot + 2); },
     grpc::RESOURCE_EXHAUSTED,
     {"inputs", "1000002", "slot"}},
    {"a variable more than there are slots",
     {"Execute"},
     [] { return "\x12\x01x\x30\x01" + field(4, std::string(kMaxSlot + 2, '\1')); },
     grpc::RESOURCE_EXHAUSTED,
     {"variables", "1000002", "slot"}},
    {"variables of a byte",
     {"Execute"},
     [] { return field(4, std::string(2 * kPairs, '\1')); },
     grpc::RESOURCE_EXHAUSTED,
     {"4000000 fields"}},
    {"empty buffer ids",
     {"FreeBuffers"},
     [] { return repeated(kEmptyFirst, kPairs); },
     grpc::RESOURCE_EXHAUSTED,
     {"4000000 fields"}},
    {"unknown fields",
     {"Hello", "Renew", "ListBuffers", "Status"},
     [] { return repeated(kUnknown, kPairs); },
     grpc::INVALID_ARGUMENT,
     {"not known here", "newer client"}},
    {"unknown fields of an input",
     {"Execute"},
     [] { return field(3, repeated(kUnknown, kPairs)); },
     grpc::INVALID_ARGUMENT,
     {"not known here"}},
    {"a group", {"Hello"}, [] { return std::string("\x7B\x7C"); }, grpc::INVALID_ARGUMENT, {"group"}},
    {"no message at all",
     {"Compile", "Hello"},
     [] { return std::string("\x0A\x05"); },
     grpc::INVALID_ARGUMENT,
     {"uopd.v1."}},
};

long most_resident_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST_F(BadBytesTest, BytesThatWouldFillTheMemoryAreRefusedUnparsed) {
  const TestClient c = client();
  const long before = most_resident_kib();
  for (const BadBytes& bad : kBadBytes) {
    for (const std::string& method : bad.methods) {
      SCOPED_TRACE(bad.what + (" to " + method));
      const grpc::Status status = call_with_bytes(c, method, bad.make());
      EXPECT_EQ(status.error_code(), bad.code) << status.error_message();
      for (const std::string& text : bad.named) EXPECT_THAT(status.error_message(), HasSubstr(text));
    }
  }
  EXPECT_LT(most_resident_kib() - before, 1 << 20) << "KiB, of which client and server hold 60 MiB some times over";
  EXPECT_TRUE(c.can_still_add());
}

}  // namespace
}  // namespace uop
