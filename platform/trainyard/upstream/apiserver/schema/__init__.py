"""Structure: what decoding and OpenAPI schemas refuse, defaults that schemas state, and the merge of an apply."""
