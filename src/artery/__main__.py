"""``python -m artery`` is the command line."""

import sys

from artery.cli import main

sys.exit(main())
