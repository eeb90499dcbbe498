"""What the buttons and selects of templates carry."""

from bot.slack.surfaces.buttons import Button, Number


class NewTemplate(Button):
    """Opens the form, filled in with a name and from an issue, if any; `project` is 0 for the channel's."""

    action = "template.new"
    project: Number
    issue: Number = 0
    name: str = ""


class EditTemplate(Button):
    action = "template.edit"
    template: Number


class RemoveTemplate(Button):
    action = "template.remove"
    template: Number


class UseTemplate(Button):
    """Opens the form for a new issue, filled in from a template."""

    action = "template.use"
    project: Number
    template: Number


class ChooseTemplate(Button):
    """In the form for a new issue."""

    action = "issue.template"
    template: Number


class CopyIssue(Button):
    """In a template's form: the issue that it is made from, None once that is cleared."""

    action = "template.issue"
    issue: Number | None = None
