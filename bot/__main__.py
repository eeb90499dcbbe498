"""`issuebot`, which is the same program as `python -m bot`."""

import gc
import sys


def main() -> None:
    """Run the command that was typed.

    `issuebot run` starts without the parser of the other commands, which would stay in memory, and without
    collecting garbage, as nothing that is loaded at startup is any (`bot.app.tune_garbage_collection`).
    """
    if sys.argv[1:] == ["run"]:
        gc.disable()
        from bot import app  # noqa: PLC0415 - as all of this

        sys.exit(app.main())
    from bot.cli import program  # noqa: PLC0415 - as all of this

    program()


if __name__ == "__main__":
    main()
