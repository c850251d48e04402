// A database that was renamed, and a role that was dropped and made again, are not those with which a session began,
// although another object has their names now. Their object ids are the same at all members of a cluster.

/** An SQL expression of type text: the database, the session's user and its role, by their object ids. */
export const IDENTITY = `(SELECT pg_catalog.concat_ws('.',
    (SELECT oid FROM pg_catalog.pg_database WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database()),
    (SELECT oid FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) session_user),
    (SELECT oid FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) current_user)))`;
