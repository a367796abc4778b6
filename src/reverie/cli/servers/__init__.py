"""Commands that serve others: the API, the browser, agents, a managed memory."""
