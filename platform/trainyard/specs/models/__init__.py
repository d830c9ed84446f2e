"""The models of what people write: one module a sort of file, closed to unknown fields."""
