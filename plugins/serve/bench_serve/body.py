"""Limit the size of request bodies and the time that they take to arrive."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.responses import JSONResponse

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


class LimitedBody:
    """ASGI middleware that reads a request's body before the application runs.

    It answers 413 when the body is too large and 408 when it takes too long. A client that leaves gets no answer.

    Args:
        app: the application.
        size: the largest size, in bytes.
        seconds: the longest time that a body may take to arrive, in seconds.
    """

    def __init__(self, app: App, size: int, seconds: float) -> None:
        self.app, self.size, self.seconds = app, size, seconds

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body, more = bytearray(), True
        try:
            async with asyncio.timeout(self.seconds):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return
                    body += message.get("body", b"")
                    more = message.get("more_body", False)
                    if len(body) > self.size:
                        text = f"the body is larger than {self.size} bytes"
                        await JSONResponse({"detail": text}, 413, {"Connection": "close"})(scope, receive, send)
                        return
        except TimeoutError:
            text = f"the body did not arrive within {self.seconds:g} s"
            await JSONResponse({"detail": text}, 408, {"Connection": "close"})(scope, receive, send)
            return
        first = True

        async def replay() -> Message:
            nonlocal first
            if first:
                first = False
                return {"type": "http.request", "body": bytes(body), "more_body": False}
            return await receive()

        await self.app(scope, replay, send)
