"""Builds every feature and merges their routes into one."""

from dataclasses import dataclass
from functools import partial

from bot import telemetry
from bot.features import sentences as shared_sentences
from bot.features.accounts.accounts import Accounts
from bot.features.accounts.departures import Departures
from bot.features.accounts.handlers import AccountHandlers
from bot.features.accounts.uninstall import Uninstall
from bot.features.assigned.assigned import Assignments
from bot.features.assigned.handlers import AssignedHandlers
from bot.features.comments import sentences as comment_sentences
from bot.features.comments.comments import Comments
from bot.features.comments.handlers import CommentHandlers
from bot.features.digests import sentences as digest_sentences
from bot.features.digests.delivery import Delivery
from bot.features.digests.digests import Digests
from bot.features.digests.form_handlers import DigestForms
from bot.features.digests.handlers import DigestHandlers
from bot.features.digests.poster import SlackPoster
from bot.features.digests.rows import DigestRows
from bot.features.digests.runs import DigestRuns
from bot.features.editing import sentences as editing_sentences
from bot.features.editing.editing import Editing
from bot.features.editing.handlers import EditHandlers
from bot.features.files import sentences as files_sentences
from bot.features.files.attach import Files
from bot.features.files.handlers import FileHandlers
from bot.features.files.jobs import FileJobs
from bot.features.following import sentences as following_sentences
from bot.features.following.following import Following
from bot.features.following.handlers import FollowHandlers
from bot.features.following.poster import ThreadPoster
from bot.features.following.reading import IssueReader
from bot.features.following.runs import FollowRuns
from bot.features.following.showing import Showing
from bot.features.help.handlers import HelpHandlers
from bot.features.home.handlers import HomeHandlers
from bot.features.home.home import Home
from bot.features.issues import sentences as issue_sentences
from bot.features.issues.assign import Assigning
from bot.features.issues.assign_handlers import AssignHandlers
from bot.features.issues.creating import Creating
from bot.features.issues.handlers import IssueHandlers
from bot.features.issues.issues import Issues
from bot.features.issues.publicity import Publicity
from bot.features.issues.refusals import Refusals
from bot.features.issues.updates import Updates
from bot.features.links.handlers import LinkHandlers
from bot.features.new_issue import sentences as new_issue_sentences
from bot.features.new_issue.choices import ChoiceHandlers
from bot.features.new_issue.duplicate_handlers import DuplicateHandlers
from bot.features.new_issue.duplicates import Duplicates
from bot.features.new_issue.filling import FormFilling
from bot.features.new_issue.handlers import CreateFormHandlers
from bot.features.new_issue.thread import ThreadInclusion
from bot.features.projects import sentences as project_sentences
from bot.features.projects.catalog import Catalogs
from bot.features.projects.custom_fields import CommandParser
from bot.features.projects.handlers import ProjectHandlers
from bot.features.projects.projects import Projects
from bot.features.related.handlers import RelatedHandlers
from bot.features.related.related import RelatedIssues
from bot.features.search import sentences as search_sentences
from bot.features.search.handlers import SearchHandlers
from bot.features.search.search import Search
from bot.features.templates import sentences as template_sentences
from bot.features.templates.handlers import TemplateHandlers
from bot.features.templates.templates import Templates
from bot.features.timelog import sentences as timelog_sentences
from bot.features.timelog.activities import Activities
from bot.features.timelog.entry_handlers import EntryHandlers
from bot.features.timelog.handlers import TimelogHandlers
from bot.features.timelog.own_entries import OwnEntries
from bot.features.timelog.timelog import Timelog
from bot.features.tracker import sentences as tracker_sentences
from bot.features.tracker.handlers import TrackerHandlers
from bot.features.users import sentences as user_sentences
from bot.features.users.handlers import UserHandlers
from bot.features.users.people import People
from bot.features.users.users import Users
from bot.service.client import Client
from bot.slack.buttons import DeletePost, OpenPage
from bot.slack.debounce import Debouncer
from bot.slack.failures import Failures
from bot.slack.feature import Feature, merged
from bot.slack.interaction import ButtonPress
from bot.slack.replies import Platform, Reply
from bot.slack.retractable import delete_pressed
from bot.slack.threads import Threads
from bot.slack.waits import Waits
from bot.slack.wording import Sentences
from bot.slack.workspaces import Workspaces
from bot.store.store import Store
from bot.timings import Timings

SENTENCES: tuple[Sentences, ...] = (
    comment_sentences.sentence,
    digest_sentences.sentence,
    editing_sentences.sentence,
    files_sentences.sentence,
    following_sentences.sentence,
    issue_sentences.sentence,
    new_issue_sentences.sentence,
    project_sentences.sentence,
    search_sentences.sentence,
    shared_sentences.sentence,
    template_sentences.sentence,
    timelog_sentences.sentence,
    tracker_sentences.sentence,
    user_sentences.sentence,
)
"""How each feature words its errors."""


@dataclass(frozen=True)
class Features:
    """The merged routes of all features, and the parts that run in the background."""

    routes: Feature
    failures: Failures
    home: HomeHandlers
    digest_runs: DigestRuns
    follow_runs: FollowRuns
    assigned: AssignedHandlers
    projects: Projects
    catalogs: Catalogs


async def acknowledge_link_button(_press: ButtonPress[OpenPage], _reply: Reply) -> None:
    """Do nothing. Slack opens the link itself but expects the press to be acknowledged."""


