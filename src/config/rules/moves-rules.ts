// Rules for moves: the keys that belong together.
import { error, warning, type Fault, type Path } from '../fault.ts';
import type { ParsedFile } from '../schema/file-schema.ts';
import { verifierRules } from './verifier-rules.ts';

const AT: Path = ['moves'];
const VERIFIERS: Path = [...AT, 'verifiers'];
const STAYS = 'sessions that log in with a password cannot move';
export function movesRules({ moves, pools }: ParsedFile): readonly Fault[] {
  if (moves === undefined) return Object.entries(pools).flatMap(([name, pool]) => unmovable(name, pool.on_leave));
  if (moves.verifiers !== undefined) return verifierRules(moves.verifiers, VERIFIERS, STAYS);
  if (!moves.md5) return [];
  return [warning('has no effect: without moves.verifiers no stored hash is read', [...AT, 'md5'], VERIFIERS)];
}

function unmovable(pool: string, onLeave: ParsedFile['pools'][string]['on_leave']): readonly Fault[] {
  const causes = Object.entries(onLeave).filter(([, mode]) => mode === 'move');
  return causes.map(([cause]) => error('move needs the section moves', ['pools', pool, 'on_leave', cause], AT));
}
