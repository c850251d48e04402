// The sentence of the start about what Pointsman cannot do for sessions whose TLS it passes through. It is no fault,
// but users notice it at the first switchover.
import type { Config } from '../config/config.ts';

/** Undefined: TLS of clients ends at Pointsman. */
export function passthroughLimits({
  client,
  moves,
  branches,
  pools,
}: Pick<Config, 'client' | 'moves' | 'branches' | 'pools'>): string | undefined {
  if (client.tls.mode !== 'passthrough') return undefined;
  const limits = [
    ...(moves === undefined ? [] : ['do not move']),
    ...(branches === undefined ? [] : ['reach no branch by the database name']),
    ...(pools.length > 1 ? ['choose no pool by the database name'] : []),
    'are not drained between two transactions',
    'end without a reason',
  ];
  const list = `${limits.slice(0, -1).join(', ')} and ${limits.at(-1) ?? ''}`;
  return `TLS of clients passes through to the members (client.tls.mode): such sessions ${list}; see config/tls.md`;
}
