"""How is a model asked, so that nothing leaves without consent, within the budget, and on the ledger?"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from regreen.llm import structured
from regreen.llm.book import Rendered
from regreen.llm.budget import Purse
from regreen.llm.masking import Masker, total
from regreen.llm.parts import ModelParts, Sending
from regreen.llm.problems import FALLBACK, sentence
from regreen.platform.background import run_blocking
from regreen.platform.waiting import uninterrupted
from regreen.ports import Clock
from regreen.settings import Settings
from regreen.values import (
    CallRecord,
    Message,
    ModelCall,
    ModelInfo,
    ModelProblem,
    ModelReply,
    Project,
    Role,
    SentRange,
)

UNKNOWN_CONTEXT = 8192
"""How many tokens a model is taken to read whose context window nobody knows."""

PROMPT_TOKENS = 12_000
"""The most that a prompt has, however much a model would take: what it is asked is one small thing."""

REPLY_TOKENS = {
    Role.DEBUGGER: 1500,
    Role.REPAIRER: 4000,
    Role.CRITIC: 1000,
    Role.SUMMARISER: 800,
    Role.JUDGE: 1000,
}
CALL_SECONDS = 120.0
RETRIES = 1
"""How often a call is made again that broke: each may be charged, so each is reserved."""

BUDGET, INFRASTRUCTURE, REFUSED = "budget", "infrastructure", "refused"
"""Reasons of a `Stop`."""

PARTLY = frozenset({ModelProblem.TRUNCATED})
"""Problems with which there is a reply all the same, which says by itself what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Why no model is asked any more. `reason`: "budget" | "infrastructure" | "refused"; `text`: for people."""

    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """A reply.

    Args:
        degraded: another model than the first gave it, or it had to be salvaged or asked for twice.
        value: what it says, where a structured one was asked for and it is one.
        refusal: why it is none, in words for the model.
    """

    reply: ModelReply
    degraded: bool = False
    value: Any = None
    refusal: str = ""


class Desk:
    """Asks models on behalf of one heal.

    Args:
        parts: what the questions stand on.
        project: whose code they are about.
        settings: models, limits and budgets.
        heal: the id of the heal.
        clock: what the time that models are at work is counted by.
        model: asked instead of the one of the settings; "" for that.
    """

    def __init__(
        self,
        parts: ModelParts,
        project: Project,
        settings: Settings,
        heal: str,
        clock: Clock,
        model: str = "",
    ) -> None:
        self.parts = parts
        self.heal = heal
        self.settings = settings
        self.purse = Purse(parts.journal, settings, clock, heal)
        self.round = 0
        self._project = project
        self._model = model or settings.llm_model
        self._masker = Masker()
        self._infos: dict[str, ModelInfo] = {}
        self._asking = asyncio.Lock()
        self._allowed: dict[tuple[str, str], bool] = {}

    @property
    def model(self) -> str:
        """The model that is asked first."""
        return self._model

    async def count(self, text: str) -> int:
        """How many tokens a text is for the model that is asked first."""
        return await self.parts.client.count(self._model, [Message("user", text)])

    async def room(self, role: Role) -> int:
        """How many tokens a prompt for a role may have."""
        info = await self._info(self._models(role)[0])
        context = self.settings.llm_context or info.context or UNKNOWN_CONTEXT
        return max(500, min(PROMPT_TOKENS, context - self._reply_tokens(role) - context // 20))

    async def ask(
        self, role: Role, purpose: str, values: Mapping[str, Any], ranges: Sequence[SentRange] = ()
    ) -> Said | Stop:
        """Ask once, with fallbacks.

        Args:
            role: as what.
            purpose: what for, within the role; for the journal.
            values: of the prompt, see `book.VALUES`.
            ranges: the parts of the user's files in it.

        Returns:
            The reply, also one that is not whole: then `Said.reply.problem` says why.
        """
        rendered = self.parts.book.render(role, **values)
        masked = [self._masker.mask(one.text) for one in rendered.messages]
        messages = tuple(
            replace(one, text=said.text) for one, said in zip(rendered.messages, masked, strict=True)
        )
        stop = Stop(INFRASTRUCTURE, "No model is set (`regreen.llm.model`).")
        for place, model in enumerate(self._models(role)):
            info = await self._info(model)
            question = _Question(
                role, purpose, rendered, messages, total(masked), tuple(ranges), degraded=place > 0
            )
            answer = await self._ask(question, info)
            if isinstance(answer, Stop):
                return answer
            if answer.problem is None or answer.problem in PARTLY:
                return Said(answer, degraded=place > 0 or answer.problem is not None)
            stop = Stop(INFRASTRUCTURE, " ".join(sentence(answer.problem, info)))
            if answer.problem not in FALLBACK:
                break
        return stop

    async def ask_for(
        self, role: Role, purpose: str, values: Mapping[str, Any], ranges: Sequence[SentRange] = ()
    ) -> Said | Stop:
        """Ask for a structured reply; one that is none is asked for once more, with what was wrong.

        Returns:
            A `Said` with the `value`; None there when the second reply was no better.
        """
        schema = self.parts.book.schema(role)
        if schema is None:
            raise ValueError(f"the prompt of the {role.value} asks for no structured reply")
        said = self._parsed(await self.ask(role, purpose, values, ranges), schema)
        if isinstance(said, Stop) or said.value is not None:
            return said
        mended = {**values, "again": {"reply": said.reply.text, "problem": said.refusal}}
        second = self._parsed(await self.ask(role, f"{purpose}, asked again", mended, ranges), schema)
        return second if isinstance(second, Stop) else replace(second, degraded=True)

    @staticmethod
    def _parsed(said: Said | Stop, schema: Mapping[str, Any]) -> Said | Stop:
        if isinstance(said, Stop):
            return said
        truncated = said.reply.problem is ModelProblem.TRUNCATED
        parsed = structured.parse(said.reply.text, schema, truncated=truncated)
        if isinstance(parsed, structured.Structured):
            return replace(said, value=parsed.value, degraded=said.degraded or parsed.degraded)
        return replace(said, refusal=parsed.text)

    # ------------------------------------------------------------------ one call

    async def _ask(self, question: _Question, info: ModelInfo) -> ModelReply | Stop:
        if info.problem is not None:
            return ModelReply(problem=info.problem, detail=info.detail)
        if self.settings.llm_mode == "localOnly" and not info.local:
            return Stop(
                REFUSED,
                f"{info.model} is not on this machine, and `regreen.llm.mode` allows only those that are.",
            )
        call = self._call(question, info)
        tokens = await self.parts.client.count(info.model, call.messages)
        refusal = await self._consent(info, call, tokens)
        if refusal is not None:
            return refusal
        reserved = await self.purse.reserve(info, tokens, call.max_tokens, tries=call.retries + 1)
        if isinstance(reserved, str):
            return Stop(BUDGET, reserved)
        reply = ModelReply(problem=ModelProblem.WORKER, detail="cancelled")
        try:
            reply = await self.parts.client.complete(
                replace(call, seconds=min(call.seconds, reserved.seconds))
            )
        finally:  # also what nobody waits for any more has left, and may cost
            await self._record(question, info, call, reply)
            await self.purse.settle(reserved, reply)
        if reply.problem is ModelProblem.TIMEOUT and reserved.seconds < call.seconds:
            return Stop(
                BUDGET,
                f"{info.model} had not answered when the time for this test was up; "
                f"regreen.budget.maxSeconds allows {self.settings.budget_seconds:g} s.",
            )
        return reply

    def _call(self, question: _Question, info: ModelInfo) -> ModelCall:
        wanted = self.settings.llm_roles.get(question.role.value, {})
        base_url, key_variable = self._access(info.model)
        return ModelCall(
            model=info.model,
            messages=question.messages,
            max_tokens=self._reply_tokens(question.role),
            seconds=wanted.get("seconds", CALL_SECONDS),
            temperature=wanted.get("temperature"),
            schema=question.rendered.schema,
            base_url=base_url,
            key_variable=key_variable,
            context=self.settings.llm_context or info.context or UNKNOWN_CONTEXT,
            retries=RETRIES,
        )

    async def _record(self, question: _Question, info: ModelInfo, call: ModelCall, reply: ModelReply) -> None:
        record = CallRecord(
            heal=self.heal,
            round=self.round,
            role=question.role,
            purpose=question.purpose,
            info=info,
            prompt=call.messages,
            reply=reply,
            prompt_version=question.rendered.version,
            ranges=question.ranges,
            masked=question.masked,
            degraded=question.degraded,
        )
        await uninterrupted(run_blocking(self.parts.journal.record_call, self._project, record))

    async def _consent(self, info: ModelInfo, call: ModelCall, tokens: int) -> Stop | None:
        """Ask the user before anything is sent to this model for the first time."""
        key = (info.model, info.address)
        folder = self._project.workspace
        async with self._asking:  # several calls at once are one question
            if key not in self._allowed:
                self._allowed[key] = await self._allowed_by_user(info, call, tokens)
        if self._allowed[key]:
            return None
        return Stop(
            REFUSED,
            f"Nothing was sent to {info.model}: you have not allowed it for {folder}. Allow it when you are asked, "
            "or with `regreen heal --consent`; `regreen consent list` shows what you have said.",
        )

    async def _allowed_by_user(self, info: ModelInfo, call: ModelCall, tokens: int) -> bool:
        folder, store = self._project.workspace, self.parts.consents
        each_time = self.settings.llm_mode == "askEachTime"
        known = await run_blocking(store.answer, folder, info.model, info.address)
        if known == "refused" or (known == "allowed" and not each_time):
            return known == "allowed"
        price = info.price(tokens, call.max_tokens)
        said = await self.parts.person.may_send(
            Sending(folder, info, call.messages, tokens, price, self.settings.budget_fix_usd)
        )
        if said is False:
            await run_blocking(store.refuse, folder, info.model, info.address)
        elif said and not each_time and self.parts.person.remembers:
            await run_blocking(store.allow, folder, info.model, info.address)
        return bool(said)

    # ------------------------------------------------------------------ what is asked

    def _models(self, role: Role) -> tuple[str, ...]:
        wanted = self.settings.llm_roles.get(role.value, {})
        first = wanted.get("model", self._model)
        return tuple(dict.fromkeys((first, *wanted.get("fallbacks", self.settings.llm_fallbacks))))

    def _reply_tokens(self, role: Role) -> int:
        wanted = self.settings.llm_roles.get(role.value, {})
        limit = (self.settings.llm_context or 1 << 30) // 3
        return min(int(wanted.get("maxTokens", REPLY_TOKENS[role])), max(256, limit))

    def _access(self, model: str) -> tuple[str, str]:
        """Address and key that the settings name are those of their model's provider: no other one gets to see them."""
        same = model.partition("/")[0] == self.settings.llm_model.partition("/")[0]
        return (self.settings.llm_base_url, self.settings.llm_key_variable) if same else ("", "")

    async def _info(self, model: str) -> ModelInfo:
        if model not in self._infos:
            self._infos[model] = await self.parts.client.describe(model, *self._access(model))
        return self._infos[model]


@dataclass(frozen=True, slots=True)
class _Question:
    """One prompt, rendered and masked."""

    role: Role
    purpose: str
    rendered: Rendered
    messages: tuple[Message, ...]
    masked: Mapping[str, int]
    ranges: tuple[SentRange, ...]
    degraded: bool