def build(
    client: Client,
    store: Store,
    workspaces: Workspaces,
    platform: Platform,
    *,
    file_hosts: frozenset[str],
    timings: Timings,
    waits: Waits,
) -> Features:
    pauses = Debouncer(waits.typing)
    departures = Departures(store, workspaces, platform.profiles)
    accounts = Accounts(client, store, timings.keys, departures.check)
    projects = Projects(client, store, accounts, waits.lookups, waits.cached)
    catalogs = Catalogs(client, projects, waits.cached)
    people = People(store, catalogs)
    issues = Issues(client, store, accounts, projects)
    publicity = Publicity(issues, timings.fresh)
    creating = Creating(client, store, accounts, projects, catalogs, people, issues, waits.lookups)
    attaching = Files(client, accounts, issues, store, waits.lookups)
    digests = Digests(client, store, accounts, projects, catalogs)
    poster = SlackPoster(platform.outbox, platform.wording)
    delivery = Delivery(client, store, accounts, poster, telemetry.digest_finished, timings)
    runs = DigestRuns(delivery, waits.digest_now)
    parser = CommandParser(accounts, projects, catalogs)

    account = AccountHandlers(accounts, store.saved_input, digests.unlinked)
    failures = Failures(store.saved_input, account)
    project = ProjectHandlers(projects, accounts, pauses)
    user = UserHandlers(Users(client, store, accounts, people))
    jobs = FileJobs(store.saved_input, file_hosts)
    files = FileHandlers(
        attaching,
        publicity,
        jobs,
        failures,
        progress_seconds=waits.progress,
    )
    home = HomeHandlers(Home(client, store, accounts))
    assigned = AssignedHandlers(
        Assignments(store, accounts, issues),
        store.assignment_messages,
        workspaces,
        platform,
        publish_home=home.refresh,
    )
    activities = Activities(client, store.time_entries, projects)
    entries = OwnEntries(client, store.time_entries, accounts, projects, activities, waits.lookups)
    tracking = Timelog(
        client, accounts, projects, issues, activities, entries, store.created_issues, waits.lookups
    )
    entry_handlers = EntryHandlers(tracking, entries, platform.audiences, store.claims, publicity)
    timelog = TimelogHandlers(
        tracking,
        store.saved_input,
        store.claims,
        entry_handlers,
        pauses,
    )
    templates = Templates(client, store, accounts, projects, catalogs=catalogs, issues=issues)
    template = TemplateHandlers(templates, accounts, projects, issues)
    reader = IssueReader(client, issues, publicity)
    showing = Showing(store.followed, ThreadPoster(workspaces, platform, publicity), timings)
    follow_runs = FollowRuns(client, store, accounts, reader, showing)
    follow = FollowHandlers(Following(accounts, store.followed, reader), publicity, store.claims)
    looking = Duplicates(client, store, issues)
    duplicates = DuplicateHandlers(looking, pauses, accounts)
    thread = ThreadInclusion(Threads(), store.saved_input, waits)
    filling = FormFilling(
        accounts,
        projects,
        catalogs,
        people,
        duplicates=duplicates,
        jobs=jobs,
        thread=thread,
        templates=templates,
        saved=store.saved_input,
    )
    create_form = CreateFormHandlers(
        accounts,
        issues,
        creating,
        publicity,
        filling,
        files=attaching,
        jobs=jobs,
        thread=thread,
        templates=templates,
        saved=store.saved_input,
        pauses=pauses,
        assigned=assigned.told,
        follow_post=follow.follow_created,
    )
    updates = Updates(client, issues, waits.lookups)
    assign = AssignHandlers(
        Assigning(accounts, issues, updates, Refusals(accounts, catalogs)),
        DigestRows(store.digests, publicity).show,
    )
    comments = CommentHandlers(
        Comments(client, accounts, issues, updates=updates, files=attaching),
        jobs,
        publicity,
        store,
        files.issue_options,
    )
    editing = Editing(accounts, issues, catalogs=catalogs, people=people, updates=updates)
    edit = EditHandlers(editing, store.saved_input, assigned.told)
    issue = IssueHandlers(
        issues,
        creating,
        publicity,
        store.claims,
        parser,
        open_create_form=create_form.open_form,
        offer_create_form=create_form.offer,
        open_files_form=files.open_form,
        comment=comments.comment,
        list_templates=template.show,
        open_template_form=template.open_new,
        from_template=templates.filled,
        change=edit.command,
        similar=looking.similar,
        assigned=assigned.told,
    )
    search = SearchHandlers(Search(client, accounts, projects, catalogs, people), parser, issue.show)
    digest_forms = DigestForms(digests, accounts, projects)
    digest = DigestHandlers(
        digests,
        runs,
        digest_forms,
        store.saved_input,
        store.claims,
        partial(home.show, shown=None, again=True),
    )
    related = RelatedHandlers(
        RelatedIssues(client, accounts, projects, issues),
        jobs,
        share=issue.share,
        create_from_message=create_form.open_for_message,
    )
    routes = merged(
        [
            issue.feature(),
            create_form.feature(),
            ChoiceHandlers(issues, accounts, projects, catalogs).feature(),
            duplicates.feature(),
            assign.feature(),
            edit.feature(),
            search.feature(),
            related.feature(),
            timelog.feature(),
            entry_handlers.feature(),
            files.feature(),
            comments.feature(),
            digest.feature(),
            digest_forms.feature(),
            TrackerHandlers(account, project, user, store.saved_input).feature(),
            account.feature(),
            departures.feature(),
            project.feature(),
            user.feature(),
            home.feature(),
            assigned.feature(),
            template.feature(),
            follow.feature(),
            HelpHandlers().feature(),
            LinkHandlers(accounts, platform.audiences, issues, publicity, store).feature(),
            Uninstall(store, workspaces).feature(),
            Feature(buttons={DeletePost: delete_pressed, OpenPage: acknowledge_link_button}),
        ]
    )
    return Features(routes, failures, home, runs, follow_runs, assigned, projects, catalogs)
