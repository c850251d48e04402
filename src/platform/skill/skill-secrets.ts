// Secrets that must not leave the machine with a skill: by the name of a file, and by its content. The list is short on
// purpose: each rule names something that is a secret wherever it stands.
import { shown } from '../../model/printable.ts';

/** Each with what it is. The name is without its folders. */
const BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/^\.env(?:\.|$)|\.env$/, 'a file of environment variables'],
  [/\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/, 'a file of keys'],
  [/^id_(?:rsa|dsa|ecdsa|ed25519)(?:$|\.)/, 'a key of ssh'],
  [/^\.?(?:pgpass|netrc|npmrc|pypirc|htpasswd|kubeconfig|git-credentials)$/, 'a file of passwords or tokens'],
  [/^credentials(?:\.\w+)?$/, 'a file of passwords or tokens'],
];

const BY_CONTENT: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY/, 'a private key'],
  [/\bAKIA[0-9A-Z]{16}\b/, 'an access key'],
  [/\bsk-[A-Za-z0-9_-]{20,}/, 'an API key'],
  [/\bgh[pousr]_[A-Za-z0-9]{30,}/, 'a token'],
  [/\bxox[abprs]-[A-Za-z0-9-]{10,}/, 'a token'],
  [/\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/, 'a token'],
  [/\bBearer [A-Za-z0-9._~+/-]{20,}/, 'a token'],
  // A placeholder such as $PASSWORD, <password> or PASSWORD is no secret.
  [/\bpostgres(?:ql)?:\/\/[^\s:/@]+:(?![$<{]|[A-Z_]+@)[^\s@/]+@/, 'a password in a connection string'],
  [/\bPGPASSWORD=(?!["']?[$<{]|[A-Z_]+\b)["']?[^\s"']+/, 'a password'],
];

/** One sentence each. No sentence has a part of the secret. */
export function secretProblems({ path, content }: { path: string; content: Uint8Array }): readonly string[] {
  const parts = path.split('/');
  const name = parts.at(-1)?.toLowerCase() ?? '';
  const named = BY_NAME.find(([pattern]) => pattern.test(name));
  if (named !== undefined) return [`${shown(path)}: ${named[1]} is not published`];
  if (parts.some((part) => part.startsWith('.'))) return [`${shown(path)}: hidden files are not published`];
  const lines = new TextDecoder().decode(content).split('\n');
  return BY_CONTENT.flatMap(([pattern, what]) => {
    const line = lines.findIndex((text) => pattern.test(text));
    return line === -1 ? [] : [`${shown(path)}:${line + 1}: looks like ${what}: put a placeholder there`];
  });
}
