// The limits on connections that several processes share, and slots whose calls come twice or too late.
import { expect, test } from 'vitest';
import { Admission } from '../../../../src/proxy/accept/admission.ts';
import { NO_TALLY } from '../../../../src/reports/tally.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const [HERE, THERE] = ['10.0.0.1', '10.0.0.2'];
const CLIENT = { bytesRead: () => 0, drop: () => {} };
const clock = new ManualClock();

test('a tally has the addresses whose number has changed since the last one', () => {
  const admission = new Admission({ limits: () => ({ maxSessions: 9 }), clock, others: () => NO_TALLY });
  const first = admission.admit(HERE, CLIENT);
  admission.admit(HERE, CLIENT);
  expect(admission.tally()).toEqual({ sessions: 2, starting: 2, byAddress: new Map([[HERE, 2]]) });
  admission.admit(THERE, CLIENT);
  expect(admission.tally().byAddress).toEqual(new Map([[THERE, 1]]));
  first.release();
  expect(admission.tally().byAddress).toEqual(new Map([[HERE, 1]]));
  expect(admission.tally().byAddress.size).toBe(0);
});

test('a process that is alone keeps no addresses for others', () => {
  const admission = new Admission({ limits: () => ({ maxSessions: 9 }), clock });
  admission.admit(HERE, CLIENT);
  expect(admission.tally().byAddress.size).toBe(0);
});

test('other processes read of no client whose address is not known yet', () => {
  const admission = new Admission({ limits: () => ({ maxSessions: 9 }), clock, others: () => NO_TALLY });
  admission.admit(undefined, CLIENT).identify(HERE);
  expect(admission.tally()).toEqual({ sessions: 1, starting: 1, byAddress: new Map([[HERE, 1]]) });
});

test.each([
  ['handshakes', { maxSessions: 9, maxHandshakes: 3 }, { starting: 2 }],
  ['sessions', { maxSessions: 3 }, { sessions: 2 }],
  ['sessions of one address', { maxSessions: 9, maxSessionsPerAddress: 3 }, { byAddress: new Map([[HERE, 2]]) }],
])('the %s of the other processes count', (_, limits, others) => {
  const admission = new Admission({ limits: () => limits, clock, others: () => ({ ...NO_TALLY, ...others }) });
  expect(admission.admit(HERE, CLIENT).kind).toBe('session');
  expect(admission.admit(HERE, CLIENT).kind).not.toBe('session');
});

test('a client that is told once more to be in its startup has been silent as long as before', () => {
  const time = new ManualClock();
  const admission = new Admission({ limits: () => ({ maxSessions: 1 }), clock: time });
  const dropped: string[] = [];
  const slot = admission.admit(HERE, {
    bytesRead: () => 0,
    drop() {
      dropped.push(HERE);
      slot.release();
    },
  });
  time.stall(900);
  slot.setStarting(true);
  time.stall(100);
  expect([admission.admit(THERE, CLIENT).kind, dropped]).toEqual(['session', [HERE]]);
});

test('only a session becomes one over the limit, and only while there is room', () => {
  const descriptors = { limit: 256, sessions: 9, overLimit: 1 };
  const admission = new Admission({ limits: () => ({ maxSessions: 2 }), clock, descriptors });
  const [one, two] = [admission.admit(HERE, CLIENT), admission.admit(HERE, CLIENT)];
  one.becomeOverLimit();
  one.becomeOverLimit();
  two.becomeOverLimit();
  one.identify(THERE);
  expect([one.kind, two.kind, admission.tally().sessions]).toEqual(['over_limit', 'session', 1]);
});
