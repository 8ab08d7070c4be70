"""The HTTP interface of a policy: open a session, give values, get the next features with prices, get the answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le, MaxLen
from fastapi import FastAPI, HTTPException, Path, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints, model_validator
from starlette.middleware.trustedhost import TrustedHostMiddleware
from swagger_ui_bundle import swagger_ui_path

from bench_core import BenchError, RequestError, __version__, did_you_mean
from bench_serve.body import LimitedBody
from bench_serve.live import FittedPolicy, FullError, Limits, Live, Opened

_Name = Annotated[str, StringConstraints(min_length=1, max_length=500)]
_Text = Annotated[str, StringConstraints(strict=True, max_length=1000)]
_Whole = Annotated[int, Field(strict=True), Ge(-(2**53)), Le(2**53)]
_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Values = Annotated[dict[_Name, StrictBool | _Whole | _Number | _Text | None], MaxLen(10_000)]
"""Values by feature: a number, the name of a category, or null for a missing value."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, body: Any) -> Any:
        for key in body if isinstance(body, dict) else ():
            if key not in cls.model_fields:
                raise RequestError(f"body: there is no key {key[:80]!r}; {did_you_mean(key[:80], cls.model_fields)}")
        return body


class Opening(_Body):
    """The body of a request that opens a session."""

    known: Values = Field(default={}, description="Values that are already known; they cost nothing.")
    size: Annotated[float, Ge(0), Field(allow_inf_nan=False)] | None = Field(
        None, description="The item's size, where prices depend on it."
    )


class Giving(_Body):
    """Values of wanted features."""

    values: Values


class Wanted(BaseModel):
    """A feature to acquire next."""

    feature: str
    price: float = Field(description="The price of the first feature of a group includes the group's price.")


class Answer(BaseModel):
    """The answer of a session."""

    label: str | None = Field(description="The answered class; null where the answer is refused, and for regression.")
    refused: bool
    best: str | None = Field(description="The answer, even where it is refused; null for regression.")
    confidence: float | None = Field(description="The probability of `best`; null for regression.")
    probabilities: dict[str, float]
    value: float | None = Field(description="The predicted value for regression; null for classes.")


class State(BaseModel):
    """The state of a session."""

    session: str = Field(description="The session's secret name.")
    wanted: list[Wanted] = Field(description="Features to acquire next; empty once there is an answer.")
    cost: float = Field(description="What was paid in this session; values that were known at its start are free.")
    answer: Answer | None
    expires_in: float = Field(description="Seconds without use after which the session expires.")


class Feature(BaseModel):
    """A feature of the policy."""

    name: str
    price: float | None = Field(description="Its price when bought alone; null where it depends on the item's size.")
    categories: list[str] | None


class Described(BaseModel):
    """The policy that this server uses."""

    method: str
    task: str
    classes: list[str]
    features: list[Feature]
    sizes: bool = Field(description="Whether prices depend on the item's size.")


class Refusal(BaseModel):
    """Why a request was refused."""

    detail: str


