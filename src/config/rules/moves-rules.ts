// Rules for moves: the keys that belong together.
import { isExclusive } from '../schema/defaults.ts';
import { error, warning, type Fault, type Path } from '../fault.ts';
import type { ParsedFile, ParsedPool } from '../schema/file-schema.ts';
import { verifierRules } from './verifier-rules.ts';

const AT: Path = ['moves'];
const VERIFIERS: Path = [...AT, 'verifiers'];
const STAYS = 'sessions that log in with a password cannot move';
export function movesRules({ moves, pools }: ParsedFile): readonly Fault[] {
  const faults = Object.entries(pools).flatMap(([name, pool]) => rebalanceRules(name, pool, moves));
  if (moves === undefined) {
    return [...faults, ...Object.entries(pools).flatMap(([name, pool]) => unmovable(name, pool.on_leave))];
  }
  return [...faults, ...ownRules(moves)];
}

function ownRules(moves: NonNullable<ParsedFile['moves']>): readonly Fault[] {
  if (moves.verifiers !== undefined) return verifierRules(moves.verifiers, VERIFIERS, STAYS);
  if (!moves.md5) return [];
  return [warning('has no effect: without moves.verifiers no stored hash is read', [...AT, 'md5'], VERIFIERS)];
}

function unmovable(pool: string, onLeave: ParsedFile['pools'][string]['on_leave']): readonly Fault[] {
  const causes = Object.entries(onLeave).filter(([, mode]) => mode === 'move');
  return causes.map(([cause]) => error('move needs the section moves', ['pools', pool, 'on_leave', cause], AT));
}

function rebalanceRules(name: string, pool: ParsedPool, moves: ParsedFile['moves']): readonly Fault[] {
  if (pool.rebalance === undefined || pool.rebalance === false || isExclusive(pool)) return [];
  const at: Path = ['pools', name, 'rebalance'];
  if (moves === undefined) return [error('needs the section moves: no session moves without it', at, AT)];
  if (pool.balance !== 'client_address') return [];
  const why = 'balance: client_address keeps the sessions of an address together: leave one of the two out';
  return [error(why, at, ['pools', name, 'balance'])];
}
