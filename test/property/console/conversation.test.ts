// The console under hostile bytes: it never throws, never waits for what cannot come, never keeps more than a message.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { converse } from '../../../src/console/conversation.ts';
import { ConsoleInput, LONGEST_MESSAGE } from '../../../src/console/incoming.ts';
import { statementsOf } from '../../../src/console/statements.ts';
import type { ReaderCheck } from '../../../src/console/login.ts';
import { verifierOf } from '../../../src/console/scram.ts';
import { aMessage, BIND, EXECUTE, PARSE, SYNC } from '../../support/sockets/messages.ts';
import { GSSENC_REQUEST, SSL_REQUEST, aPacket, aStartup } from '../../support/sockets/packets.ts';
import { aConsoleSources } from '../../support/values/console.ts';

const OPEN: ReaderCheck = { kind: 'open' };
const STARTUP = aStartup({ user: 'x', database: 'pointsman' });
const query = (text: string): Buffer => aMessage('Q', Buffer.from(`${text}\0`));

/** The type of each message that it answers with. */
async function answersTo(chunks: Iterable<Uint8Array>, access: ReaderCheck = OPEN): Promise<readonly string[]> {
  const sent: Uint8Array[] = [];
  const send = (bytes: Uint8Array): Promise<void> => Promise.resolve(void sent.push(bytes));
  const sources = aConsoleSources();
  async function* arriving(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  await converse(arriving(), { sources, access: () => Promise.resolve(access), send, onLogin: () => {} });
  return messagesOf(Buffer.concat(sent));
}

function messagesOf(bytes: Buffer): readonly string[] {
  const types: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const type = String.fromCharCode(bytes[at] ?? 0);
    types.push(type);
    // The answer to a request for encryption is one byte, an alert and HTTP end the stream.
    if (type === 'N') at += 1;
    else if (type === 'H' || bytes[at] === 0x15) return types;
    else at += 1 + bytes.readInt32BE(at + 1);
  }
  return types;
}

/** The same bytes in chunks. */
function split(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...chunks, bytes.subarray(at)];
}

const sizes = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 });
const messages = fc.oneof(
  fc.string({ maxLength: 60 }).map(query),
  fc.constantFrom('show pools', 'show version; show lists', 'show config; select', 'begin', 'commit', '').map(query),
  fc.constantFrom(PARSE, BIND, EXECUTE, SYNC, aMessage('X'), aMessage('H'), aMessage('D', Buffer.from('S\0'))),
  fc
    .tuple(fc.constantFrom(...Array.from('QPBDECSHFcdfp?')), fc.uint8Array({ maxLength: 40 }))
    .map(([type, body]) => aMessage(type, body)),
  fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
);

test('any messages in any chunks get the same answers, and the last one is complete', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(messages, { maxLength: 12 }), sizes, async (all, cuts) => {
      const bytes = Buffer.concat([STARTUP, ...all]);
      const whole = await answersTo([bytes]);
      expect(whole.slice(0, 2)).toEqual(['R', 'S']);
      expect(await answersTo(split(bytes, cuts))).toEqual(whole);
    }),
  );
});

test('any opening gets an answer or none, never more than the login', async () => {
  const openings = fc.array(
    fc.oneof(
      fc.constantFrom(SSL_REQUEST, GSSENC_REQUEST, STARTUP, Buffer.from('GET / HTTP/1.1\r\n'), aPacket(0x00030002)),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    ),
    { maxLength: 5 },
  );
  const token: ReaderCheck = { kind: 'token', verifier: await verifierOf('0123456789abcdef') };
  await fc.assert(
    fc.asyncProperty(openings, fc.array(messages, { maxLength: 4 }), async (first, rest) => {
      const answers = await answersTo([Buffer.concat([...first, ...rest])], token);
      // No ReadyForQuery, and no row.
      expect(answers.filter((type) => ['Z', 'T', 'D', 'S'].includes(type))).toEqual([]);
    }),
  );
});

test('after ready statements there is one ReadyForQuery for each Query and each Sync', async () => {
  const known = fc.oneof(
    fc.string({ maxLength: 60 }).map((text) => query(text.replaceAll('\0', ''))),
    fc.constantFrom(query('show pools;show stats'), PARSE, BIND, EXECUTE, SYNC),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(known, { maxLength: 20 }), async (all) => {
      const expected = all.filter((one) => one[0] === 0x51 || one === SYNC).length;
      const answers = await answersTo([Buffer.concat([STARTUP, ...all])]);
      expect(answers.filter((type) => type === 'Z')).toHaveLength(1 + expected);
    }),
  );
});

test('a message is never longer than the limit, whatever its header says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.uint8Array({ minLength: 1, maxLength: 1 }), async (length, [type = 0]) => {
      const header = Buffer.alloc(5);
      header[0] = type;
      header.writeInt32BE(length, 1);
      let given = 0;
      async function* endless(): AsyncGenerator<Uint8Array> {
        yield header;
        for (; given < 64 * LONGEST_MESSAGE; given += 1024) yield new Uint8Array(1024);
      }
      const message = await new ConsoleInput(endless()).message().catch((error: Error) => error.message);
      if (typeof message === 'string') expect(given).toBe(0);
      else expect(given).toBeLessThanOrEqual(LONGEST_MESSAGE);
    }),
  );
});

test('any text becomes statements, each with words', () => {
  const part = fc.constantFrom('show', ' ', ';', "'", '"', '$', '$a$', '/*', '*/', '--', '\n', 'ü', '\ud800', '5');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(part).map((parts) => parts.join('')),
      ),
      (text) => {
        for (const { words } of statementsOf(text)) expect(words.length).toBeGreaterThan(0);
      },
    ),
  );
});
