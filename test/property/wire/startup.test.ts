import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { recognise, startupParameters } from '../../../src/wire/startup/startup.ts';
import {
  GSSENC_REQUEST,
  SSL_REQUEST,
  aCancelRequest,
  aPacket,
  aProxyHeader,
  aStartup,
} from '../../support/sockets/packets.ts';

/** Real packets, packets with false lengths, text and noise; some have more bytes behind them. */
const openings = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(
        SSL_REQUEST,
        GSSENC_REQUEST,
        Buffer.from('GET /'),
        Buffer.from('DELETE'),
        Buffer.from([0x16, 3, 1]),
        Buffer.from('PROXY TCP4 192.0.2.7 198.51.100.1 56324 5432\r\n'),
      ),
      fc.integer({ min: 0, max: 300 }).map((keyLength) => aCancelRequest(keyLength)),
      fc.dictionary(fc.string(), fc.string()).map((parameters) => aStartup(parameters)),
      fc.tuple(fc.integer(), fc.uint8Array({ maxLength: 64 })).map(([code, body]) => aPacket(code | 0, body)),
      fc
        .tuple(fc.constantFrom(0x20, 0x21, 0x22), fc.integer({ min: 0, max: 255 }), fc.uint8Array({ maxLength: 256 }))
        .map(([command, family, body]) => aProxyHeader(command, family, body)),
      fc.string({ unit: 'grapheme-ascii', maxLength: 110 }).map((text) => Buffer.from(`PROXY ${text}\r\n`)),
      fc.uint8Array({ maxLength: 64 }),
    ),
    fc.uint8Array({ maxLength: 16 }),
  )
  .map(([opening, rest]) => new Uint8Array(Buffer.concat([opening, rest])));

test('once an opening is recognised, more bytes never change it: every split gives one result', () => {
  fc.assert(
    fc.property(openings, (bytes) => {
      const whole = recognise(bytes);
      for (let length = 0; length <= bytes.length; length += 1) {
        const soFar = recognise(bytes.subarray(0, length));
        if (soFar.kind !== 'need_more') expect(soFar).toEqual(whole);
      }
    }),
  );
});

test('no packet is recognised before it is complete, or beyond PostgreSQL’s maximum length', () => {
  fc.assert(
    fc.property(openings, (bytes) => {
      const packet = recognise(bytes);
      if ('length' in packet) {
        expect(packet.length).toBeLessThanOrEqual(Math.min(bytes.length, 10_004));
        expect(recognise(bytes.subarray(0, packet.length - 1)).kind).toBe('need_more');
      }
    }),
  );
});

test('noise behind the header never makes the parameters throw or loop forever', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (body) => {
      expect(startupParameters(aPacket(0x00030000, body)).size).toBeLessThanOrEqual(body.length);
    }),
  );
});
