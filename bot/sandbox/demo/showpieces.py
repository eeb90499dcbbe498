"""Two issues with fixed numbers, which the local Slack's messages and examples refer to."""

from datetime import datetime, timedelta

from bot.sandbox.demo.company import BROWSERS, CUSTOMER, user_of
from bot.sandbox.demo.harbor import HARBOR, WEBSHOP
from bot.sandbox.people import ANA, BEN, DANA
from bot.sandbox.tracker.data import Data, Issue, put
from bot.sandbox.tracker.defaults import BUG, FEATURE, HIGH, IN_PROGRESS, NEW, NORMAL, TASK

INVOICE, GIFT_CARDS = 12, 42


def add_showpiece(data: Data, number: int, created: datetime, now: datetime) -> None:
    """Add the fixed issue with this number, and its subtasks on the next ones; ignore other numbers."""
    if number == INVOICE:
        _invoice(data, created, now)
    elif number == GIFT_CARDS:
        _gift_cards(data, created, now)


def _invoice(data: Data, created: datetime, now: datetime) -> None:
    issue = _put(data, INVOICE, BUG, "Delivery costs differ between cart and invoice", created)
    issue.description = HARBOR.invoice.replace("\n", "\r\n")
    issue.category_id = _named(data, "Checkout")
    issue.priority_id, issue.status_id, issue.done_ratio = HIGH, IN_PROGRESS, 40
    issue.assigned_to_id, issue.estimated_hours = user_of(data, ANA).id, 8.0
    issue.due_date, issue.updated_on = (now + timedelta(days=5)).date(), now - timedelta(hours=20)
    issue.custom = {CUSTOMER: "K-20417", BROWSERS: ["Chrome", "Safari"]}


def _gift_cards(data: Data, created: datetime, now: datetime) -> None:
    issue = _put(data, GIFT_CARDS, FEATURE, "Gift cards that are sent by mail", created)
    issue.description = HARBOR.gift_cards.replace("\n", "\r\n")
    issue.category_id = _named(data, "Payments")
    issue.version_id = next(v.id for v in data.versions.values() if v.project_id == WEBSHOP and v.is_open)
    issue.status_id, issue.done_ratio, issue.author_id = IN_PROGRESS, 60, user_of(data, DANA).id
    issue.assigned_to_id, issue.estimated_hours = user_of(data, ANA).id, 24.0
    issue.due_date, issue.updated_on = (now + timedelta(days=12)).date(), now - timedelta(hours=27)
    issue.watcher_ids = {user_of(data, BEN).id}
    for number, subject in enumerate(("Draw the card", "Send it at the chosen hour"), GIFT_CARDS + 1):
        child = _put(data, number, TASK, subject, created + timedelta(minutes=number))
        child.parent_id, child.category_id, child.estimated_hours = GIFT_CARDS, issue.category_id, 6.0


def _put(data: Data, number: int, tracker_id: int, subject: str, created: datetime) -> Issue:
    row = Issue(
        id=number,
        project_id=WEBSHOP,
        tracker_id=tracker_id,
        status_id=NEW,
        priority_id=NORMAL,
        author_id=user_of(data, BEN).id,
        subject=subject,
        start_date=created.date(),
        created_on=created,
        updated_on=created,
    )
    return put(data.issues, row)


def _named(data: Data, name: str) -> int:
    rows = data.categories.values()
    return next(c.id for c in rows if c.project_id == WEBSHOP and c.name == name)
