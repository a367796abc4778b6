"""Where the secrets in a text are.

In: a text. Out: spans, each with the kind of secret it is. `tokens` knows vendors' shapes, `placed` structures and
command lines, `named` names; `values` tells a secret from its placeholder. Never: changes the text.

Every detector begins with gates the regular-expression engine can skip along (a literal first, no group, no case
folding), and looks closer only where a gate opens. What it looks at there is bounded, so the whole is linear.
"""
