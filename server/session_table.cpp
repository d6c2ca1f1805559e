#include "server/session_table.h"

#include "server/random_id.h"

namespace uop {

StatusOr<std::string> Session::add(StoredBuffer buffer) {
  StatusOr<std::string> id = random_id();
  if (!id.ok()) return id;
  const std::lock_guard lock(mutex_);
  if (buffers_.size() >= kMaxBuffers)
    return error(StatusCode::kResourceExhausted, "the session has {} buffers, which is the limit; free some",
                 kMaxBuffers);
  buffers_.emplace(*id, std::move(buffer));
  return id;
}

StatusOr<StoredBuffer> Session::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto at = buffers_.find(id);
  if (at == buffers_.end())
    return not_found("buffer '{}' is not in this session: it was freed, or is another session's; put it again",
                     id.substr(0, 64));
  return at->second;
}

bool Session::free(const std::string& id) {
  std::unordered_map<std::string, StoredBuffer>::node_type gone;  // goes after the lock
  const std::lock_guard lock(mutex_);
  gone = buffers_.extract(id);
  return !gone.empty();
}

std::vector<std::pair<std::string, StoredBuffer>> Session::list() const {
  const std::lock_guard lock(mutex_);
  return {buffers_.begin(), buffers_.end()};
}

std::size_t Session::size() const {
  const std::lock_guard lock(mutex_);
  return buffers_.size();
}

SessionPin::SessionPin(std::shared_ptr<Session> session) : session_(std::move(session)) {
  session_->pins_.fetch_add(1);
  session_->idle_sweeps_ = 0;
}

SessionPin::~SessionPin() {
  if (!session_) return;
  session_->idle_sweeps_ = 0;
  session_->pins_.fetch_sub(1);
}

StatusOr<std::string> SessionTable::open() {
  StatusOr<std::string> id = random_id();
  if (!id.ok()) return id;
  const std::lock_guard lock(mutex_);
  if (sessions_.size() >= kMaxSessions)
    return error(StatusCode::kResourceExhausted,
                 "{} sessions are open, which is the limit; use one session for many calls, and retry when others end",
                 kMaxSessions);
  sessions_.emplace(*id, std::make_shared<Session>());
  return id;
}

std::optional<SessionPin> SessionTable::pin(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto at = sessions_.find(id);
  if (at == sessions_.end()) return std::nullopt;
  return SessionPin(at->second);  // under the lock, so that a sweep sees it
}

std::size_t SessionTable::sweep() {
  std::vector<std::shared_ptr<Session>> ended;  // freed after the lock
  const std::lock_guard lock(mutex_);
  for (auto at = sessions_.begin(); at != sessions_.end();) {
    Session& session = *at->second;
    if (session.pins_ == 0 && session.idle_sweeps_.fetch_add(1) >= kSweepsOfLease) {
      ended.push_back(std::move(at->second));
      at = sessions_.erase(at);
    } else {
      ++at;
    }
  }
  return ended.size();
}

std::size_t SessionTable::sessions() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

std::size_t SessionTable::buffers() const {
  const std::lock_guard lock(mutex_);
  std::size_t n = 0;
  for (const auto& [id, session] : sessions_) n += session->size();
  return n;
}

}  // namespace uop
