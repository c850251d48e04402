// A login on two legs that gets any bytes from either side: it never throws, sends the server nothing that a client has
// said out of turn, asks for a verifier once at most, and lets a client on only behind the server's own proof.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { TwoLegLogin, type TwoLegStep } from '../../../src/wire/talk/two-leg-login.ts';
import { AUTHENTICATION_OK, aMessage, aNumber, errorOf } from '../../support/sockets/messages.ts';
import { HASHES, scramKeys } from '../../support/values/hashes.ts';

const { verifier } = scramKeys('pencil', 'W22ZaJ0SNY7soEsUEjb6gQ==', 4096);
const CODES = [0, 3, 5, 10, 11, 12];
const TEXTS = [
  'SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0',
  'SCRAM-SHA-256\0\0',
  'OAUTHBEARER\0\0',
  'r=AAAA,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096',
  'v=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
];
const FIRSTS = [
  'n,,n=,r=abc',
  'y,,n=,r=abc',
  'p=tls-server-end-point,,n=,r=abc',
  'p=tls-unique,,n=,r=abc',
  'n,a=x,n=,r=abc',
];

const requests = fc
  .tuple(fc.constantFrom(...CODES), fc.oneof(fc.constantFrom(...TEXTS), fc.string({ maxLength: 60 })))
  .map(([code, text]) => aMessage('R', Buffer.concat([aNumber(code), Buffer.from(text, 'latin1')])));
const choices = fc
  .tuple(fc.constantFrom('SCRAM-SHA-256', 'SCRAM-SHA-256-PLUS', 'X'), fc.constantFrom(...FIRSTS))
  .map(([name, first]) =>
    aMessage('p', Buffer.concat([Buffer.from(`${name}\0`), aNumber(first.length), Buffer.from(first)])),
  );
const finals = fc.string({ maxLength: 120 }).map((text) => aMessage('p', Buffer.from(text, 'latin1')));
const noise = fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes));
const others = fc.constantFrom(AUTHENTICATION_OK, errorOf(['SFATAL', 'C28P01', 'Mno']), aMessage('N', Buffer.alloc(1)));
const turns = fc.oneof(
  fc.record({ from: fc.constant('server' as const), bytes: fc.oneof(requests, others, noise) }),
  fc.record({ from: fc.constant('client' as const), bytes: fc.oneof(choices, finals, noise) }),
  fc.record({ from: fc.constant('source' as const), bytes: fc.constantFrom(verifier, Buffer.from('x')) }),
);
const hashes = fc.constantFrom(undefined, Buffer.alloc(32, 1), Buffer.alloc(32, 2));

test('any bytes from either side, in any order', () => {
  const options = fc.record({
    ownHash: hashes,
    serverHash: hashes,
    isPasswordSafe: fc.boolean(),
    hasVerifiers: fc.boolean(),
  });
  fc.assert(
    fc.property(options, fc.array(turns, { maxLength: 12 }), (given, all) => {
      const random = { client: Buffer.alloc(18, 1), server: Buffer.alloc(18, 2), proof: Buffer.alloc(32, 3) };
      const login = new TwoLegLogin({ ...given, random, hashes: HASHES });
      let asked = 0;
      let end: TwoLegStep['end'];
      for (const { from, bytes } of all) {
        if (end !== undefined || (from === 'source' && asked === 0)) continue;
        const step =
          from === 'server'
            ? login.fromServer(bytes)
            : from === 'client'
              ? login.fromClient(bytes)
              : login.verifier(Buffer.from(bytes));
        if (step.asksForVerifier) asked += 1;
        end = step.end;
        expect(end?.kind === 'relay' && end.isAccepted).toBe(false);
        if (end?.kind === 'refused') expect(step.toServer).toHaveLength(0);
      }
      expect(asked).toBeLessThanOrEqual(given.hasVerifiers ? 1 : 0);
    }),
    { numRuns: 2000 },
  );
});
