from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from bot.service.client import Client
from bot.service.filters import IssueFilters
from bot.service.inputs import CustomFieldInput, NewIssue
from bot.service.models import Issue, Ref
from tests.contract.world import World


def name(ref: Ref | None) -> str | None:
    return ref.name if ref else None


async def read_back(client: Client, world: World, number: int) -> Issue:
    return (await client.list_issues(world.key("chris"), IssueFilters(issue_ids=(number,)))).items[0]


async def test_created_issues_match_the_request(client: Client, world: World) -> None:
    before = datetime.now(UTC) - timedelta(seconds=2)
    parent = await client.create_issue(
        world.key("ana"),
        NewIssue(project_id=world.project("public"), subject="Coupons", tracker_id=world.trackers["Feature"]),
    )

    made = await client.create_issue(
        world.key("ana"),
        NewIssue(
            project_id=world.project("public"),
            subject="Coupons are counted twice",
            description="Steps:\n\n1. Pay with “two” coupons 🙂",
            tracker_id=world.trackers["Bug"],
            priority_id=world.priorities["Urgent"],
            category_id=world.categories["Checkout"],
            fixed_version_id=world.versions["2.0"],
            assigned_to_id=world.users["ben"],
            parent_issue_id=parent.id,
            start_date=date(2024, 6, 3),
            due_date=date(2024, 6, 7),
            done_ratio=30,
            estimated_hours=Decimal("1.25"),
            custom_fields=(
                CustomFieldInput(id=world.custom_fields["Severity"], value="critical"),
                CustomFieldInput(id=world.custom_fields["Environment"], value="live"),
            ),
        ),
    )

    for issue in (made, await read_back(client, world, made.id)):
        assert issue.subject == "Coupons are counted twice"
        assert issue.description == "Steps:\r\n\r\n1. Pay with “two” coupons 🙂"
        refs = (issue.project, issue.tracker, issue.priority, issue.status, issue.category)
        assert [name(ref) for ref in refs] == ["Web Shop", "Bug", "Urgent", "New", "Checkout"]
        named = (issue.fixed_version, issue.author, issue.assigned_to)
        assert [name(ref) for ref in named] == ["2.0", "Ana Ruiz", "Ben Okafor"]
        assert issue.parent is not None
        assert issue.parent.id == parent.id
        assert (issue.start_date, issue.due_date) == (date(2024, 6, 3), date(2024, 6, 7))
        assert (issue.done_ratio, issue.estimated_hours) == (30, Decimal("1.25"))
        custom = {field.name: field.value for field in issue.custom_fields}
        assert custom == {"Severity": "critical", "Environment": "live"}
        assert issue.created_on is not None
        assert issue.created_on > before
        assert issue.closed_on is None
