"""The command line with the small rulesets of the tests: `python -m tests.deploy.served serve ...`."""

import sys

from deploy.cli import main
from domain.catalogue import Catalogue
from tests.rulesets import FLOWS

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Catalogue(entry.rules for entry in FLOWS)))
