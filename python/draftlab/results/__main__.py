"""`python3 -m draftlab.results`: see command.py."""

import sys

from draftlab.results.command import main

if __name__ == "__main__":
    sys.exit(main())
