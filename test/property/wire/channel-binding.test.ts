import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutChannelBinding } from '../../../src/wire/startup/channel-binding.ts';
import { encodeErrorResponse, encodeNotice } from '../../../src/wire/messages/error-response.ts';
import { encodeNegotiateProtocolVersion, encodeSaslMechanisms } from '../../../src/wire/messages/server-messages.ts';

const names = fc.oneof(
  fc.constantFrom('SCRAM-SHA-256', 'SCRAM-SHA-256-PLUS', 'OAUTHBEARER', 'X-PLUS', 'PLUS'),
  fc.stringMatching(/^[A-Z0-9_-]{1,20}$/),
);
const before = fc.array(
  fc.constantFrom(encodeNotice('recovering'), encodeNegotiateProtocolVersion(['_pq_.a', '_pq_.b'])),
  { maxLength: 3 },
);
const behind = fc.uint8Array({ maxLength: 40 });

/** Gives the filter the bytes as they arrive; the rest goes past it. */
function received(bytes: Uint8Array, cuts: readonly number[]): Buffer {
  const ends = [...new Set([...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].toSorted((a, b) => a - b);
  let passed: Buffer | undefined;
  let from = 0;
  for (const end of ends) {
    if (passed === undefined) {
      const result = withoutChannelBinding(bytes.subarray(0, end));
      if (result !== undefined) passed = Buffer.from(result);
    } else {
      passed = Buffer.concat([passed, bytes.subarray(from, end)]);
    }
    from = end;
  }
  return passed ?? Buffer.alloc(0);
}

test('however the bytes are split, the client gets the same offer without channel binding, and all other bytes', () => {
  fc.assert(
    fc.property(
      before,
      fc.array(names, { maxLength: 6 }),
      behind,
      fc.array(fc.nat(), { maxLength: 8 }),
      (first, offered, rest, cuts) => {
        const sent = Buffer.concat([...first, encodeSaslMechanisms(offered), rest]);
        const kept = offered.filter((name) => !name.endsWith('-PLUS'));
        expect(received(sent, cuts)).toEqual(Buffer.concat([...first, encodeSaslMechanisms(kept), rest]));
      },
    ),
  );
});

test('noise and errors arrive unchanged, whatever their length word says, or stay incomplete', () => {
  const errors = fc.string().map((message) => encodeErrorResponse({ sqlState: '57P03', message }));
  const noise = fc
    .tuple(fc.constantFrom('R', 'E', 'N', 'v', 'X'), fc.uint8Array({ maxLength: 60 }))
    .map(([type, body]) => new Uint8Array(Buffer.concat([Buffer.from(type), body])));
  fc.assert(
    fc.property(fc.oneof(errors, noise), (bytes) => {
      const result = withoutChannelBinding(bytes);
      if (result !== undefined) expect(Buffer.from(result)).toEqual(Buffer.from(bytes));
    }),
  );
});
