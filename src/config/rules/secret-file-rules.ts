// A warning for each file with a secret that every user of the machine can read.
import { warning, type Fault, type Path } from '../fault.ts';
import type { ParsedFile } from '../schema/file-schema.ts';

export function secretFileRules(parsed: ParsedFile, isOpenToAll: (file: string) => boolean): readonly Fault[] {
  const { admin, branches, client, cluster, moves, platform } = parsed;
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
    [['platform', 'api_key_file'], platform?.api_key_file],
  ];
  return files.flatMap(([path, file]) =>
    file === undefined || !isOpenToAll(file)
      ? []
      : [warning(`${file} can be read by every user of this machine: chmod o-r, or 600`, path)],
  );
}
