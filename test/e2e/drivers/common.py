# Shared by the Python programs: see README.md.
import os
import sys
import threading
import time

WRITE = "insert into driver_writes default values returning host(inet_server_addr()) || ':' || inet_server_port()"
LARGE = "select n, repeat('x', 100) from generate_series(1, 50000) n"
POOL = "-c pointsman.pool=ro"


def dsn():
    return {
        "host": os.environ["PGHOST"],
        "port": int(os.environ["PGPORT"]),
        "user": os.environ["PGUSER"],
        "password": os.environ["PGPASSWORD"],
        "sslmode": os.environ["PGSSLMODE"],
        "dbname": os.environ["PGDATABASE"],
    }


def tell(*parts):
    sys.stdout.write("\t".join(str(part).strip().replace("\n", " | ") for part in parts) + "\n")
    sys.stdout.flush()


def run_cases(cases, sqlstate_of):
    for name in sys.argv[2:]:
        try:
            tell(name, "ok", cases[name]())
        except Exception as error:
            tell(name, "error", sqlstate_of(error) or "", error)


def run_psycopg(connect, one, sqlstate_of, **own):
    """Both generations of psycopg: `own` holds the cases that they write differently, `one` fetches a single value."""

    def failing(connection, text):
        try:
            one(connection, text)
        except Exception as error:
            return f"{sqlstate_of(error)} {one(connection, 'select 1')}"

    def cancel():
        connection = connect()
        threading.Timer(0.3, connection.cancel).start()
        return failing(connection, "select pg_sleep(60)")

    cases = {
        "connect": lambda: one(connect(), "select 1"),
        "error": lambda: failing(connect(), "select 1/0"),
        "cancel": cancel,
        "recovery": lambda: one(connect(), "select pg_is_in_recovery()::text"),
        "pool": lambda: one(connect(options=POOL), "select pg_is_in_recovery()::text"),
        **own,
    }
    if sys.argv[1] == "work":
        work(connect, lambda connection: one(connection, WRITE))
    else:
        run_cases(cases, sqlstate_of)


def count_and_sum(numbers):
    return f"{len(numbers)} {sum(numbers)}"


def work(connect, write):
    def one():
        connection = None
        while True:
            try:
                if connection is None:
                    connection = connect()
            except Exception as error:
                tell("work", "connect-error", error)
                continue
            try:
                tell("work", "ok", write(connection))
                time.sleep(0.1)
            except Exception as error:
                tell("work", "statement-error", error)
                connection = None

    for _ in range(3):
        threading.Thread(target=one, daemon=True).start()
    sys.stdin.read()
    os._exit(0)
