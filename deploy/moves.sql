-- The function by which Pointsman gets the verifiers of roles whose sessions may move (deploy/moves.md).
-- Run it once, as a superuser, on the primary, in the database of `moves.verifiers.database`:
--   psql -d postgres -v ON_ERROR_STOP=1 -f moves.sql
-- Then:   \password pointsman_lookup      and      GRANT pointsman_movable TO app;
-- It can be run again: it changes no password and no membership.

BEGIN;

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'pointsman_lookup') THEN
    -- One connection for each Pointsman process during a move, and a few to spare.
    CREATE ROLE pointsman_lookup LOGIN NOINHERIT CONNECTION LIMIT 16;
  END IF;
  -- A group without rights: its members are the roles whose sessions may move.
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'pointsman_movable') THEN
    CREATE ROLE pointsman_movable NOLOGIN;
  END IF;
END
$$;

CREATE SCHEMA IF NOT EXISTS pointsman;
REVOKE ALL ON SCHEMA pointsman FROM PUBLIC;

-- The verifier of a role of the group, else NULL. NULL as well for a role that may not log in, whose password has
-- expired, or that is, or can become, a superuser, a replication role, a role that creates roles, or one that reads or
-- writes files or runs programs on the server.
CREATE OR REPLACE FUNCTION pointsman.verifier(role_name text) RETURNS text
  LANGUAGE sql STABLE STRICT SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
AS $$
  SELECT a.rolpassword
  FROM pg_catalog.pg_authid AS a
  WHERE a.rolname = role_name
    AND a.rolcanlogin
    AND (a.rolvaliduntil IS NULL OR a.rolvaliduntil > pg_catalog.now())
    AND pg_catalog.pg_has_role(a.oid, 'pointsman_movable', 'MEMBER')
    AND NOT EXISTS (
      SELECT
      FROM pg_catalog.pg_authid AS b
      WHERE (b.rolsuper OR b.rolreplication OR b.rolcreaterole OR b.rolname IN
          ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program'))
        AND pg_catalog.pg_has_role(a.oid, b.oid, 'MEMBER')
    )
$$;

REVOKE ALL ON FUNCTION pointsman.verifier(text) FROM PUBLIC;
GRANT USAGE ON SCHEMA pointsman TO pointsman_lookup;
GRANT EXECUTE ON FUNCTION pointsman.verifier(text) TO pointsman_lookup;

COMMIT;
