"""The wire under the provider's library: pinned to an address, capped in bytes, without redirects or compression.

What it stops it remembers: the libraries above turn every failure into their own.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Sequence
from functools import cache

import httpx2

MOST_BYTES = 4_000_000
_CONNECT = 10.0


@cache
def _certificates() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


class GuardedTransport(httpx2.AsyncBaseTransport):
    """`why` is set when it stopped something itself; `began` when a reply had begun to arrive."""

    def __init__(self, addresses: Sequence[str], most_bytes: int = MOST_BYTES) -> None:
        self._addresses = addresses
        self._most_bytes = most_bytes
        self._inner = httpx2.AsyncHTTPTransport(verify=_certificates())
        self.why: str | None = None
        self.began = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["Accept-Encoding"] = "identity"
        response = await self._sent(request)
        if response.is_redirect or 300 <= response.status_code < 400:
            await self._refuse(response, request, "the endpoint wants to send us elsewhere")
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            await self._refuse(response, request, "the reply is compressed, which was not asked for")
        self.began = response.is_success
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        response.stream = _Counted(stream, self, request)
        return response

    async def _sent(self, request: httpx2.Request) -> httpx2.Response:
        """Try each address in turn. The name stays in the Host header and in the certificate's check."""
        name = request.url.host
        timeouts = dict(request.extensions.get("timeout", {}))
        extensions = {"sni_hostname": name, "timeout": timeouts | {"connect": _CONNECT}}
        for place, address in enumerate(self._addresses, 1):
            request.url = request.url.copy_with(host=address)
            request.extensions = {**request.extensions, **extensions}
            try:
                return await self._inner.handle_async_request(request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                if place == len(self._addresses):
                    raise
        raise AssertionError("there is always an address")  # pragma: no cover

    async def _refuse(self, response: httpx2.Response, request: httpx2.Request, why: str) -> None:
        await response.aclose()
        self.stop(why, request)

    def stop(self, why: str, request: httpx2.Request) -> None:
        self.why = why
        raise httpx2.ReadError(why, request=request)

    @property
    def most_bytes(self) -> int:
        return self._most_bytes

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Counted(httpx2.AsyncByteStream):
    """A body that is given up once it is too long. Nothing above has to hold more than that."""

    def __init__(self, inner: httpx2.AsyncByteStream, guard: GuardedTransport, request: httpx2.Request) -> None:
        self._inner = inner
        self._guard = guard
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for piece in self._inner:
            length += len(piece)
            if length > self._guard.most_bytes:
                self._guard.stop(f"the reply is longer than {self._guard.most_bytes:,} bytes", self._request)
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()
