"""Renderers of results: terminal, JSON, trace. No physics."""
