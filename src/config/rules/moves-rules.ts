// Rules for moves: one source of verifiers, whole, and the files that are named.
import { error, warning, type Fault, type Path } from '../fault.ts';
import type { ParsedFile } from '../schema/file-schema.ts';
import { unreadableSecret } from './secret-file-rules.ts';

const AT: Path = ['moves'];
const VERIFIERS: Path = [...AT, 'verifiers'];
const USER: Path = [...VERIFIERS, 'user'];
const FILE: Path = [...VERIFIERS, 'file'];
/** Only the source that queries a server has these. */
const OF_THE_QUERY = ['password_file', 'database', 'query'] as const;
const STAYS = 'sessions that log in with a password cannot move';

export function movesRules({ moves, pools }: ParsedFile): readonly Fault[] {
  if (moves === undefined) return Object.entries(pools).flatMap(([name, pool]) => unmovable(name, pool.on_leave));
  if (moves.verifiers !== undefined) return verifierRules(moves.verifiers);
  if (!moves.md5) return [];
  return [warning('has no effect: without moves.verifiers no stored hash is read', [...AT, 'md5'], VERIFIERS)];
}

function unmovable(pool: string, onLeave: ParsedFile['pools'][string]['on_leave']): readonly Fault[] {
  const causes = Object.entries(onLeave).filter(([, mode]) => mode === 'move');
  return causes.map(([cause]) => error('move needs the section moves', ['pools', pool, 'on_leave', cause], AT));
}

type ParsedVerifiers = NonNullable<NonNullable<ParsedFile['moves']>['verifiers']>;

function verifierRules(verifiers: ParsedVerifiers): readonly Fault[] {
  const { user, query, file, password_file: passwordFile } = verifiers;
  if (file !== undefined) {
    if (user !== undefined) {
      return [error('user and file both give the verifiers: give one of the two', FILE, USER)];
    }
    const unused = OF_THE_QUERY.filter((key) => verifiers[key] !== undefined);
    return [
      ...unused.map((key) => warning('has no effect: file has the verifiers', [...VERIFIERS, key], FILE)),
      ...unreadableSecret(FILE, file, STAYS),
    ];
  }
  if (user === undefined) {
    const text = 'has no source: give user and password_file, or file';
    return [error(text, VERIFIERS, USER, FILE)];
  }
  const noParameter = 'has no parameter for the role: write $1 where its name belongs';
  return [
    ...(query === undefined || /\$1(?!\d)/.test(query) ? [] : [error(noParameter, [...VERIFIERS, 'query'])]),
    ...unreadableSecret([...VERIFIERS, 'password_file'], passwordFile, STAYS),
  ];
}
