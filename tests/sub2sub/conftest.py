"""Property tests assert no durations: a kernel may be compiling, and the machine may be busy."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
