// Rules for a source of verifiers: one source, whole, and the files that are named.
import { error, warning, type Fault, type Path } from '../fault.ts';
import type { ParsedFile } from '../schema/file-schema.ts';
import { unreadableSecret } from './secret-file-rules.ts';

type ParsedVerifiers = NonNullable<NonNullable<ParsedFile['moves']>['verifiers']>;

/** Only the source that queries a server has these. */
const OF_THE_QUERY = ['password_file', 'database', 'query'] as const;

/** `effect`: of a file that cannot be read. */
export function verifierRules(verifiers: ParsedVerifiers, at: Path, effect: string): readonly Fault[] {
  const { user, query, file, password_file: passwordFile } = verifiers;
  const [atUser, atFile]: readonly [Path, Path] = [
    [...at, 'user'],
    [...at, 'file'],
  ];
  if (file !== undefined) {
    if (user !== undefined) {
      return [error('user and file both give the verifiers: give one of the two', atFile, atUser)];
    }
    const unused = OF_THE_QUERY.filter((key) => verifiers[key] !== undefined);
    return [
      ...unused.map((key) => warning('has no effect: file has the verifiers', [...at, key], atFile)),
      ...unreadableSecret(atFile, file, effect),
    ];
  }
  if (user === undefined) {
    const text = 'has no source: give user and password_file, or file';
    return [error(text, at, atUser, atFile)];
  }
  const noParameter = 'has no parameter for the role: write $1 where its name belongs';
  return [
    ...(query === undefined || /\$1(?!\d)/.test(query) ? [] : [error(noParameter, [...at, 'query'])]),
    ...unreadableSecret([...at, 'password_file'], passwordFile, effect),
  ];
}
