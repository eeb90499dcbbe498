"""Steps for Slack's Workflow Builder: create an issue, comment on one."""
