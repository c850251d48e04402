// Limits, each with the value that it limits.
import type { StatusDocument } from '../../admin/schema/status.ts';

export interface Limit {
  readonly name: string;
  readonly value: number;
  readonly most: number;
  /** The setting. */
  readonly setting: string;
}

export function limitsOf({ pools, limits, open_files: files }: StatusDocument): readonly Limit[] {
  const sum = (states: readonly ('startup' | 'holding' | 'dialing' | 'relaying' | 'closing')[]): number =>
    pools.reduce((all, { sessions }) => all + states.reduce((own, one) => own + (sessions?.by_state[one] ?? 0), 0), 0);
  const all = ['startup', 'holding', 'dialing', 'relaying', 'closing'] as const;
  const { max_sessions: sessions, max_waiting_clients: waiting, max_handshakes: handshakes } = limits;
  return [
    { name: 'sessions', value: sum(all), most: sessions, setting: 'client.max_sessions' },
    { name: 'waiting', value: sum(['holding']), most: waiting, setting: 'hold.max_sessions' },
    ...(handshakes === null
      ? []
      : [{ name: 'handshakes', value: sum(['startup']), most: handshakes, setting: 'client.max_handshakes' }]),
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
