// A login that cannot be repeated says what would help.
import { expect, test } from 'vitest';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { Verifiers } from '../../../../src/proxy/moves/verifiers.ts';
import type { TranscriptLogin } from '../../../../src/wire/follow/login-transcript.ts';
import { configOf, load } from '../../../support/values/loading.ts';

const NOTHING = new Uint8Array();
const LOGINS: Readonly<Record<TranscriptLogin['method'], TranscriptLogin>> = {
  trust: { method: 'trust' },
  scram_sha_256: { method: 'scram_sha_256', transcript: NOTHING },
  md5: { method: 'md5', salt: NOTHING, response: NOTHING },
  other: { method: 'other' },
};
const OTHER = 'neither SCRAM-SHA-256 nor trust, or `moves` did not name the role then';
const NO_MD5 = 'md5, and `moves.md5` is false';
const NO_SOURCE = '`moves.verifiers` is not configured';

test.each([
  ['trust', '', undefined],
  ['scram_sha_256', '', NO_SOURCE],
  ['scram_sha_256', 'verifiers: { file: none }', undefined],
  ['md5', 'verifiers: { file: none }', NO_MD5],
  ['md5', 'md5: true', NO_SOURCE],
  ['md5', 'md5: true, verifiers: { file: none }', undefined],
  ['other', 'verifiers: { file: none }', OTHER],
] as const)('%s with %j', (method, moves, fault) => {
  const { moves: policy } = configOf(load(`moves: { roles: [app], ${moves} }`));
  expect(
    new Verifiers({ policy: () => policy, dial: () => expect.unreachable(), clock: new ManualClock() }).loginFault(
      LOGINS[method],
    ),
  ).toBe(fault);
});
