// Rules for secrets: a file that every user of the machine can read, or nobody; a key that crosses the network as text.
import { warning, type Fault, type Path } from '../fault.ts';
import { isOpenToAll, unreadableFile } from '../files/unusable-files.ts';
import type { ParsedFile } from '../schema/file-schema.ts';

export function secretFileRules(parsed: ParsedFile): readonly Fault[] {
  const { admin, branches, client, cluster, moves, platform, questions } = parsed;
  const { tls } = client;
  const files: readonly (readonly [Path, string | undefined])[] = [
    [['cluster', 'api', 'tls', 'key'], cluster.api.tls?.key],
    [['cluster', 'api', 'auth', 'password_file'], cluster.api.auth?.password_file],
    [['client', 'tls', 'key'], 'key' in tls ? tls.key : undefined],
    [['admin', 'token_file'], admin.token_file],
    [['branches', 'console', 'api_key_file'], branches?.console?.api_key_file],
    [['branches', 'storage', 'headers_file'], branches?.storage?.headers_file],
    [['moves', 'verifiers', 'file'], moves?.verifiers?.file],
    [['moves', 'verifiers', 'password_file'], moves?.verifiers?.password_file],
    [['questions', 'password_file'], questions?.password_file],
    [['platform', 'api_key_file'], platform?.api_key_file],
  ];
  return files.flatMap(([path, file]) =>
    file === undefined || !isOpenToAll(file)
      ? []
      : [warning(`${file} can be read by every user of this machine: chmod o-r, or 600`, path)],
  );
}

/**
 * A warning, because Pointsman routes without the secret, and the configuration may be checked where the secret is not.
 * `effect`: what does not work without it.
 */
export function unreadableSecret(path: Path, file: string | undefined, effect: string): readonly Fault[] {
  const why = file === undefined ? undefined : unreadableFile(file);
  return why === undefined ? [] : [warning(`${file} ${why}: ${effect}`, path)];
}

export function plainKey(path: Path, url: string): readonly Fault[] {
  const { protocol, hostname } = new URL(url);
  const isLocal = /^(?:127\.[\d.]+|\[::1\]|localhost)$/.test(hostname);
  if (protocol !== 'http:' || isLocal) return [];
  return [warning('http sends the API key in plain text over the network: use https', path)];
}
