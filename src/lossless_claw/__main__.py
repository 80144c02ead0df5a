"""`python -m lossless_claw` is `lcm`."""

from __future__ import annotations

from lossless_claw.cli.main import main

if __name__ == "__main__":
    main()
