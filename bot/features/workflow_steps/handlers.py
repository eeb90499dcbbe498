"""Runs the steps that workflows execute, each once, for the person for whom Slack says that it runs.

A step's texts come from forms that anybody may fill in: they become plain text in the service.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import structlog

from bot.errors import BotError, KeyRejected, NotLinked, UserError
from bot.features.accounts.views import link_offer
from bot.features.comments.comments import Comment, Comments, CommentUnconfirmed, unconfirmed
from bot.features.files.selections import new_batch
from bot.features.issues.creating import IssueCreator
from bot.features.issues.fields import Draft
from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature, On
from bot.slack.language.values import issue_number, own_text
from bot.slack.outgoing.messages import names_in
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import JSON, shortened
from bot.slack.surfaces.interaction import Event
from bot.slack.surfaces.manifest import ACT_AS, USER_CONTEXT
from bot.slack.text.mrkdwn import prose, without_keys
from bot.slack.text.to_service import FORMATS, inert, to_plain
from bot.slack.workspaces.slack_errors import EXECUTION_OVER, SLACK_FAILED, reason, why

SECONDS_TO_WORK = 50.0  # how long a step may work: Slack gives up after a minute
AGAIN = "Check whether it went through before you run the workflow again."
SUBJECT_LENGTH, SENTENCE_LENGTH = 255, 1000

log = structlog.get_logger(__name__)

WorkflowStep = Callable[[Reply, JSON, datetime | None], Awaitable[JSON]]
"""Does the work with the inputs, and returns the outputs; looks first if it was tried before."""


class WorkflowSteps:
    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.creator, self.comments = parts.shared(IssueCreator), parts.shared(Comments)
        self.steps: dict[str, WorkflowStep] = {
            "create_issue": self._create,
            "comment_on_issue": self._comment,
        }

    def feature(self) -> Feature:
        return Feature(events={"function_executed": On(self.executed, resumed=True)})

    async def executed(self, event: Event, reply: Reply) -> None:
        """Run a step once for each execution, and tell Slack how it ended."""
        execution = event.event["function_execution_id"]
        step = self.steps.get(event.event["function"]["callback_id"])
        if step is None:
            return
        key, failure = f"step:{reply.owner.team_id}:{execution}", None
        async with self.parts.store.claims.hold(key, unknown_after=SLACK_FAILED) as claim:
            if claim.won:
                failure = await self._answered(step, event, reply, claim.tried_at)
        if failure:
            raise failure

    async def _answered(
        self, step: WorkflowStep, event: Event, reply: Reply, tried_at: datetime | None
    ) -> Exception | None:
        """Run a step and tell Slack how it ended; returns why it failed."""
        slack, execution = reply.slack, event.event["function_execution_id"]
        try:
            async with asyncio.timeout(SECONDS_TO_WORK):
                outputs = await self._run(step, event, reply, tried_at)
        except Exception as error:  # noqa: BLE001 - it is returned
            problem = _sentence(error, reply)
            await self._answer(slack.functions_completeError, execution, error=problem)
            return error
        await self._answer(slack.functions_completeSuccess, execution, outputs=outputs)
        return None

    async def _run(self, step: WorkflowStep, event: Event, reply: Reply, tried_at: datetime | None) -> JSON:
        inputs = event.event.get("inputs") or {}
        reply.owner = owner = replace(reply.owner, user_id=_actor(event.event["function"], inputs))
        # They may have left since the workflow began: if Slack says so, their key is deleted.
        profile = await reply.platform.profiles.of(reply.slack, owner.team_id, owner.user_id, fresh=True)

        try:
            return await step(reply, inputs, tried_at)
        except KeyRejected:  # it may be for a moment, and the sentence says what to do
            raise
        except NotLinked as error:
            if not profile.works_with(owner):
                raise UserError(
                    "Only people in this company can use this step. If you're one of them, link your account "
                    "with `{/tracker} link`, then run the workflow again."
                ) from error
            service = reply.wording.service
            text = f"A workflow tried to run a step for you in {service}. {reply.wording.sentence(error)}"
            await self.parts.platform.posts.tell(owner, link_offer(text))
            raise UserError(
                "{why} Use the button in the direct message I sent you, then run the workflow again.",
                why=reply.wording.sentence(error),
            ) from error

    async def _create(self, reply: Reply, inputs: JSON, tried_at: datetime | None) -> JSON:
        project = _text(inputs, "project")
        if not project:
            raise UserError("The step has no project. Add one in the workflow.")
        named, described = _text(inputs, "subject"), _text(inputs, "description")
        plain = await asyncio.to_thread(to_plain, named, await names_in(reply, named))
        subject = " ".join(plain.split())
        if not subject:
            raise UserError("The step has no subject. Add one in the workflow.")

        if len(subject) > SUBJECT_LENGTH:
            described = f"{named}\n\n{described}".rstrip()
        values = {"desc": await _inert(reply, described)}
        values |= {key: _text(inputs, key) for key in ("tracker", "priority")}
        draft = Draft(subject=shortened(subject, SUBJECT_LENGTH), project=project, values=values)
        made = await self.creator.create(reply.owner, draft, None, tried_at)
        return _outputs(reply, made.issue.id)

    async def _comment(self, reply: Reply, inputs: JSON, tried_at: datetime | None) -> JSON:
        named, text = _text(inputs, "issue"), _text(inputs, "text")
        if (number := issue_number(own_text(named, reply.wording.base_url))) is None:
            raise UserError("The step has no issue number. Add one in the workflow, such as 42.")
        if not text:
            raise UserError("The step has no comment. Add one in the workflow.")
        comment = Comment(await _inert(reply, text), since=tried_at)
        try:
            await self.comments.add(reply.owner, number, comment, new_batch(None))
        except CommentUnconfirmed:  # another run of the workflow won't know of this one
            raise unconfirmed(number, None) from None
        return _outputs(reply, number)

    async def _answer(
        self, complete: Callable[..., Awaitable[object]], execution: str, **how: object
    ) -> None:
        """Tell Slack how a step ended, which is safe to repeat. Raises what Slack's client raises."""
        for pause in (*self.parts.delays.lookups, None):
            try:
                await complete(function_execution_id=execution, **how)
            except SLACK_FAILED as error:
                if reason(error) in EXECUTION_OVER:
                    return
                log.warning("step not answered", action="step.not_answered", error=why(error))
                if pause is None:
                    raise
                await asyncio.sleep(pause)
            else:
                return


