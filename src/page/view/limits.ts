// Limits, each with the value that it limits.
import type { PoolStatusDocument, StatusDocument } from '../../documents/status-document.ts';

export interface Limit {
  readonly name: string;
  readonly value: number;
  readonly most: number;
  /** The setting. */
  readonly setting: string;
}

export function limitsOf({ pools, branches, limits, open_files: files }: StatusDocument): readonly Limit[] {
  const both = branches === undefined ? pools : [...pools, branches];
  const all = ['startup', 'holding', 'dialing', 'relaying', 'parked', 'moving', 'closing'] as const;
  const { max_sessions: sessions, max_waiting_clients: waiting, max_handshakes: handshakes } = limits;
  return [
    { name: 'sessions', value: sum(both, all), most: sessions, setting: 'client.max_sessions' },
    // A client that waits for a branch has no place among those that wait for a member.
    { name: 'waiting', value: sum(pools, ['holding']), most: waiting, setting: 'hold.max_sessions' },
    ...(handshakes === null
      ? []
      : [{ name: 'handshakes', value: sum(both, ['startup']), most: handshakes, setting: 'client.max_handshakes' }]),
    ...(files === undefined
      ? []
      : [{ name: 'open files', value: files.in_use, most: files.limit, setting: 'the limit of this process' }]),
  ];
}

/** `warning` from 80 %, `bad` from 95 %. */
export function fillOf({ value, most }: Limit): 'normal' | 'warning' | 'bad' {
  const share = most === 0 ? 1 : value / most;
  return share >= 0.95 ? 'bad' : share >= 0.8 ? 'warning' : 'normal';
}

type CountedState = keyof NonNullable<PoolStatusDocument['sessions']>['by_state'];

function sum(counted: readonly Pick<PoolStatusDocument, 'sessions'>[], states: readonly CountedState[]): number {
  return counted.reduce(
    (all, { sessions }) => all + states.reduce((own, one) => own + (sessions?.by_state[one] ?? 0), 0),
    0,
  );
}
