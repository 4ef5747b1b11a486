"""A listener that keeps what its wire tells it."""


class Heard:
    def __init__(self):
        self.marks = []
        self.gone_cleanly = []
        self.errors = []
        self.holds = []

    async def gone(self, cleanly=True):
        self.gone_cleanly.append(cleanly)

    async def played(self, mark):
        self.marks.append(mark)

    async def held(self, on):
        self.holds.append(on)

    async def failed(self, error):
        self.errors.append(error)
