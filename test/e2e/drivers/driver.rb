# ruby-pg: see README.md.
require 'pg'

WRITE = "insert into driver_writes default values returning host(inet_server_addr()) || ':' || inet_server_port()"
RECOVERY = 'select pg_is_in_recovery()::text'

def tell(*parts)
  $stdout.write(parts.map { |part| part.to_s.strip.gsub("\n", ' | ') }.join("\t") + "\n")
  $stdout.flush
end

def session(**more) = PG.connect(**more)
def value(db, text) = db.exec(text).getvalue(0, 0)

def failing(db, text)
  value(db, text)
rescue PG::Error => error
  "#{error.result.error_field(PG::PG_DIAG_SQLSTATE)} #{value(db, 'select 1')}"
end

CASES = {
  'connect' => -> { value(session, 'select 1') },
  'prepared' => lambda {
    db = session
    db.prepare('add', 'select $1::int + 1')
    Array.new(3) { db.exec_prepared('add', [41]).getvalue(0, 0) }.join(' ')
  },
  'transaction' => lambda {
    db = session
    db.exec('create temporary table t (n int)')
    %w[rollback commit].map do |ending|
      db.exec('begin')
      db.exec('insert into t values (1)')
      db.exec(ending)
      value(db, 'select count(*) from t')
    end.join(' ')
  },
  'large' => lambda {
    numbers = session.exec("select n, repeat('x', 100) from generate_series(1, 50000) n").column_values(0).map(&:to_i)
    "#{numbers.length} #{numbers.sum}"
  },
  'error' => -> { failing(session, 'select 1/0') },
  'copy' => lambda {
    db = session
    db.exec('create temporary table t (n int)')
    db.copy_data('copy t from stdin') { (1..1000).each { |n| db.put_copy_data("#{n}\n") } }
    numbers = []
    db.copy_data('copy t to stdout') { while (line = db.get_copy_data) do numbers << line.to_i end }
    "#{numbers.length} #{numbers.sum}"
  },
  'cancel' => lambda {
    db = session
    Thread.new { sleep 0.3; db.cancel }
    failing(db, 'select pg_sleep(60)')
  },
  'recovery' => -> { value(session, RECOVERY) },
  'pool' => -> { value(session(options: '-c pointsman.pool=ro'), RECOVERY) }
}.freeze

def work
  db = nil
  loop do
    begin
      db ||= session
    rescue PG::Error => error
      tell('work', 'connect-error', error.message)
      next
    end
    begin
      tell('work', 'ok', value(db, WRITE))
      sleep 0.1
    rescue PG::Error => error
      tell('work', 'statement-error', error.message)
      db = nil
    end
  end
end

if ARGV.shift == 'work'
  3.times { Thread.new { work } }
  $stdin.read
  exit!(0)
end
ARGV.each do |name|
  tell(name, 'ok', CASES[name].call)
rescue PG::Error => error
  tell(name, 'error', error.result&.error_field(PG::PG_DIAG_SQLSTATE), error.message)
end
