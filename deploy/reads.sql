-- The role that asks the servers for their WAL positions, for pools with `causal_reads` (config/read-scaling.md).
-- Run it once, as a superuser, on the primary:
--   psql -d postgres -v ON_ERROR_STOP=1 -f reads.sql
-- Then:   \password pointsman_monitor
-- It can be run again: it changes no password. The role has no right at all: everybody may call what it calls.
-- pg_hba.conf of all members, before other lines for it:
--   host  postgres  pointsman_monitor  10.0.1.0/24  scram-sha-256
--   host  all       pointsman_monitor  all          reject

BEGIN;

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'pointsman_monitor') THEN
    -- At each member one connection for each Pointsman process, and a few to spare.
    CREATE ROLE pointsman_monitor LOGIN NOINHERIT CONNECTION LIMIT 16;
  END IF;
END
$$;

-- A thousand questions in a second stay out of the log and of pg_stat_statements.
ALTER ROLE pointsman_monitor SET log_statement = 'none';
ALTER ROLE pointsman_monitor SET log_min_duration_statement = -1;
ALTER ROLE pointsman_monitor SET log_duration = off;
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_settings WHERE name = 'pg_stat_statements.track') THEN
    ALTER ROLE pointsman_monitor SET pg_stat_statements.track = 'none';
  END IF;
END
$$;

COMMIT;
