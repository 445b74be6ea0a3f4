"""What an agent imports to log its heals: standard library only, importable on its own."""
