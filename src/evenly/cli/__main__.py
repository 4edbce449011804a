"""python -m evenly.cli"""

import sys

from evenly.cli import main

if __name__ == "__main__":
    sys.exit(main())
