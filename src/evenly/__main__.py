"""`python -m evenly`: the command line."""

import sys

from evenly.cli import main

if __name__ == "__main__":
    sys.exit(main())
