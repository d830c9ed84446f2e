"""The API server's verdict, offline: decode, defaults, structure, metadata, core semantics, CEL, webhooks."""
