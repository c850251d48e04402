import sys
import threading

import psycopg
from common import LARGE, POOL, WRITE, dsn, run_cases, work


def connect(**more):
    return psycopg.connect(**{**dsn(), **more}, autocommit=True)


def one(connection, text, values=None, prepare=None):
    return connection.execute(text, values, prepare=prepare).fetchone()[0]


def prepared():
    connection = connect()
    return " ".join(str(one(connection, "select %s::int + 1", (41,), prepare=True)) for _ in range(3))


def transaction():
    connection = connect()
    connection.execute("create temporary table t (n int)")
    counts = []
    for is_wanted in (False, True):
        with connection.transaction(force_rollback=not is_wanted):
            connection.execute("insert into t values (1)")
        counts.append(str(one(connection, "select count(*) from t")))
    return " ".join(counts)


def large():
    rows = connect().execute(LARGE).fetchall()
    return f"{len(rows)} {sum(n for n, _ in rows)}"


def failing(connection, text):
    try:
        one(connection, text)
    except psycopg.Error as error:
        return f"{error.sqlstate} {one(connection, 'select 1')}"


def copy():
    connection = connect()
    cursor = connection.cursor()
    cursor.execute("create temporary table t (n int)")
    with cursor.copy("copy t from stdin") as into:
        for n in range(1, 1001):
            into.write_row((n,))
    with cursor.copy("copy t to stdout") as out:
        numbers = [int(row[0]) for row in out.rows()]
    return f"{len(numbers)} {sum(numbers)}"


def cancel():
    connection = connect()
    threading.Timer(0.3, connection.cancel).start()
    return failing(connection, "select pg_sleep(60)")


CASES = {
    "connect": lambda: one(connect(), "select 1"),
    "prepared": prepared,
    "transaction": transaction,
    "large": large,
    "error": lambda: failing(connect(), "select 1/0"),
    "copy": copy,
    "cancel": cancel,
    "recovery": lambda: one(connect(), "select pg_is_in_recovery()::text"),
    "pool": lambda: one(connect(options=POOL), "select pg_is_in_recovery()::text"),
}

if sys.argv[1] == "work":
    work(connect, lambda connection: one(connection, WRITE))
else:
    run_cases(CASES, lambda error: getattr(error, "sqlstate", None))
