"""CustomResourceDefinitions: the definition itself, and the schemas, defaults and CEL rules in it."""
