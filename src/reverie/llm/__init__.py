"""Who is asked: the port to any model, what may be sent, and what it may cost.

In: Questions whose text holds no secrets. Out: an `Answer`, or why there is none, and an account of each request.
It never offers a model a tool, never spends above the cap knowingly, and never opens a connection itself: that is an
adapter's work.

    def read(value: object) -> list[object] | Wrong:
        items = value.get("items") if isinstance(value, dict) else value
        return items if isinstance(items, list) else Wrong('there is no list "items" in it')

    template = prompt("curate", asker_factory.info().prompts)
    question = Question(Role.CURATE, template.name, template.sha256, template.text, brief, read)
    match asker.ask(question):
        case Answer(items): ...        # judged one by one
        case Dropped(why): ...         # for the diary; the night goes on
        case CapReached(why): ...      # nothing was sent
        case Denied(why): ...          # the key was refused; nothing more is sent tonight
"""
