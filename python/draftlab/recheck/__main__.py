"""`python3 -m draftlab.recheck`: see command.py."""

import sys

from draftlab.recheck.command import main

if __name__ == "__main__":
    sys.exit(main())
