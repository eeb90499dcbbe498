"""What the buttons and selects of templates carry."""

from bot.slack.surfaces.buttons import Button, Number


class NewTemplate(Button):
    action = "template.new"
    project: Number


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
    """In the form for a new issue; 0 for none."""

    action = "issue.template"
    template: Number = 0


class CopyIssue(Button):
    """In a template's form: the issue that it is made from, None once that is cleared."""

    action = "template.issue"
    issue: Number | None = None
