"""Rows, the search index, backups and the durable queue: what is kept, and in what.

In: calls on the ports of the packages below. Out: what the database or the index said. It never decides anything that
they could decide. Only `app` imports from here.

    database, schema, migrations     the engine, where transactions begin, the tables and how they came about
    upkeep                           what keeps a database and its files in order; what `reverie doctor` looks at
    sessions, session_rows           transcripts; sources and files that could not be read
    server_records                   sessions recorded over the API, agents, environments, API keys
    history, ledger                  Changes with their ledger, proposals, what sessions were given
    stores, store_target             memory stores, their memories and versions, and a store as a Target
    dreams                           nights: leases, plans, what was staged, what models took; the queue, by DBOS
    search_index                     every turn in tantivy, and its vector: derived, and rebuilt when in doubt
    erasure                          somebody's words taken out of every row and file
    backup, _archive, _files         the whole home in one file, and back
"""
