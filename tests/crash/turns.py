"""A process that stores turns. Usage: turns.py DATABASE NAME COUNT"""

from __future__ import annotations

import sys

import lossless_claw as lcm


def main() -> None:
    path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with lcm.open(path) as engine:
        chat = engine.conversation("shared")
        for n in range(count):
            said = [
                {"role": "user", "content": f"{name} asks {n}"},
                {"role": "assistant", "content": f"{name} is answered {n}"},
            ]
            chat.append(said, ids=[f"{name}-{n}-q", f"{name}-{n}-a"])


if __name__ == "__main__":
    main()
