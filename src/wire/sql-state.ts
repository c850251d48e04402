// Classifies the SQLSTATE of a FATAL error: it concerns one client, or the server itself is in trouble.

/** By the first two characters: protocol, feature, data, transaction state, login, database, access and syntax. */
const CLASSES_ABOUT_CLIENT: ReadonlySet<string> = new Set(['08', '0A', '22', '25', '28', '3D', '42']);
/** Too many connections, a dropped database, a session that was idle for too long. */
const STATES_ABOUT_CLIENT: ReadonlySet<string> = new Set(['53300', '57P04', '57P05']);

/** Serialization (recovery conflicts), resources, the system, the server's own faults. */
const CLASSES_UNASKED: ReadonlySet<string> = new Set(['40', '53', '58', 'XX']);

/** True: the server may send this error to an idle session. */
export function mayComeUnasked(sqlState: string): boolean {
  return CLASSES_UNASKED.has(sqlState.slice(0, 2));
}

/** True: the error concerns this client alone and is no sign of trouble in the server. */
export function isAboutClient(sqlState: string): boolean {
  return CLASSES_ABOUT_CLIENT.has(sqlState.slice(0, 2)) || STATES_ABOUT_CLIENT.has(sqlState);
}
