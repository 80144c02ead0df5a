"""A plain chat loop that never forgets. The five lines marked `# lcm` are all that is added.

Run it and type; it remembers between runs. `model` stands for your own call: put a client of
OpenAI, Ollama or any other there. This one answers from memory, so that it runs offline.
"""

import sys

import lossless_claw as lcm  # lcm


def model(messages: list[dict], chat: lcm.Chat) -> str:
    """Answer the newest message: what was said about its words before, verbatim."""
    question = messages[-1]["content"]
    earlier = [match for match in chat.ask(question).passages if match.text.strip() != question]
    return f"I remember: {earlier[0].text}" if earlier else f"Noted. ({len(messages)} messages)"


history: list[dict] = []
with lcm.open(sys.argv[1] if len(sys.argv) > 1 else "own_loop.db") as store:  # lcm
    chat = store.conversation("examples:own-loop")  # lcm
    for line in sys.stdin:
        history.append({"role": "user", "content": line.strip()})
        chat.sync(history)  # lcm
        context = chat.assemble(budget=8_000)  # lcm
        answer = model(context.messages, chat)
        history.append({"role": "assistant", "content": answer})
        print(answer)
    chat.after_turn(history)
