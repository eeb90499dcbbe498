"""Local stand-ins for Slack and the issue tracker."""

SERVICE_NAME = "Larkspur"
