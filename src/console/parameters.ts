// The parameters that a server tells its client at the start. Drivers read from them how text is encoded and quoted.

/** The version is our own, with a suffix as PgBouncer's has it (`1.18.0/bouncer`). */
export function parametersOf(version: string): ReadonlyMap<string, string> {
  return new Map([
    ['server_version', `${version}/pointsman`],
    ['client_encoding', 'UTF8'],
    ['server_encoding', 'UTF8'],
    ['DateStyle', 'ISO'],
    ['TimeZone', 'GMT'],
    ['integer_datetimes', 'on'],
    ['standard_conforming_strings', 'on'],
    ['is_superuser', 'off'],
    ['default_transaction_read_only', 'on'],
    ['transaction_isolation', 'read committed'],
  ]);
}
