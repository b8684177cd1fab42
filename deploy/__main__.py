"""`python -m deploy`: the command line, which says nothing either if Ctrl-C comes while it is being loaded."""

import sys


def run() -> int:
    """Its exit status."""
    try:
        from deploy.cli.main import main  # noqa: PLC0415 - loading it takes the better part of a short command
    except KeyboardInterrupt:
        return 130
    return main()


if __name__ == "__main__":
    sys.exit(run())
