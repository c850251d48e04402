import io

import psycopg2
from common import LARGE, count_and_sum, dsn, run_psycopg


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
    return count_and_sum([n for n, _ in cursor.fetchall()])


def copy():
    connection = connect()
    cursor = connection.cursor()
    cursor.execute("create temporary table t (n int)")
    cursor.copy_from(io.StringIO("".join(f"{n}\n" for n in range(1, 1001))), "t")
    out = io.StringIO()
    cursor.copy_to(out, "t")
    return count_and_sum([int(line) for line in out.getvalue().split()])


run_psycopg(
    connect,
    one,
    lambda error: getattr(error, "pgcode", None),
    prepared=prepared,
    transaction=transaction,
    large=large,
    copy=copy,
)
