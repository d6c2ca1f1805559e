// References to a plan's buffers, as its text form writes them: in(0), tmp(1), out(0).
#pragma once

#include "core/ir/plan.h"

namespace uop {

constexpr BufferRef in(std::uint32_t i) {
  return {BufferRef::Kind::kIn, i};
}
constexpr BufferRef tmp(std::uint32_t i) {
  return {BufferRef::Kind::kTmp, i};
}
constexpr BufferRef out(std::uint32_t i) {
  return {BufferRef::Kind::kOut, i};
}

}  // namespace uop
