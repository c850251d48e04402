// Rules for the credentials towards the members' management API.
import { error, warning, type Fault, type Path } from '../fault.ts';
import type { ParsedFile } from '../schema/file-schema.ts';
import { unreadableSecret } from './secret-file-rules.ts';

const AUTH: Path = ['cluster', 'api', 'auth'];
const FILE: Path = [...AUTH, 'password_file'];

export function apiAuthRules({ cluster }: ParsedFile): readonly Fault[] {
  const { auth } = cluster.api;
  if (auth === undefined) return [];
  const { password, password_file: file } = auth;
  if (password !== undefined && file !== undefined) {
    return [error('password and password_file both give the password: give one of the two', FILE, AUTH)];
  }
  if (file !== undefined) return unreadableSecret(FILE, file, 'operations on the cluster will fail');
  if (password !== undefined) return [];
  const how = 'set POINTSMAN_CLUSTER_API_AUTH_PASSWORD or password_file';
  return [warning(`has no password, so operations on the cluster will fail: ${how}`, AUTH)];
}
