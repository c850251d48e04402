<?php
// PHP's pgsql extension: see README.md.
error_reporting(E_ALL & ~E_WARNING & ~E_NOTICE);
const WRITE = "insert into driver_writes default values returning host(inet_server_addr()) || ':' || inet_server_port()";
const RECOVERY = 'select pg_is_in_recovery()::text';

function tell(string ...$parts): void {
    // In one write: lines of several processes must not mix.
    echo implode("\t", array_map(fn($part) => str_replace("\n", ' | ', trim($part)), $parts)) . "\n";
}

function session(string $more = '') {
    $names = ['host' => 'PGHOST', 'port' => 'PGPORT', 'user' => 'PGUSER', 'password' => 'PGPASSWORD', 'dbname' => 'PGDATABASE', 'sslmode' => 'PGSSLMODE'];
    $words = array_map(fn($key, $name) => "$key='" . getenv($name) . "'", array_keys($names), $names);
    $db = pg_connect(implode(' ', $words) . $more, PGSQL_CONNECT_FORCE_NEW);
    if ($db === false) throw new Exception(error_get_last()['message'] ?? 'no words');
    return $db;
}

function value($db, string $text): string {
    $result = pg_query($db, $text);
    if ($result === false) throw new Exception(pg_last_error($db));
    return pg_fetch_result($result, 0, 0);
}

/** The SQLSTATE, and the next answer of the session. */
function failing($db, string $text, bool $isCancelled): string {
    pg_send_query($db, $text);
    if ($isCancelled) {
        usleep(300000);
        // It also removes the result.
        if (!pg_cancel_query($db)) throw new Exception('not cancelled');
        return '57014 ' . value($db, 'select 1');
    }
    $state = pg_result_error_field(pg_get_result($db), PGSQL_DIAG_SQLSTATE);
    return "$state " . value($db, 'select 1');
}

$cases = [
    'connect' => fn() => value(session(), 'select 1'),
    'prepared' => function () {
        $db = session();
        pg_prepare($db, 'add', 'select $1::int + 1');
        return implode(' ', array_map(fn() => pg_fetch_result(pg_execute($db, 'add', [41]), 0, 0), [1, 2, 3]));
    },
    'transaction' => function () {
        $db = session();
        pg_query($db, 'create temporary table t (n int)');
        $counts = [];
        foreach (['rollback', 'commit'] as $end) {
            foreach (['begin', 'insert into t values (1)', $end] as $text) pg_query($db, $text);
            $counts[] = value($db, 'select count(*) from t');
        }
        return implode(' ', $counts);
    },
    'large' => function () {
        $numbers = pg_fetch_all_columns(pg_query(session(), "select n, repeat('x', 100) from generate_series(1, 50000) n"), 0);
        return count($numbers) . ' ' . array_sum($numbers);
    },
    'error' => fn() => failing(session(), 'select 1/0', false),
    'copy' => function () {
        $db = session();
        pg_query($db, 'create temporary table t (n int)');
        pg_copy_from($db, 't', array_map(fn($n) => "$n\n", range(1, 1000)));
        $lines = array_map(intval(...), pg_copy_to($db, 't'));
        return count($lines) . ' ' . array_sum($lines);
    },
    'cancel' => fn() => failing(session(), 'select pg_sleep(60)', true),
    'recovery' => fn() => value(session(), RECOVERY),
    'pool' => fn() => value(session(" options='-c pointsman.pool=ro'"), RECOVERY),
];

function work(): void {
    $db = null;
    while (true) {
        try {
            $db ??= session();
        } catch (Exception $error) {
            tell('work', 'connect-error', $error->getMessage());
            continue;
        }
        try {
            tell('work', 'ok', value($db, WRITE));
            usleep(100000);
        } catch (Exception $error) {
            tell('work', 'statement-error', $error->getMessage());
            $db = null;
        }
    }
}

if ($argv[1] === 'work') {
    $children = [];
    for ($n = 0; $n < 3; $n += 1) {
        $child = pcntl_fork();
        if ($child === 0) work();
        $children[] = $child;
    }
    while (fgets(STDIN) !== false);
    foreach ($children as $child) posix_kill($child, SIGKILL);
    exit(0);
}
foreach (array_slice($argv, 2) as $name) {
    try {
        tell($name, 'ok', $cases[$name]());
    } catch (Exception $error) {
        tell($name, 'error', '', $error->getMessage());
    }
}
