"""What tests of this library and of its hosts share. Nothing in the library imports it."""
