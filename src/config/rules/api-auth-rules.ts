// Rules for the credentials towards the members' management API.
import { error, warning, type Fault, type Path } from '../fault.ts';
import type { ParsedFile } from '../schema/file-schema.ts';

const AUTH: Path = ['cluster', 'api', 'auth'];
const FILE: Path = [...AUTH, 'password_file'];

/** `unreadableFile`: the reason why a file cannot be read; undefined when it can. */
export function apiAuthRules(
  { cluster }: ParsedFile,
  unreadableFile: (file: string) => string | undefined,
): readonly Fault[] {
  const { auth } = cluster.api;
  if (auth === undefined) return [];
  const { password, password_file: file } = auth;
  if (password !== undefined && file !== undefined) {
    return [error('password and password_file both give the password: give one of the two', FILE, AUTH)];
  }
  // Warnings: a proxy routes without the password, and a file may be checked where the secret is not.
  if (file !== undefined) {
    const why = unreadableFile(file);
    return why === undefined ? [] : [warning(`${file} ${why}: operations on the cluster will fail`, FILE)];
  }
  if (password !== undefined) return [];
  const how = 'set POINTSMAN_CLUSTER_API_AUTH_PASSWORD or password_file';
  return [warning(`has no password, so operations on the cluster will fail: ${how}`, AUTH)];
}
