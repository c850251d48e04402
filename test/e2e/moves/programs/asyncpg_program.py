# asyncpg: see README.md.
import asyncio
import io
import os
import ssl
import threading

import asyncpg
from common import count_and_sum, dsn, numbers_up_to, requests, tell


def options_of(name, options):
    found = dsn()
    mode = found.pop("sslmode")
    encrypted = ssl.create_default_context(cafile=os.environ.get("PGSSLROOTCERT"))
    if mode != "verify-full":
        encrypted.check_hostname = False
        encrypted.verify_mode = ssl.CERT_NONE
    is_plain = mode == "disable"
    settings = {"application_name": name, **({} if options == "" else {"options": options})}
    encryption = False if is_plain else encrypted
    address = {"host": found.pop("host"), "port": int(found.pop("port")), "database": found.pop("dbname")}
    return {**address, **found, "ssl": encryption, "server_settings": settings}


def text_of(value):
    return "" if value is None else str(value)


class Session:
    def __init__(self, name):
        self.name = name
        self.statements = {}
        self.requests = asyncio.Queue()
        self.task = asyncio.ensure_future(self.serve())

    async def serve(self):
        while True:
            request, verb, words = await self.requests.get()
            try:
                tell(request, "ok", await getattr(self, verb)(*words))
            except asyncpg.PostgresError as error:
                more = [error.detail, error.hint]
                tell(request, "error", error.sqlstate or "", "\n".join([str(error), *[one for one in more if one]]))
            except Exception as error:
                tell(request, "error", "", repr(error))

    async def open(self, options):
        self.connection = await asyncpg.connect(**options_of(self.name, options))
        self.connection.add_log_listener(lambda _, message: tell("event", self.name, "notice", message))
        self.connection.add_termination_listener(lambda _: tell("event", self.name, "end"))
        return ""

    async def run(self, text):
        await self.connection.execute(text)
        return ""

    async def value(self, text):
        # asyncpg prepares every fetch by name; execute() is its way of simple queries, and gives no rows.
        return text_of(await self.connection.fetchval(text))

    async def bind(self, text, value):
        return text_of(await self.connection.fetchval(text, int(value)))

    async def prepare(self, name, text):
        self.statements[name] = await self.connection.prepare(text)
        return ""

    async def execute(self, name, value):
        return text_of(await self.statements[name].fetchval(int(value)))

    async def copy_in(self, table, count):
        await self.connection.copy_records_to_table(table, records=[(n,) for n in numbers_up_to(count)])
        return ""

    async def copy_out(self, query):
        out = io.BytesIO()
        await self.connection.copy_from_query(query, output=out)
        return count_and_sum([int(line) for line in out.getvalue().split()])

    async def cursor(self, query):
        async with self.connection.transaction():
            return count_and_sum([row[0] async for row in self.connection.cursor(query, prefetch=100)])

    async def batch(self, table, count):
        await self.connection.executemany(f"insert into {table} values ($1)", [(n,) for n in numbers_up_to(count)])
        return ""

    async def cancel(self):
        try:
            # asyncpg cancels the statement at the server after its own timeout.
            await self.connection.fetchval("select pg_sleep(60)", timeout=0.3)
        except asyncio.TimeoutError:
            # It waits for the server's answer to the cancel before the next statement.
            await self.connection.fetchval("select 1")
            return "57014"
        return "no error"

    async def parameter(self, name):
        return getattr(self.connection.get_settings(), name)

    async def transaction(self):
        return "open" if self.connection.is_in_transaction() else "idle"

    async def load(self, table):
        self.is_loaded = True

        async def write():
            acknowledged = 0
            while self.is_loaded:
                await self.connection.execute(f"insert into {table} (source) values ($1)", self.name)
                acknowledged += 1
            return acknowledged

        self.writing = asyncio.ensure_future(write())
        return ""

    async def unload(self):
        self.is_loaded = False
        return await self.writing


async def main():
    loop = asyncio.get_running_loop()
    sessions = {}

    def take(request, verb, name, words):
        if name not in sessions:
            sessions[name] = Session(name)
        sessions[name].requests.put_nowait((request, verb, words))

    def read():
        for one in requests():
            loop.call_soon_threadsafe(take, *one)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    await asyncio.Event().wait()


asyncio.run(main())
