"""`python3 -m draftlab.foreign`: see command.py."""

import sys

from draftlab.foreign.command import main

if __name__ == "__main__":
    sys.exit(main())
