"""The wire: a session at a server, its calls, uploads and downloads, and the thread that keeps it.

Buffers of tensors that die are freed at the server in batches, by a thread that also keeps the session's lease.
"""
from __future__ import annotations

import collections
import threading
import time
import weakref
from typing import Any, Callable, Iterator, Sequence

import grpc

from uopd import errors
from uopd._graph import UOp
from uopd._progress import Progress
from uopd._version import __version__
from uopd.v1 import service

#: Bytes of one message of an upload: large enough that a message costs little. A server may ask for less.
_CHUNK_BYTES = 1 << 20
#: Released buffers wait this long for others before they are freed together; so many are not held back.
_RELEASE_DELAY_SECONDS = 0.01
_RELEASE_BATCH = 1000
#: Hello, Renew, FreeBuffers and Status answer at once, or the server is not well.
SHORT_CALL_SECONDS = 10.0

_METHODS = {
    "PutBuffer": ("stream_unary", "PutBufferRequest", "PutBufferReply"),
    "GetBuffer": ("unary_stream", "GetBufferRequest", "GetBufferReply"),
}


class Session:
    """A session at the server at ``address``; opened by the constructor, which raises Unavailable where none answers."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._channel = grpc.insecure_channel(address, [
            ("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1),
            ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0),
            ("grpc.keepalive_time_ms", 20_000), ("grpc.keepalive_timeout_ms", 20_000),
            ("grpc.http2.max_pings_without_data", 0)])  # fmt: skip
        self._metadata: tuple[tuple[str, str], ...] = ()
        self._methods: dict[str, Any] = {}
        #: The server's reply to Hello: versions, ops, options, limits.
        self.hello = self.call("Hello", service.HelloRequest(min_version=1, max_version=1,
                                                             client=f"uopd-python/{__version__}"),
                               timeout=SHORT_CALL_SECONDS)  # fmt: skip
        self._metadata = (("uopd-session", self.hello.session),)
        self._released: collections.deque[str] = collections.deque()
        self._wake = threading.Event()
        self.closed = False
        self._keeper = threading.Thread(target=_keep, name="uopd-keeper", daemon=True,
                                        args=(weakref.ref(self), self._wake, max(1, self.hello.lease_seconds)))  # fmt: skip
        self._keeper.start()

    def close(self) -> None:
        """Frees what was released and closes the connection."""
        if self.closed:
            return
        self.closed = True
        self._wake.set()
        if threading.current_thread() is not self._keeper:
            self._keeper.join(timeout=1.0)
        self._channel.close()

    def call(
        self,
        method: str,
        request: Any,
        timeout: float | None = None,
        nodes: Sequence[UOp] = (),
        waiting: Callable[[], None] | None = None,
    ) -> Any:
        """One unary call. ``nodes``: the graph it sends, for errors; ``waiting`` is called while it takes long."""
        try:
            if waiting is None:
                return self._method(method)(request, timeout=timeout, metadata=self._metadata)
            call = self._method(method).future(request, timeout=timeout, metadata=self._metadata)
            while True:
                try:
                    return call.result(timeout=0.1)
                except grpc.FutureTimeoutError:
                    waiting()
                except BaseException:
                    call.cancel()
                    raise
        except grpc.RpcError as error:
            raise errors.error_of(error, self.address, nodes) from None

    def _method(self, name: str) -> Any:
        known = self._methods.get(name)
        if known is not None:
            return known
        kind, request, reply = _METHODS.get(name, ("unary_unary", name + "Request", name + "Reply"))
        made = getattr(self._channel, kind)(
            f"/uopd.v1.Uopd/{name}",
            request_serializer=getattr(service, request).SerializeToString,
            response_deserializer=getattr(service, reply).FromString,
        )
        self._methods[name] = made
        return made

    def put(self, data: bytes, spec: Any) -> str:
        """Uploads the bytes of a tensor (``spec``: a TensorSpec message); returns the buffer's id."""
        chunk = min(_CHUNK_BYTES, int(self.hello.limits.chunk_bytes) or _CHUNK_BYTES)
        view = memoryview(data)
        with Progress() as progress:

            def parts() -> Iterator[Any]:
                yield service.PutBufferRequest(header=service.PutBufferRequest.Header(tensor=spec))
                for at in range(0, len(data), chunk):
                    progress.show(f"uploading {at / 1e6:.0f} of {len(data) / 1e6:.0f} MB")
                    yield service.PutBufferRequest(chunk=bytes(view[at : at + chunk]))

            try:
                return str(self._method("PutBuffer")(parts(), metadata=self._metadata).buffer)
            except grpc.RpcError as error:
                raise errors.error_of(error, self.address) from None

    def get(self, buffer: str, nbytes: int) -> bytes:
        """Downloads a buffer of ``nbytes``."""
        parts: list[bytes] = []
        try:
            for part in self._method("GetBuffer")(service.GetBufferRequest(buffer=buffer),
                                                  metadata=self._metadata):  # fmt: skip
                parts.append(part.chunk)
        except grpc.RpcError as error:
            raise errors.error_of(error, self.address) from None
        data = b"".join(parts)
        if len(data) != nbytes:
            raise errors.InternalError(f"server {self.address} sent {len(data)} bytes of a buffer of {nbytes}")
        return data

    def release(self, buffer: str) -> None:
        """The buffer is freed soon, along with others."""
        self._released.append(buffer)
        self._wake.set()

    def _free_released(self) -> None:
        while self._released:
            batch = [self._released.popleft() for _ in range(min(len(self._released), _RELEASE_BATCH))]
            self.call("FreeBuffers", service.FreeBuffersRequest(buffers=batch), timeout=SHORT_CALL_SECONDS)

    def _renew(self) -> None:
        self.call("Renew", service.RenewRequest(), timeout=SHORT_CALL_SECONDS)


def _keep(session: weakref.ref[Session], wake: threading.Event, lease_seconds: int) -> None:
    """The keeper: holds no reference to the session while it waits, so that one that nobody needs goes."""
    renew_at = time.monotonic() + lease_seconds * 2 / 3
    while True:
        wake.wait(timeout=max(0.0, renew_at - time.monotonic()))
        if wake.is_set():
            time.sleep(_RELEASE_DELAY_SECONDS)  # for others that die with it
            wake.clear()
        own = session()
        if own is None:
            return
        try:
            own._free_released()
            if own.closed:
                return
            if time.monotonic() >= renew_at:
                own._renew()
        except (errors.UopdError, ValueError):
            # A lost lease frees the buffers too, and the next call of the user says what is wrong.
            if own.closed:
                return
        if time.monotonic() >= renew_at:
            renew_at = time.monotonic() + lease_seconds * 2 / 3
        del own
