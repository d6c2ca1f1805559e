#include "core/compile/subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstring>
#include <optional>

#include "core/compile/file_descriptor.h"
#include "core/compile/memory_file.h"

namespace uop {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

Status no_resources(std::string_view what, int code) {
  return error(StatusCode::kResourceExhausted, "{}: {}; free memory, or raise the limits of processes and open files",
               what, std::strerror(code));
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));  // POSIX: not modified
  out.push_back(nullptr);
  return out;
}

/// Starts the program with `input` as descriptor 0 and `output` as 1 and 2.
StatusOr<pid_t> spawn(const ProcessRequest& request, int input, int output) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, input, 0);
  posix_spawn_file_actions_adddup2(&files, output, 1);
  posix_spawn_file_actions_adddup2(&files, output, 2);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);  // libraries of this process may forget O_CLOEXEC
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);

  std::vector<std::string> arguments = {request.program};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  pid_t pid = 0;
  const int code = posix_spawn(&pid, request.program.c_str(), &files, &attributes, pointers(arguments).data(),
                               pointers(request.environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (code == 0) return pid;
  if (code == EAGAIN || code == ENOMEM || code == EMFILE || code == ENFILE)
    return no_resources("cannot start " + request.program, code);
  return error(StatusCode::kFailedPrecondition, "cannot execute {}: {}; check that it is there and is a program",
               request.program, std::strerror(code));
}

/// A running child, killed and reaped with all of its group when this goes.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    if (pid_ > 0) reap();
  }

  // The group's id is the child's, which cannot be given to another process before it is reaped.
  void kill_group() const { ::kill(-pid_, SIGKILL); }

  /// Kills what is left of the group and waits for the child. Returns its wait status.
  int reap() {
    kill_group();
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    // As process 1 of a container this process inherits the group's orphans, and must reap those too.
    while (::waitpid(-pid_, nullptr, 0) > 0 || errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_;
};

/// Waits for one child: its exit, its output, the time limit and the cancellation, all on one event loop that runs in
/// the calling thread.
class Watch {
 public:
  Watch(Child& child, FileDescriptor exit, FileDescriptor output)
      : child_(child), exit_(io_, exit.release()), output_(io_, output.release()), timer_(io_) {
    output_.non_blocking(true);  // take_output must not wait
  }

  /// Returns when the child has exited; it may not have been reaped. An error says why it was killed.
  Status run(Clock::time_point end, const Cancel& cancel, const ProcessRequest& request) {
    exit_.async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code) { io_.stop(); });
    timer_.expires_at(end);
    timer_.async_wait([&](error_code code) {
      if (code) return;
      const Status status = cancel.status();
      kill(!status.ok() ? status
                        : error(StatusCode::kResourceExhausted,
                                "{} ran over its time limit of {} ms and was killed; raise compile_timeout_ms, or send "
                                "a smaller program",
                                request.program, request.time_limit.count()));
    });
    read_some();
    const std::stop_callback on_stop(cancel.token, [&] { asio::post(io_, [&] { kill(cancel.status()); }); });
    io_.run();
    return why_;
  }

  /// What the child printed; to be called once all writers are dead, or have left the group.
  std::string take_output() {
    // Not to the end of the file: a process that has left the group could hold the pipe open for ever.
    error_code code;
    while (!code && seen_ <= kMostOutput) keep(output_.read_some(asio::buffer(buffer_), code));
    return std::move(kept_);
  }
  bool flooded() const { return flooded_; }

 private:
  void read_some() {
    output_.async_read_some(asio::buffer(buffer_), [this](error_code code, std::size_t n) {
      if (code) return;  // all writers are gone; the exit follows
      keep(n);
      if (seen_ > kMostOutput) {
        flooded_ = true;
        child_.kill_group();
      } else {
        read_some();
      }
    });
  }

  void keep(std::size_t n) {
    seen_ += n;
    kept_.append(buffer_.data(), std::min(n, kKeptOutput - kept_.size()));
  }

  void kill(Status why) {
    if (why_.ok()) why_ = std::move(why);
    child_.kill_group();
  }

  Child& child_;
  asio::io_context io_{1};
  asio::posix::stream_descriptor exit_, output_;
  asio::steady_timer timer_;
  std::array<char, 16 << 10> buffer_;
  std::string kept_;
  std::size_t seen_ = 0;
  bool flooded_ = false;
  Status why_;
};

}  // namespace

StatusOr<ProcessResult> run_process(const ProcessRequest& request, const Cancel& cancel) {
  if (Status status = cancel.status(); !status.ok()) return status;
  const Clock::time_point limit = Clock::now() + request.time_limit;
  auto input = memory_file(request.input);
  if (!input.ok()) return input.status();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return no_resources("cannot make a pipe", errno);
  FileDescriptor output(ends[0]), child_output(ends[1]);

  const auto pid = spawn(request, input->get(), child_output.get());
  if (!pid.ok()) return pid.status();
  Child child(*pid);
  child_output.reset();
  // By number: glibc 2.36 declares pidfd_open without extern "C". The descriptor is close-on-exec.
  FileDescriptor exit(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
  if (!exit.ok()) return no_resources("cannot watch " + request.program, errno);

  ProcessResult result;
  int status = 0;
  try {
    Watch watch(child, std::move(exit), std::move(output));
    const Status why = watch.run(std::min(limit, cancel.deadline.value_or(limit)), cancel, request);
    status = child.reap();
    if (!why.ok()) return why;
    result.output = watch.take_output();
    result.flooded = watch.flooded();
  } catch (const boost::system::system_error& e) {  // no descriptor for the event loop
    return no_resources("cannot watch " + request.program, e.code().value());
  }
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

}  // namespace uop