_ID = Annotated[str, Path(max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
_REFUSED: dict[int | str, dict[str, Any]] = {
    404: {"model": Refusal, "description": "No such session, or it has expired"},
    413: {"model": Refusal, "description": "The body is too large"},
    422: {"model": Refusal, "description": "A value or a name is invalid"},
    503: {"model": Refusal, "description": "All sessions are in use"},
}


def create_app(
    policy: FittedPolicy, limits: Limits | None = None, hosts: Iterable[str] = ("localhost", "127.0.0.1")
) -> FastAPI:
    """Return the ASGI application that serves a fitted policy.

    Handlers run one after the other in the event loop, so sessions need no locks. Sessions live in this process: run
    one worker.

    Args:
        policy: a fitted policy (`bench_core.load_policy`).
        limits: limits of sessions and bodies.
        hosts: names in the Host header that are served; ``*`` for all.
    """
    limits = limits or Limits()
    live = Live(policy, limits)
    app = FastAPI(
        title="budgetbench policy",
        summary="Asks for one feature after the other, until no further feature is worth its price.",
        version=__version__,
        docs_url=None,
        redoc_url=None,
    )
    app.mount("/static", StaticFiles(directory=swagger_ui_path), name="static")
    app.add_middleware(LimitedBody, size=limits.body, seconds=limits.body_seconds)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    described = describe(policy)

    def state(name: str, opened: Opened) -> State:
        wanted, cost, answer = opened.state()
        return State(
            session=name,
            wanted=[Wanted(feature=feature, price=price) for feature, price in wanted],
            cost=cost,
            answer=None if answer is None else _answer(answer),
            expires_in=limits.seconds,
        )

    def found(session: str) -> Opened:
        try:
            return live.get(session)
        except KeyError:
            raise HTTPException(404, "there is no such session, or it has expired") from None

    @app.get("/policy", summary="Describe the policy")
    async def read_policy() -> Described:
        return described

    @app.post("/sessions", status_code=201, responses=_REFUSED, summary="Open a session")
    async def open_session(opening: Opening) -> State:
        return state(*live.open(opening.known, opening.size))

    @app.get("/sessions/{session}", responses=_REFUSED, summary="Get the state of a session")
    async def read_session(session: _ID) -> State:
        return state(session, found(session))

    @app.post("/sessions/{session}/values", responses=_REFUSED, summary="Give values of wanted features")
    async def give_values(session: _ID, giving: Giving) -> State:
        opened = found(session)
        opened.give(giving.values)
        return state(session, opened)

    @app.delete("/sessions/{session}", status_code=204, responses=_REFUSED, summary="Close a session")
    async def close_session(session: _ID) -> Response:
        found(session)
        live.close(session)
        return Response(status_code=204)

    @app.get("/", include_in_schema=False)
    async def start() -> RedirectResponse:
        return RedirectResponse("/docs")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return get_swagger_ui_html(
            openapi_url="/openapi.json",
            title=app.title,
            swagger_js_url="/static/swagger-ui-bundle.js",
            swagger_css_url="/static/swagger-ui.css",
            swagger_favicon_url="/static/favicon-32x32.png",
        )

    @app.exception_handler(BenchError)
    async def refused(request: Request, error: BenchError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, 422)

    @app.exception_handler(FullError)
    async def full(request: Request, error: FullError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, 503, {"Retry-After": f"{error.seconds:.0f}"})

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        found = error.errors()
        first = next((one for one in found if one["type"] == "finite_number"), found[0])
        place, words = first["loc"], first["msg"]
        if len(found) > 1 and len({one["loc"][:-1] for one in found}) == 1:  # every kind of value was tried
            place = place[:-1]
            if first["type"] != "finite_number":
                words = "Input should be a number, a text, true, false or null"
        return JSONResponse({"detail": f"{'.'.join(str(part)[:80] for part in place)}: {words}"}, 422)

    return app


def describe(policy: FittedPolicy) -> Described:
    """Return the description of a fitted policy."""
    alone = np.eye(len(policy.feature_names), dtype=bool)
    sizes = policy.costs.depends_on_size
    prices = [None] * len(alone) if sizes else policy.costs.bill(alone, None).tolist()
    return Described(
        method=str(policy.about.get("method", "")),
        task=policy.task,
        classes=list(policy.classes),
        features=[
            Feature(name=name, price=price, categories=_categories(policy, number))
            for number, (name, price) in enumerate(zip(policy.feature_names, prices, strict=True))
        ],
        sizes=sizes,
    )


def _categories(policy: FittedPolicy, number: int) -> list[str] | None:
    return policy.shown_categories(number) or None


def _answer(answer: Any) -> Answer:
    return Answer(
        label=answer.label,
        refused=answer.refused,
        best=answer.best,
        confidence=answer.probability,
        probabilities=dict(answer.probabilities),
        value=answer.value,
    )
