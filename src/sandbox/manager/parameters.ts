// Which parameters a member's PostgreSQL runs with, and which configuration may set them. Pure: configurations in,
// values out.
import type { Parameters } from '../postgres/server-types.ts';

import { CLUSTER_WIDE_DEFAULTS } from '../postgres/settings-files.ts';

/**
 * A standby's value must not be lower than the primary's. So there is one value for all members, and only the dynamic
 * configuration changes it (management API).
 */
export const CLUSTER_WIDE: readonly string[] = Object.keys(CLUSTER_WIDE_DEFAULTS);

const OWNED: readonly (readonly [RegExp, string])[] = [
  [/^(port|listen_addresses|unix_socket_.*)$/, 'is fixed by the sandbox: the addresses of its members do not change'],
  [
    /^(data_directory|config_file|hba_file|ident_file|external_pid_file)$/,
    'is fixed by the sandbox: it owns the files',
  ],
  [/^(primary_conninfo|primary_slot_name|recovery_.*|restore_command|promote_trigger_file)$/, 'is set by the managers'],
  [/^(synchronous_standby_names)$/, 'is set by the leader: use synchronous_mode'],
  [/^(wal_level|hot_standby|cluster_name|wal_log_hints)$/, 'is fixed by the sandbox: replication depends on it'],
  [/^(logging_collector|log_destination|log_directory|log_filename)$/, 'is fixed by the sandbox: it reads the log'],
];

/** The reason why the sandbox does not let this parameter be set; undefined when it does. */
export function whyOwned(name: string): string | undefined {
  return OWNED.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1];
}

export interface ParameterSources {
  readonly dynamic: Parameters;
  /** From the member's own file. It wins, except where one value must hold for all members. */
  readonly local: Parameters;
  /** The leader derives it from `synchronous_mode`. It is empty on every other member. */
  readonly synchronousStandbyNames: string;
}

export function composeParameters(sources: ParameterSources): Parameters {
  const local = Object.entries(sources.local).filter(([name]) => whyIgnored(name) === undefined);
  const dynamic = Object.entries(sources.dynamic).filter(([name]) => whyOwned(name) === undefined);
  return {
    ...CLUSTER_WIDE_DEFAULTS,
    ...Object.fromEntries([...dynamic, ...local]),
    synchronous_standby_names: sources.synchronousStandbyNames,
  };
}

/** The reason why a value in a member's own file has no effect. */
export function whyIgnored(name: string): string | undefined {
  if (CLUSTER_WIDE.includes(name)) return 'can be changed only through the dynamic configuration';
  return whyOwned(name);
}

const LOWER = /(\w+) = (\d+) is a lower setting than on the primary server, where its value was (\d+)/g;

/**
 * For a standby that ended itself because its values are lower than its primary's: the values that it ran with before,
 * or those that the server's log asks for where these are higher. Undefined when the log names nothing that can be
 * raised.
 */
export function raisedToPrimary(wanted: Parameters, original: Parameters, log: string): Parameters | undefined {
  const asked = [...log.matchAll(LOWER)].map(
    ([, name = '', had, needed]) => [name, Number(had), Number(needed)] as const,
  );
  const short = asked.filter(([name, , needed]) => Number(wanted[name] ?? 0) < needed);
  if (short.length === 0) return undefined;
  const kept = CLUSTER_WIDE.flatMap((name) => {
    const before = original[name];
    return before !== undefined && Number(before) > Number(wanted[name] ?? 0) ? [[name, before] as const] : [];
  });
  const raised = { ...wanted, ...Object.fromEntries(kept) };
  for (const [name, , needed] of short) raised[name] = String(Math.max(Number(raised[name] ?? 0), needed));
  return raised;
}

export function isSame(a: Parameters, b: Parameters): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
