import psycopg
from common import LARGE, count_and_sum, dsn, run_psycopg


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
    return count_and_sum([n for n, _ in connect().execute(LARGE).fetchall()])


def copy():
    connection = connect()
    cursor = connection.cursor()
    cursor.execute("create temporary table t (n int)")
    with cursor.copy("copy t from stdin") as into:
        for n in range(1, 1001):
            into.write_row((n,))
    with cursor.copy("copy t to stdout") as out:
        return count_and_sum([int(row[0]) for row in out.rows()])


run_psycopg(
    connect,
    one,
    lambda error: getattr(error, "sqlstate", None),
    prepared=prepared,
    transaction=transaction,
    large=large,
    copy=copy,
)
