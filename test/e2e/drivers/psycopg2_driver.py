import io
import sys
import threading

import psycopg2
from common import LARGE, POOL, WRITE, dsn, run_cases, work


def connect(**more):
    connection = psycopg2.connect(**{**dsn(), **more})
    connection.autocommit = True
    return connection


def one(connection, text, values=None):
    cursor = connection.cursor()
    cursor.execute(text, values)
    return cursor.fetchone()[0]


def prepared():
    connection = connect()
    connection.cursor().execute("prepare add (int) as select $1 + 1")
    return " ".join(str(one(connection, "execute add (%s)", (41,))) for _ in range(3))


def transaction():
    connection = connect()
    connection.cursor().execute("create temporary table t (n int)")
    connection.autocommit = False
    counts = []
    for end in (connection.rollback, connection.commit):
        connection.cursor().execute("insert into t values (1)")
        end()
        counts.append(str(one(connection, "select count(*) from t")))
        connection.commit()
    return " ".join(counts)


def large():
    cursor = connect().cursor()
    cursor.execute(LARGE)
    rows = cursor.fetchall()
    return f"{len(rows)} {sum(n for n, _ in rows)}"


def failing(connection, text):
    try:
        one(connection, text)
    except psycopg2.Error as error:
        return f"{error.pgcode} {one(connection, 'select 1')}"


def copy():
    connection = connect()
    cursor = connection.cursor()
    cursor.execute("create temporary table t (n int)")
    cursor.copy_from(io.StringIO("".join(f"{n}\n" for n in range(1, 1001))), "t")
    out = io.StringIO()
    cursor.copy_to(out, "t")
    numbers = [int(line) for line in out.getvalue().split()]
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
    run_cases(CASES, lambda error: getattr(error, "pgcode", None))
