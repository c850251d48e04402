// Classifies SQLSTATEs. Of a FATAL error: it concerns one client, or the server itself is in trouble. Of any other: it
// may pass.

/** By the first two characters: protocol, feature, data, transaction state, login, database, access and syntax. */
const CLASSES_ABOUT_CLIENT: ReadonlySet<string> = new Set(['08', '0A', '22', '25', '28', '3D', '42']);
/** Too many connections, a dropped database, a session that was idle for too long. */
const STATES_ABOUT_CLIENT: ReadonlySet<string> = new Set(['53300', '57P04', '57P05']);

/**
 * The server starts or stops: cannot_connect_now, admin_shutdown, crash_shutdown. A statement waited too long or was
 * cancelled: query_canceled, lock_not_available, deadlock_detected. On a standby its replay came first:
 * serialization_failure.
 */
const FOR_NOW: ReadonlySet<string> = new Set(['57P03', '57P01', '57P02', '57014', '55P03', '40P01', '40001']);
/** The class insufficient_resources: no connection, memory or disk. */
const RESOURCES = '53';

/** True: another attempt may succeed. */
export function mayPass(sqlState: string | undefined): boolean {
  return sqlState !== undefined && (FOR_NOW.has(sqlState) || sqlState.startsWith(RESOURCES));
}

/** True: the error concerns this client alone and is no sign of trouble in the server. */
export function isAboutClient(sqlState: string): boolean {
  return CLASSES_ABOUT_CLIENT.has(sqlState.slice(0, 2)) || STATES_ABOUT_CLIENT.has(sqlState);
}
