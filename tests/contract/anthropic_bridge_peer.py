"""Run by an interpreter that has `anthropic` 2.8.0 and nothing of ours: the managed side of a bridge.

`anthropic_bridge_peer.py night URL KEY` works, dreams, and prints what it dreamt as JSON.
`anthropic_bridge_peer.py told URL KEY STORE` prints what an agent with that store would read.
"""

import asyncio
import json
import sys

import anthropic
from anthropic_dreams_peer import content, ended, filled, inputs


async def night(client):
    store, session = await filled(client)
    dream = await client.beta.dreams.create(inputs=inputs(store, session), model="built-in")
    dream = await ended(client, dream)
    assert dream.status == "completed", dream
    return {"dream": dream.id, "store": store, "session": session, "output": dream.outputs[0].memory_store_id}


async def main(scenario, url, key, *store):
    async with anthropic.AsyncAnthropic(api_key=key, base_url=url) as client:
        found = await (night(client) if scenario == "night" else content(client, *store))
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
