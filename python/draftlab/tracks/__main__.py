"""`python3 -m draftlab.tracks`: see command.py."""

import sys

from draftlab.tracks.command import main

if __name__ == "__main__":
    sys.exit(main())
