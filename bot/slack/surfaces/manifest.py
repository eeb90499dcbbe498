"""The app manifest: what Slack must know about the bot, from the template `manifest.yml`.

In the template, a line that ends with `# if <name>` is left out where that value isn't set; other comments
are left out of every manifest.
"""

import json
import re
from collections import deque
from importlib import resources
from typing import Any, Literal
from urllib.parse import urlsplit

Mode = Literal["socket", "http"]

TEMPLATE = resources.files(__package__).joinpath("manifest.yml").read_text(encoding="utf-8")
COMMENT = re.compile(r" # (?:if (?P<name>\w+)|.*)$")

ACT_AS, USER_CONTEXT = "act_as", "slack#/types/user_context"
EVENTS_PATH = "/slack/events"
INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"


def manifest_yaml(
    mode: Mode = "socket",
    url: str | None = None,
    prefix: str = "",
    service_url: str | None = None,
    *,
    several: bool = False,
) -> str:
    """The manifest as YAML.

    `url` is the bot's address; raises ValueError if it is missing in HTTP mode or for `several` workspaces.
    Links to `service_url` unfurl if Slack accepts its host.
    """
    root = (url or "").rstrip("/").removesuffix(EVENTS_PATH)
    if (mode == "http" or several) and not re.match(r"https?://[^/\s]", root):
        raise ValueError("HTTP mode and several workspaces need --url, the bot's https:// URL.")
    values = {
        "prefix": prefix,
        "request_url": json.dumps(root + EVENTS_PATH) if mode == "http" else None,
        "redirect_url": json.dumps(root + REDIRECT_PATH) if several else None,
        "unfurl_domain": unfurl_domain(service_url),
        "socket": json.dumps(mode == "socket"),
        "several": json.dumps(several),
    }
    lines = []
    for line in TEMPLATE.splitlines():
        comment = COMMENT.search(line)
        if not (comment and comment["name"]) or values[comment["name"]]:
            lines.append(COMMENT.sub("", line))
    return re.sub(r"\{(\w+)\}", lambda name: values[name[1]] or "", "\n".join(lines) + "\n")


def unfurl_domain(service_url: str | None) -> str | None:
    """The host whose links unfurl; None if Slack doesn't accept it, such as an IP or a bare name."""
    host = urlsplit(service_url or "").hostname or ""
    named = re.fullmatch(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)+", host)
    return host if named and not re.fullmatch(r"[0-9.]+", host) else None


def parsed(text: str) -> dict[str, Any]:
    """Parse a manifest: YAML with nothing but nested objects and lists, quoted text and plain words."""
    lines = deque((len(line) - len(line.lstrip()), line.strip()) for line in text.splitlines())
    block: dict[str, Any] = _block(lines, 0)
    return block


def _block(lines: deque[tuple[int, str]], indent: int) -> Any:  # noqa: ANN401 - JSON
    fields: dict[str, Any] = {}
    items: list[Any] = []
    while lines and lines[0][0] == indent:
        line = lines.popleft()[1]
        if not line.startswith("- "):
            key, _, value = line.partition(":")
            fields[key] = _scalar(value.strip()) if value else _block(lines, lines[0][0])
        elif re.match(r"- \w+: ", line):
            lines.appendleft((indent + 2, line[2:]))
            items.append(_block(lines, indent + 2))
        else:
            items.append(_scalar(line[2:]))
    return items or fields


def _scalar(text: str) -> str | bool:
    if text in {"true", "false"} or text.startswith('"'):
        value: str | bool = json.loads(text)
        return value
    return text


_BOT_SCOPES = parsed(manifest_yaml())["oauth_config"]["scopes"]
SCOPES: tuple[str, ...] = tuple(_BOT_SCOPES["bot"])
OPTIONAL = frozenset[str](_BOT_SCOPES["bot_optional"])
"""The scopes that administrators may decline."""
