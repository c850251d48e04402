// Members may send hostile bytes. No text and no JSON makes a parser throw, and results stay within the limits of their
// type.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readClusterDocument } from '../../../src/patroni/cluster-document.ts';
import { parseClusterDocument, parseHistory, parseNodeStatus } from '../../support/patroni/parse.ts';
import { readHistory } from '../../../src/patroni/history.ts';
import { parseLsn } from '../../../src/model/lsn.ts';
import { readNodeStatus } from '../../../src/patroni/node-status.ts';
import { anyText } from '../../support/values/any-text.ts';

const json = fc.jsonValue({ maxDepth: 4 });
const STATUS_KEYS = ['state', 'role', 'xlog', 'timeline', 'tags', 'pause', 'patroni', 'manager', 'replication_state'];
const MEMBER_KEYS = [
  'name',
  'role',
  'state',
  'api_url',
  'host',
  'port',
  'lag',
  'replay_lag',
  'lsn',
  'tags',
  '__proto__',
];

function objectOf(keys: readonly string[]) {
  return fc.dictionary(fc.constantFrom(...keys), fc.oneof(json, fc.string(), fc.double(), fc.constant(null)));
}

test('arbitrary text', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      for (const parse of [parseNodeStatus, parseClusterDocument, parseHistory]) {
        expect(parse(text).kind).toEqual(expect.any(String));
      }
      parseLsn(text);
    }),
  );
});

test('arbitrary JSON', () => {
  fc.assert(
    fc.property(json, (value) => {
      for (const read of [readNodeStatus, readClusterDocument, readHistory]) {
        expect(read(value).kind).toEqual(expect.any(String));
      }
    }),
  );
});

test('scenario 19: a status document with arbitrary values under the known keys', () => {
  fc.assert(
    fc.property(
      objectOf(STATUS_KEYS),
      objectOf(['location', 'received_location', 'replayed_location']),
      (fields, xlog) => {
        const parsed = readNodeStatus({ ...fields, xlog });
        if (parsed.kind !== 'status') {
          const { timeline: written } = fields;
          // A number or a string of digits alone: '1 ' is neither.
          const isNumber = typeof written === 'number' || (typeof written === 'string' && /^\d{1,16}$/.test(written));
          const value = isNumber ? Number(written) : NaN;
          const isPossible = Number.isInteger(value) && value > 0 && value < 2 ** 32;
          expect({ written, isPossible }).toEqual({ written, isPossible: false });
          return;
        }
        const { location, received, replayed, timeline } = parsed.status;
        for (const position of [location, received, replayed]) {
          expect(
            position === undefined || position === 'invalid' || (Number.isSafeInteger(position) && position >= 0),
          ).toBe(true);
        }
        expect(timeline === undefined || (Number.isSafeInteger(timeline) && timeline > 0)).toBe(true);
      },
    ),
  );
});

test('scenario 19: a cluster document with arbitrary members: each one is accepted or listed as refused', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(json, objectOf(MEMBER_KEYS))), json, (members, scheduled) => {
      const parsed = readClusterDocument({ members, scheduled_switchover: scheduled });
      if (parsed.kind !== 'cluster') throw new Error(parsed.why);
      expect(parsed.cluster.members.length + parsed.cluster.skipped.length).toBe(members.length);
      for (const { port } of parsed.cluster.members) {
        expect(port === undefined || (port >= 1 && port <= 65_535)).toBe(true);
      }
    }),
  );
});

test('deep nesting does not break the parser', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  expect(parseNodeStatus(`{"tags":{"a":${deep}},"state":${deep}}`).kind).toEqual(expect.any(String));
  expect(parseClusterDocument(`{"members":[{"name":"a","tags":{"x":${deep}}},${deep}]}`).kind).toEqual(
    expect.any(String),
  );
});

test('an LSN round-trips', () => {
  fc.assert(
    fc.property(fc.nat({ max: 0x1fffff }), fc.nat({ max: 0xffffffff }), (high, low) => {
      expect(parseLsn(`${high.toString(16)}/${low.toString(16).toUpperCase()}`)).toBe(high * 2 ** 32 + low);
    }),
  );
});
