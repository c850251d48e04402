# DBD::Pg: see README.md.
use strict;
use warnings;
use DBI;
use DBD::Pg qw(:async);
use Time::HiRes qw(sleep);

$| = 1;
my $write = "insert into driver_writes default values returning host(inet_server_addr()) || ':' || inet_server_port()";

sub tell_line {
  print join("\t", map { my $part = defined $_ ? $_ : ''; $part =~ s/\s+\z//; $part =~ s/\n/ | /g; $part } @_), "\n";
}

sub session {
  my ($more) = @_;
  my %e = %ENV;
  my $dsn = "dbi:Pg:host=$e{PGHOST};port=$e{PGPORT};dbname=$e{PGDATABASE};sslmode=$e{PGSSLMODE}" . ($more // '');
  return DBI->connect($dsn, $e{PGUSER}, $e{PGPASSWORD}, { RaiseError => 1, PrintError => 0, AutoCommit => 1 });
}

sub value { my ($db, $text) = @_; return ($db->selectrow_array($text))[0]; }

my %cases = (
  connect => sub { value(session(), 'select 1') },
  prepared => sub {
    my $statement = session()->prepare('select $1::int + 1', { pg_server_prepare => 1, pg_prepare_now => 1 });
    return join ' ', map { $statement->execute(41); ($statement->fetchrow_array)[0] } 1 .. 3;
  },
  transaction => sub {
    my $db = session();
    $db->do('create temporary table t (n int)');
    my @counts;
    for my $end (qw(rollback commit)) {
      $db->begin_work;
      $db->do('insert into t values (1)');
      $db->$end;
      push @counts, value($db, 'select count(*) from t');
    }
    return "@counts";
  },
  large => sub {
    my $rows = session()->selectall_arrayref("select n, repeat('x', 100) from generate_series(1, 50000) n");
    my $sum = 0;
    $sum += $_->[0] for @$rows;
    return scalar(@$rows) . " $sum";
  },
  error => sub {
    my $db = session();
    eval { $db->do('select 1/0') };
    return $db->state . ' ' . value($db, 'select 1');
  },
  copy => sub {
    my $db = session();
    $db->do('create temporary table t (n int)');
    $db->do('copy t from stdin');
    $db->pg_putcopydata("$_\n") for 1 .. 1000;
    $db->pg_putcopyend;
    $db->do('copy t to stdout');
    my ($count, $sum, $line) = (0, 0, '');
    while ($db->pg_getcopydata($line) >= 0) { $count += 1; $sum += $line; }
    return "$count $sum";
  },
  cancel => sub {
    my $db = session();
    $db->do('select pg_sleep(60)', { pg_async => PG_ASYNC });
    sleep 0.3;
    die "not cancelled\n" unless $db->pg_cancel;
    return '57014 ' . value($db, 'select 1');
  },
  recovery => sub { value(session(), 'select pg_is_in_recovery()::text') },
  pool => sub { value(session(q(;options='-c pointsman.pool=ro')), 'select pg_is_in_recovery()::text') },
);

sub work {
  my $db;
  while (1) {
    $db //= eval { session() };
    if (!$db) { tell_line('work', 'connect-error', $@); next; }
    my $server = eval { value($db, $write) };
    if (defined $server) { tell_line('work', 'ok', $server); sleep 0.1; }
    else { tell_line('work', 'statement-error', $@); undef $db; }
  }
}

my $verb = shift @ARGV;
if ($verb eq 'work') {
  my @children = map { my $child = fork // die; work() if $child == 0; $child } 1 .. 3;
  1 while <STDIN>;
  kill 'KILL', @children;
  waitpid $_, 0 for @children;
} else {
  for my $name (@ARGV) {
    my $value = eval { $cases{$name}->() };
    if (defined $value) { tell_line($name, 'ok', $value); }
    else { tell_line($name, 'error', $DBI::state // '', $@); }
  }
}
