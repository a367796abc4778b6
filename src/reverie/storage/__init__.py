"""Rows, the search index, backups and the durable queue: what is kept, and in what.

In: calls on the ports of the packages below. Out: what the database or the index said. It never decides anything that
they could decide. Only `app` imports from here.

    database     the engine, where transactions begin, the tables, their migrations, upkeep of the files
    transcripts  sessions and turns; sessions recorded over the API; sources and files that could not be read
    changes      Changes with their ledger, proposals, what sessions were given
    dreams       nights: leases, plans, what was noticed and staged, what models were asked and took
    stores       memory stores, their memories and versions, and a store as a Target
    index        words (tantivy) and vectors of every turn: derived, and rebuilt when in doubt
    durable      the queue of nights, by DBOS
    erasure      somebody's words taken out of every row and file
    backup       the whole home in one file, and back
"""
