// The secrets of the tests. Each has a word in it that is nowhere else. Helpers that start the program search all
// that it writes for this word and for the private keys: a secret that leaks fails its test.
import { readdirSync, readFileSync } from 'node:fs';

const WORD = 'canary7Kq2Zx';

export const APP_PASSWORD = `${WORD}-of-app`;
export const SUPERUSER_PASSWORD = `${WORD}-of-superuser`;
export const REPLICATION_PASSWORD = `${WORD}-of-replication`;
export const LOOKUP_PASSWORD = `${WORD}-of-lookup`;
/** For the management API. */
export const API_PASSWORD = `${WORD} of the API`;
export const ADMIN_TOKEN = `${WORD}-of-operator`;
/** For the console of branches. */
export const BRANCHES_KEY = `${WORD}-of-branches`;
/** For the storage node, in a header. */
export const STORAGE_TOKEN = `${WORD}-of-storage`;
export const PLATFORM_KEY = `${WORD}-of-platform`;
export const KUBERNETES_TOKEN = `${WORD}-of-kubernetes`;

const FIXTURES = new URL('../../fixtures/tls/', import.meta.url);

/** Base64 has three forms of a word, by its place. The characters at both ends belong to its neighbours, too. */
function base64Of(word: string): readonly string[] {
  return [0, 1, 2].map((at) => {
    const text = Buffer.from(`${' '.repeat(at)}${word}`).toString('base64');
    return text.slice(at === 0 ? 0 : 4, Math.floor((at + word.length) / 3) * 4);
  });
}

/** The second line of a key's base64. The first has the kind of the key, and the last the public half. */
export function secretLineOf(file: string | URL): string {
  return readFileSync(file, 'utf8').split('\n')[2] ?? '';
}

const keys = readdirSync(FIXTURES).filter((name) => name.endsWith('.key'));
const WANTED: readonly string[] = [
  WORD,
  Buffer.from(WORD).toString('hex'),
  ...base64Of(WORD),
  ...keys.map((name) => secretLineOf(new URL(name, FIXTURES))),
];

/** Fails when a text that the program wrote has a secret of the tests in it. `where`: its place, for the message. */
export function expectNoCanary(where: string, text: string): void {
  const leaked = WANTED.find((wanted) => text.includes(wanted));
  if (leaked === undefined) return;
  const at = text.indexOf(leaked);
  throw new Error(`${where} has a secret: …${text.slice(Math.max(0, at - 200), at + 60)}…`);
}
