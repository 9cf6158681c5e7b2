"""`python3 -m draftlab.simulate`: see command.py."""

import sys

from draftlab.simulate.command import main

if __name__ == "__main__":
    sys.exit(main())
