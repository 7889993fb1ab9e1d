"""Python SDK of Lodge: AI agents, each in a virtual machine of its own.

`Lodge` is the client; `AsyncLodge` is the same for asyncio.
"""

from . import models, params
from ._async.files import AsyncFileContent
from ._async.lodge import AsyncLodge
from ._async.pages import AsyncPage, AsyncPages
from ._async.streams import AsyncStream
from ._async.ports import AsyncTunnel
from ._async.terminal import AsyncTerminal
from ._events import ExecEvent, ExecExit, ExecOutput, ResponseEvent
from ._sse import SseEvent
from ._sync.files import FileContent
from ._sync.lodge import Lodge
from ._sync.pages import Page
from ._sync.streams import Stream
from ._sync.ports import Tunnel
from ._sync.terminal import Terminal
from ._transfer import FolderProgress
from ._types import NOT_GIVEN, NotGiven, RequestOptions
from ._version import VERSION as __version__
from .errors import (
    ApiError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    ConnectionError,
    LodgeError,
    NotFoundError,
    PermissionError,
    RateLimitError,
    ReplyError,
    ServerError,
    SignatureError,
    StateError,
    TimeoutError,
    is_api_error,
)
from .webhooks import verify_webhook

__all__ = [
    "NOT_GIVEN",
    "ApiError",
    "AsyncFileContent",
    "AsyncLodge",
    "AsyncPage",
    "AsyncPages",
    "AsyncStream",
    "AsyncTerminal",
    "AsyncTunnel",
    "AuthenticationError",
    "BadRequestError",
    "ConflictError",
    "ConnectionError",
    "ExecEvent",
    "ExecExit",
    "ExecOutput",
    "FileContent",
    "FolderProgress",
    "Lodge",
    "LodgeError",
    "NotFoundError",
    "NotGiven",
    "Page",
    "PermissionError",
    "RateLimitError",
    "ReplyError",
    "RequestOptions",
    "ResponseEvent",
    "ServerError",
    "SignatureError",
    "SseEvent",
    "StateError",
    "Stream",
    "Terminal",
    "TimeoutError",
    "Tunnel",
    "__version__",
    "is_api_error",
    "models",
    "params",
    "verify_webhook",
]
