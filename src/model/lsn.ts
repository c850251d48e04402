// The text form of a WAL position.

/** `<hex>/<hex>` to bytes (PostgreSQL's pg_lsn: high and low 32 bits); undefined when it is not one or exceeds 2^53. */
export function parseLsn(text: string): number | undefined {
  const match = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/.exec(text);
  if (match === null) return undefined;
  const bytes = Number.parseInt(match[1] ?? '', 16) * 2 ** 32 + Number.parseInt(match[2] ?? '', 16);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** The inverse. */
export function formatLsn(bytes: number): string {
  const low = bytes % 2 ** 32;
  return [(bytes - low) / 2 ** 32, low].map((half) => half.toString(16).toUpperCase()).join('/');
}