def _sentence(error: Exception, reply: Reply) -> str:
    """What Slack shows of a failed step."""
    if isinstance(error, BotError):
        return shortened(prose(without_keys(reply.wording.sentence(error))), SENTENCE_LENGTH)
    if isinstance(error, TimeoutError):
        return f"{reply.wording.service} is too slow right now. {AGAIN}"
    return f"Something went wrong on my end. {AGAIN}"


def _actor(function: JSON, inputs: JSON) -> str:
    """The Slack user for whom a step runs. Raises UserError unless Slack itself says who that is.

    The builder of a workflow can put anybody's ID into any other kind of input.
    """
    declared: list[dict[str, Any]] = function.get("input_parameters") or []
    kind = next((each.get("type") for each in declared if each.get("name") == ACT_AS), None)
    given = inputs.get(ACT_AS)
    if kind != USER_CONTEXT or not isinstance(given, dict) or not (given.get("id") and given.get("secret")):
        raise UserError(
            "I can't tell who this step acts for. Start the workflow with something a person does, such as "
            "choosing a link or a button."
        )
    return str(given["id"])


def _text(inputs: JSON, name: str) -> str:
    value = inputs.get(name)
    return str(value).strip() if isinstance(value, str | int) else ""


async def _inert(reply: Reply, text: str) -> str:
    """A stranger's text for the service."""
    to = FORMATS[reply.wording.text_format]
    return await asyncio.to_thread(inert, text, await names_in(reply, text), to)


def _outputs(reply: Reply, number: int) -> JSON:
    return {"issue_number": number, "issue_link": reply.wording.url(number)}
