"""Clients of libpq (psycopg2) for the failover benchmark: one JSON request per line in, one JSON answer per line out.

Each request has its own thread, which ends with its session or with the input. Times are CLOCK_MONOTONIC in
milliseconds, comparable with the times of the benchmark's process.
"""
import json
import os
import select
import socket
import sys
import threading
import time

import psycopg2

SETTINGS = json.loads(sys.argv[1])
SERVER = "host(inet_server_addr()) || ':' || inet_server_port()"
output = threading.Lock()
sessions = {}


def now():
    return time.monotonic() * 1000


def tell(**answer):
    with output:
        print(json.dumps(answer), flush=True)


def connect(attributes):
    connection = psycopg2.connect(target_session_attrs=attributes, **SETTINGS)
    connection.autocommit = True
    return connection


def ask(connection, sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()


def words(error):
    return ' '.join(filter(None, [error.pgcode, str(error).strip().replace('\n', '; ')]))


def write(request):
    begun, connection = now(), None
    try:
        connection = connect('read-write')
        row = ask(connection, request['sql'])
        tell(id=request['id'], startedAtMs=begun, endedAtMs=now(), rowId=row[0], server=row[1])
    except psycopg2.Error as error:
        isConnect = connection is None
        tell(id=request['id'], startedAtMs=begun, endedAtMs=now(), error=words(error), isConnect=isConnect)
    finally:
        if connection is not None:
            connection.close()


def keep(request):
    connection = connect('read-write')
    sessions[request['id']] = connection
    tell(id=request['id'], server=ask(connection, 'select ' + SERVER)[0])
    # The connection is readable only when it ends.
    select.select([connection.fileno()], [], [])
    tell(ended=request['id'], atMs=now())
    connection.close()


def long_query(request):
    connection = connect('prefer-standby')
    sessions[request['id']] = connection
    tell(id=request['id'], server=ask(connection, 'select ' + SERVER)[0])
    try:
        ask(connection, request['sql'])
        tell(ended=request['id'], code='00000')
    except psycopg2.Error as error:
        tell(ended=request['id'], code=error.pgcode or 'unknown')
    connection.close()


def close(request):
    connection = sessions.pop(request['session'])
    if not connection.closed:
        # The session's own thread waits for this socket.
        socket.socket(fileno=os.dup(connection.fileno())).shutdown(socket.SHUT_RDWR)
    tell(id=request['id'])


def cancel(request):
    sessions[request['session']].cancel()
    tell(id=request['id'])


def serve(request):
    try:
        {'write': write, 'keep': keep, 'long_query': long_query, 'cancel': cancel, 'close': close}[request['do']](request)
    except Exception as error:  # each request needs an answer
        tell(id=request['id'], failed=repr(error))


tell(libpq=psycopg2.extensions.libpq_version(), psycopg2=psycopg2.__version__)
for line in sys.stdin:
    threading.Thread(target=serve, args=(json.loads(line),), daemon=True).start()
os._exit(0)
