// What the SQLSTATE of a FATAL error says: whether the server ended one client for that client's sake, or is in trouble
// itself.

/** By the first two characters: protocol, feature, data, transaction state, login, database, access and syntax. */
const CLASSES_ABOUT_CLIENT: ReadonlySet<string> = new Set(['08', '0A', '22', '25', '28', '3D', '42']);
/** Too many connections; the database was dropped; the session was idle for too long. */
const STATES_ABOUT_CLIENT: ReadonlySet<string> = new Set(['53300', '57P04', '57P05']);

/** Serialization (recovery conflicts), resources, the system, the server's own faults. */
const CLASSES_UNASKED: ReadonlySet<string> = new Set(['40', '53', '58', 'XX']);

/** True: a session reads this error also when it asked for nothing: its server met it between two requests. */
export function mayComeUnasked(sqlState: string): boolean {
  return CLASSES_UNASKED.has(sqlState.slice(0, 2));
}

/** True: the error concerns this client alone, and says nothing against the server. */
export function isAboutClient(sqlState: string): boolean {
  return CLASSES_ABOUT_CLIENT.has(sqlState.slice(0, 2)) || STATES_ABOUT_CLIENT.has(sqlState);
}
