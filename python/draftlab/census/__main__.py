"""`python3 -m draftlab.census`: see command.py."""

import sys

from draftlab.census.command import main

if __name__ == "__main__":
    sys.exit(main())
