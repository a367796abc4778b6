"""The door to pydantic-ai: requests to any endpoint."""
