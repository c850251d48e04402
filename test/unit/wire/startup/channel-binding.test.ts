import { expect, it, test } from 'vitest';
import { withoutChannelBinding } from '../../../../src/wire/startup/channel-binding.ts';
import { encodeErrorResponse, encodeNotice } from '../../../../src/wire/messages/error-response.ts';
import { encodeNegotiateProtocolVersion, encodeSaslContinue } from '../../../../src/wire/messages/server-messages.ts';

/** AuthenticationSASL by hand. */
function offer(...names: readonly string[]): Buffer {
  return request(10, Buffer.from(`${names.map((name) => `${name}\0`).join('')}\0`));
}

function request(code: number, body: Uint8Array = new Uint8Array(0)): Buffer {
  const message = Buffer.alloc(9 + body.length);
  message.write('R');
  message.writeInt32BE(8 + body.length, 1);
  message.writeInt32BE(code, 5);
  message.set(body, 9);
  return message;
}

const PLUS = 'SCRAM-SHA-256-PLUS';
const SCRAM = 'SCRAM-SHA-256';

test.each([
  ['first, as PostgreSQL does', offer(PLUS, SCRAM), offer(SCRAM)],
  ['last', offer(SCRAM, PLUS), offer(SCRAM)],
  ['between others', offer('OAUTHBEARER', PLUS, SCRAM), offer('OAUTHBEARER', SCRAM)],
  ['of another hash', offer('SCRAM-SHA-512-PLUS', SCRAM), offer(SCRAM)],
  ['as the only one: the client reports that it knows none', offer(PLUS), offer()],
])('removes channel binding that is offered %s', (_, sent, expected) => {
  expect(Buffer.from(withoutChannelBinding(sent) ?? [])).toEqual(expected);
});

test.each([
  ['an offer without it', offer(SCRAM)],
  ['a name that only contains the word', offer('X-PLUS-Y', SCRAM)],
  ['AuthenticationOk', request(0)],
  ['a request for a password', request(3)],
  ['a later SASL message', Buffer.from(encodeSaslContinue(`r=${PLUS}`))],
  ['an error', Buffer.from(encodeErrorResponse({ sqlState: '28000', message: PLUS }))],
  ['a list without an end', request(10, Buffer.from(PLUS))],
  ['a request without a code', Buffer.from([0x52, 0, 0, 0, 4])],
  ['a length of nothing', Buffer.from([0x52, 0, 0, 0, 3, 0])],
  ['a negative length', Buffer.from([0x52, 0xff, 0xff, 0xff, 0xff])],
  ['a length beyond every authentication message', Buffer.from([0x52, 0, 1, 0, 0])],
  ['bytes that are no PostgreSQL', Buffer.from('HTTP/1.1 400 Bad Request\r\n')],
])('leaves alone %s', (_, sent) => {
  expect(withoutChannelBinding(sent)).toBe(sent);
});

it('finds the offer behind a notice and a negotiation of the version, and keeps the bytes behind it', () => {
  const before = Buffer.concat([encodeNegotiateProtocolVersion(['_pq_.x']), encodeNotice('recovering')]);
  const behind = Buffer.from('S\0\0\0\x0cSCRAM-SHA-256-PLUS\0');
  const seen = withoutChannelBinding(Buffer.concat([before, offer(PLUS, SCRAM), behind]));
  expect(Buffer.from(seen ?? [])).toEqual(Buffer.concat([before, offer(SCRAM), behind]));
});

it('waits for the whole first message', () => {
  const whole = Buffer.concat([encodeNotice('hello'), offer(PLUS, SCRAM)]);
  for (let length = 0; length < whole.length; length += 1) {
    expect(withoutChannelBinding(whole.subarray(0, length))).toBeUndefined();
  }
  const error = encodeErrorResponse({ sqlState: '57P03', message: 'the database system is starting up' });
  expect(withoutChannelBinding(error.subarray(0, -1))).toBeUndefined();
});

it('gives up on a server that sends notices without an end', () => {
  const notice = Buffer.from(encodeNotice('x'.repeat(4_000)));
  expect(withoutChannelBinding(Buffer.concat(Array.from({ length: 60 }, () => notice)))).toBeUndefined();
  const endless = Buffer.concat(Array.from({ length: 70 }, () => notice));
  expect(withoutChannelBinding(endless)).toBe(endless);
  const whole = Buffer.concat([endless, offer(PLUS, SCRAM)]);
  expect(Buffer.from(withoutChannelBinding(whole) ?? [])).toEqual(Buffer.concat([endless, offer(SCRAM)]));
});

it('reads a view into a larger buffer', () => {
  const larger = Buffer.concat([Buffer.from('xyz'), offer(PLUS, SCRAM)]);
  expect(Buffer.from(withoutChannelBinding(larger.subarray(3)) ?? [])).toEqual(offer(SCRAM));
});
