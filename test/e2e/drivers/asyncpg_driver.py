import asyncio
import io
import os
import ssl
import sys

import asyncpg
from common import LARGE, POOL, WRITE, dsn, run_cases, tell


def options():
    found = dsn()
    mode = found.pop("sslmode")
    encrypted = ssl.create_default_context(cafile=os.environ.get("PGSSLROOTCERT"))
    if mode != "verify-full":
        encrypted.check_hostname = False
        encrypted.verify_mode = ssl.CERT_NONE
    is_plain = mode == "disable"
    return {"database": found.pop("dbname"), **found, "ssl": False if is_plain else encrypted}


def connect(**more):
    return asyncpg.connect(**options(), **more)


async def value(text, **more):
    return await (await connect(**more)).fetchval(text)


async def prepared():
    statement = await (await connect()).prepare("select $1::int + 1")
    return " ".join([str(await statement.fetchval(41)) for _ in range(3)])


async def transaction():
    connection = await connect()
    await connection.execute("create temporary table t (n int)")
    counts = []
    for is_wanted in (False, True):
        begun = connection.transaction()
        await begun.start()
        await connection.execute("insert into t values (1)")
        await (begun.commit() if is_wanted else begun.rollback())
        counts.append(str(await connection.fetchval("select count(*) from t")))
    return " ".join(counts)


async def large():
    rows = await (await connect()).fetch(LARGE)
    return f"{len(rows)} {sum(row[0] for row in rows)}"


async def error():
    connection = await connect()
    try:
        await connection.fetchval("select 1/0")
    except asyncpg.PostgresError as failure:
        return f"{failure.sqlstate} {await connection.fetchval('select 1')}"


async def copy():
    connection = await connect()
    await connection.execute("create temporary table t (n int)")
    await connection.copy_records_to_table("t", records=[(n,) for n in range(1, 1001)])
    out = io.BytesIO()
    await connection.copy_from_query("select n from t", output=out)
    numbers = [int(line) for line in out.getvalue().split()]
    return f"{len(numbers)} {sum(numbers)}"


async def cancel():
    connection = await connect()
    try:
        # asyncpg cancels the statement at the server after its own timeout.
        await connection.fetchval("select pg_sleep(60)", timeout=0.3)
    except asyncio.TimeoutError:
        return f"57014 {await connection.fetchval('select 1')}"


async def work():
    pool = await asyncpg.create_pool(**options(), min_size=3, max_size=3)

    async def one():
        while True:
            try:
                session = await pool.acquire()
            except Exception as failure:
                tell("work", "connect-error", repr(failure))
                continue
            try:
                tell("work", "ok", await session.fetchval(WRITE))
                await asyncio.sleep(0.1)
            except asyncpg.InternalClientError as failure:
                # A request behind the last words of its server, before the end of the connection: asyncpg 0.27 closes
                # it, and its pool never has the place again.
                session.terminate()
                tell("work", "statement-error", repr(failure))
            except Exception as failure:
                tell("work", "statement-error", repr(failure))
            finally:
                try:
                    await pool.release(session)
                except Exception as failure:
                    tell("work", "statement-error", repr(failure))

    workers = [asyncio.ensure_future(one()) for _ in range(3)]
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    for worker in workers:
        worker.cancel()
    os._exit(0)


CASES = {
    "connect": lambda: value("select 1"),
    "prepared": prepared,
    "transaction": transaction,
    "large": large,
    "error": error,
    "copy": copy,
    "cancel": cancel,
    "recovery": lambda: value("select pg_is_in_recovery()::text"),
    "pool": lambda: value("select pg_is_in_recovery()::text", server_settings={"options": POOL}),
}


def in_loop(case):
    def run():
        return asyncio.run(case())

    return run


if sys.argv[1] == "work":
    asyncio.run(work())
else:
    run_cases({name: in_loop(case) for name, case in CASES.items()}, lambda failure: getattr(failure, "sqlstate", None))
