"""How one statement stands to another: subject, attribute, value, polarity, quantity, time, scope, hedging.

`statement` reads a text as clauses (`clause`): their words, their values (`values`, `spelling`, `units`), what they
are about (`heads`), what they affirm, deny or prefer (`stance`, `opposites`), what a denial is limited to (`limits`)
and how they are meant (`cues`).
`opposition` lays two clauses side by side, `features` and `reservations` say what speaks for and against a conflict,
`judging` weighs it, `reasons` puts it into words.

Pure functions of text; nothing here knows where a statement came from or which of the two may win.
"""
