"""What drivers say of accelerators: names, state, how they are joined, errors."""
