// The messages of the console, byte by byte; drivers read them in test/integration/console.
import { expect, test } from 'vitest';
import * as messages from '../../../../src/wire/messages/server-messages.ts';
import * as built from '../../../support/sockets/messages.ts';

const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);

test.each<[string, Uint8Array, Buffer]>([
  ['AuthenticationOk', messages.AUTHENTICATION_OK, built.AUTHENTICATION_OK],
  ['AuthenticationSASL', messages.encodeSaslMechanisms(['SCRAM-SHA-256']), built.AUTHENTICATION_SASL],
  ['SASLContinue', messages.encodeSaslContinue('r=1'), built.aMessage('R', Buffer.from('\0\0\0\x0br=1'))],
  ['SASLFinal', messages.encodeSaslFinal('v=1'), built.aMessage('R', Buffer.from('\0\0\0\x0cv=1'))],
  ['ParameterStatus', messages.encodeParameterStatus('a', 'b'), built.parameterStatus('a', 'b')],
  ['ReadyForQuery', messages.encodeReadyForQuery('idle'), built.readyForQuery('I')],
  ['ReadyForQuery in a transaction', messages.encodeReadyForQuery('in_transaction'), built.readyForQuery('T')],
  ['CommandComplete', messages.encodeCommandComplete('SELECT 1'), built.COMMAND_COMPLETE],
  ['DataRow', messages.encodeDataRow(['1']), built.DATA_ROW],
  ['EmptyQueryResponse', messages.EMPTY_QUERY, built.aMessage('I')],
  [
    'NegotiateProtocolVersion',
    messages.encodeNegotiateProtocolVersion(['_pq_.x']),
    built.aMessage('v', Buffer.concat([built.aNumber(0x30000), built.aNumber(1), Buffer.from('_pq_.x\0')])),
  ],
  [
    'RowDescription',
    messages.encodeRowDescription([{ name: 'n', type: 'int4' }]),
    built.aMessage(
      'T',
      Buffer.concat([
        int16(1),
        Buffer.from('n\0'),
        built.aNumber(0),
        int16(0),
        built.aNumber(23),
        int16(4),
        built.aNumber(-1),
        int16(0),
      ]),
    ),
  ],
])('%s', (_name, encoded, expected) => {
  expect(Buffer.from(encoded)).toEqual(expected);
});

test('a NULL has the length -1, and a NUL in a text becomes a space', () => {
  expect(Buffer.from(messages.encodeDataRow([null, 'a\0b', 12]))).toEqual(
    built.aMessage(
      'D',
      Buffer.concat([
        int16(3),
        built.aNumber(-1),
        built.aNumber(3),
        Buffer.from('a b'),
        built.aNumber(2),
        Buffer.from('12'),
      ]),
    ),
  );
});
