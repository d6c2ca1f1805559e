#include "core/wire/stored_plan.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <limits>

#include "core/wire/plan_codec.h"

namespace uop {
namespace {

Status bad(std::string_view what) {
  return error(StatusCode::kDataLoss, "the stored plan {}\nremedy: remove it; it is made again from the graph", what);
}

/// All options, so that what a stored plan does not name is never taken for this version's default.
StatusOr<CompileOptions> decode_options(const google::protobuf::Map<std::string, std::string>& pairs) {
  CompileOptions options;
  if (pairs.size() != to_pairs(options).size()) return bad("has options of another version");
  for (const auto& [name, value] : to_pairs(options)) {
    const auto found = pairs.find(name);
    if (found == pairs.end() || !set_option(options, name, found->second).ok())
      return bad("has options of another version");
  }
  return options;
}

}  // namespace

std::string serialize_stored_plan(const StoredPlanData& data) {
  uopd::v1::StoredPlan message;
  message.set_structure(data.structure);
  for (const auto& [name, value] : to_pairs(data.options)) (*message.mutable_options())[name] = value;
  *message.mutable_plan() = encode_plan(data.plan, /*with_sources=*/true);
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    check(message.SerializeToCodedStream(&coded), "a plan of more than 2 GiB");
  }
  return bytes;
}

StatusOr<StoredPlanData> parse_stored_plan(std::string_view bytes) {
  uopd::v1::StoredPlan message;
  if (bytes.size() > std::numeric_limits<int>::max() ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return bad("is not a uopd.v1.StoredPlan");

  StoredPlanData data;
  data.structure = message.structure();
  StatusOr<CompileOptions> options = decode_options(message.options());
  if (!options.ok()) return options.status();
  data.options = *std::move(options);
  StatusOr<Plan> plan = decode_plan(message.plan());
  if (!plan.ok()) return plan.status();
  data.plan = *std::move(plan);
  return data;
}

}  // namespace uop
