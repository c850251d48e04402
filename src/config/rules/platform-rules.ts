// Rules for the platform: headers that collide, and a key that crosses the network in plain text.
import { error, type Fault, type Path } from '../fault.ts';
import type { ParsedFile } from '../schema/file-schema.ts';
import type { ParsedPlatform } from '../schema/platform-section.ts';
import { plainKey } from './secret-file-rules.ts';

/** Pointsman or the transport sets these. */
const TAKEN: ReadonlySet<string> = new Set(
  (
    'accept connection content-length content-type expect host keep-alive te trailer transfer-encoding upgrade ' +
    'user-agent'
  ).split(' '),
);

/** The file with the key is not read here: it may belong to the person that runs a command, not to the proxy. */
export function platformRules({ platform }: ParsedFile): readonly Fault[] {
  if (platform === undefined) return [];
  return [...plainKey(['platform', 'url'], platform.url), ...headerRules(platform)];
}

function headerRules({ auth_header: auth, beta_header: beta, headers }: ParsedPlatform): readonly Fault[] {
  const named: readonly (readonly [string, Path])[] = [
    [auth, ['platform', 'auth_header']],
    [beta, ['platform', 'beta_header']],
    ...Object.keys(headers).map((name): readonly [string, Path] => [name, ['platform', 'headers', name]]),
  ];
  return named.flatMap(([name, path], i) => {
    const lower = name.toLowerCase();
    if (TAKEN.has(lower)) return [error(`${name} is a header that Pointsman sets itself: name another one`, path)];
    const earlier = named.slice(0, i).find(([other]) => other.toLowerCase() === lower);
    return earlier === undefined ? [] : [error(`${name} is there twice: name each header once`, path, earlier[1])];
  });
}
