"""`python -m deploy`: the command line. Ctrl-C ends it silently, also during imports."""

import sys


def run() -> int:
    """Run the command line and return its exit status."""
    try:
        from deploy.cli.main import main  # noqa: PLC0415 - the import takes most of the time of a short command
    except KeyboardInterrupt:
        return 130
    return main()


if __name__ == "__main__":
    sys.exit(run())
