// A server that wants the password of the lookup role, or our memory. It learns nothing, and the lookup fails at once.
import { createServer } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connectTo } from '../../support/sockets/connect-to.ts';
import { verifierOpener } from '../../../src/verifiers/batch.ts';
import { listen } from '../../support/sockets/listen.ts';
import { aMessage, aNumber, readyForQuery } from '../../support/sockets/messages.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

const PASSWORD = 'lookup-secret-42';
const SCRAM = request(10, 'SCRAM-SHA-256\0\0');
const READY = Buffer.concat([request(0), readyForQuery('I')]);

function request(code: number, data: string | Buffer = ''): Buffer {
  return aMessage('R', Buffer.concat([aNumber(code), Buffer.from(data)]));
}

/** The answer to the client's first message of SCRAM. */
function challenge(heard: string, iterations = 4096): Buffer {
  const [, nonce = ''] = /r=([^,]+)$/.exec(heard) ?? [];
  return request(11, `r=${nonce}more,s=c2FsdHNhbHQ=,i=${iterations}`);
}

/** Gives the answers in their order, one to each message of the client. Returns the outcome, and all that it heard. */
async function lookUpAt(
  answers: readonly ((heard: string) => Buffer | 'end')[],
  hasPassword = true,
): Promise<readonly [outcome: unknown, heard: string]> {
  let heard = '';
  const server = createServer((socket) => {
    const left = [...answers];
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      heard += chunk.toString('latin1');
      const answer = left.shift()?.(chunk.toString('latin1'));
      if (answer === 'end') socket.end();
      else if (answer !== undefined) socket.write(answer);
    });
  });
  onTestFinished(() => void server.close());
  const at = { host: '127.0.0.1', port: await listen(server) };
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const passwordFile = hasPassword ? join(directory, 'password') : undefined;
  if (passwordFile !== undefined) await writeFile(passwordFile, PASSWORD, { mode: 0o600 });
  const policy = { kind: 'query', user: 'pm', passwordFile, database: 'postgres', query: 'SELECT $1' } as const;
  const batch = verifierOpener(new ManualClock())(policy, at, connectTo(at));
  onTestFinished(() => batch.end());
  const lookup = await batch.find('app');
  return [lookup.kind === 'found' ? lookup.kind : lookup.why.replace(/^.*?: /, ''), heard];
}

const ALONE = 'Pointsman logs in by SCRAM-SHA-256 alone';
const UNPROVEN = 'the server has not proven that it knows the password';
const WRONG_ORDER = 'the messages of the login have the wrong order';

test.each<[string, string, readonly ((heard: string) => Buffer)[]]>([
  ['plain text', `the server asks for the password in plain text: ${ALONE}`, [() => request(3)]],
  ['md5', `the server asks for md5: ${ALONE}`, [() => request(5, 'salt')]],
  ['GSSAPI', `the server asks for GSSAPI: ${ALONE}`, [() => request(7)]],
  ['a method of the future', `the server asks for method 99: ${ALONE}`, [() => request(99)]],
  ['another mechanism', 'the server does not offer SCRAM-SHA-256', [() => request(10, 'PLAIN\0\0')]],
  [
    'plain text after SCRAM',
    `the server asks for the password in plain text: ${ALONE}`,
    [() => SCRAM, () => request(3)],
  ],
  ['no login at all', UNPROVEN, [() => READY]],
  ['ready without a word about the login', UNPROVEN, [() => readyForQuery('I')]],
  ['ready amid the login', UNPROVEN, [() => SCRAM, challenge, () => readyForQuery('I')]],
  ['a request without a method', `the server asks for method -1: ${ALONE}`, [() => aMessage('R')]],
  ['no challenge', UNPROVEN, [() => SCRAM, () => READY]],
  ['no signature', UNPROVEN, [() => SCRAM, challenge, () => READY]],
  ['the signature first', WRONG_ORDER, [() => SCRAM, () => request(12, 'v=YWJj')]],
  [
    'a length that leads back',
    'the server does not speak PostgreSQL',
    [() => Buffer.from('N\xff\xff\xff\xff', 'latin1')],
  ],
  ['two challenges', WRONG_ORDER, [() => SCRAM, challenge, challenge]],
  [
    'work for hours',
    'the challenge of the server is invalid',
    [() => SCRAM, (heard) => challenge(heard, 2_000_000_000)],
  ],
])('%s', async (_title, why, answers) => {
  const [outcome, heard] = await lookUpAt(answers);
  expect(outcome).toBe(why);
  expect(heard).not.toContain(PASSWORD);
  expect(heard).not.toMatch(/md5[0-9a-f]{32}/);
});

test('a server that ends the connection', async () => {
  expect(await lookUpAt([() => SCRAM, () => 'end'])).toEqual(['Connection terminated unexpectedly', expect.anything()]);
});

test('a signature that is wrong', async () => {
  const [outcome] = await lookUpAt([() => SCRAM, challenge, () => request(12, `v=${'A'.repeat(43)}=`)]);
  expect(outcome).toMatch(/server signature/);
});

const hardChallenge = (heard: string): Buffer => challenge(heard, 150_000);

test('as many iterations as PostgreSQL may be set to within reason', async () => {
  const [outcome, heard] = await lookUpAt([() => SCRAM, hardChallenge, () => request(12, `v=${'A'.repeat(43)}=`)]);
  expect(heard).toMatch(/p=.{43}=/);
  expect(outcome).toMatch(/server signature/);
});

test('a message on which the library throws', async () => {
  const [outcome] = await lookUpAt([() => aMessage('T', Buffer.of(0x7f, 0xff))]);
  expect(outcome).toMatch(/out of range/);
});

test('without a password a server that asks for nothing is asked', async () => {
  const [, heard] = await lookUpAt([() => READY, () => aMessage('E', Buffer.from('SERROR\0C42883\0Mno\0\0'))], false);
  expect(heard).toContain('SELECT $1');
});

const ROW = aMessage('D', Buffer.concat([Buffer.of(0, 1), aNumber(4), Buffer.from('1234')]));

test.each<[string, RegExp, Buffer]>([
  ['a row of 2 GB', /message that is too long/, Buffer.concat([Buffer.from('D'), aNumber(2 ** 31 - 1)])],
  ['an error of 2 GB', /message that is too long/, Buffer.concat([Buffer.from('E'), aNumber(2 ** 31 - 1)])],
  ['rows without an end', /more than 100 rows/, Buffer.concat(Array.from({ length: 200 }, () => ROW))],
])('%s', async (_title, why, answer) => {
  expect((await lookUpAt([() => READY, () => answer], false))[0]).toMatch(why);
});
