// A restore against a hostile server. Those with a real one are in test/integration/wire/.
import { expect, test } from 'vitest';
import { encodeParameter } from '../../../../src/wire/messages/parameter-status.ts';
import { SessionRestore } from '../../../../src/wire/talk/session-restore.ts';
import { aState } from '../../../support/values/carried-state.ts';

test('a server that tells parameters without end is left: all of its answers together have the limit', () => {
  const restore = new SessionRestore({ state: aState(), unnamed: undefined, serverMajor: 18 });
  restore.start();
  const tell = (at: number) => restore.take(encodeParameter(`p${at}`, 'x'.repeat(400_000)));
  expect([tell(1), tell(2)]).toEqual([{ kind: 'wait' }, { kind: 'wait' }]);
  expect(tell(1)).toEqual({ kind: 'wait' });
  expect(tell(3)).toMatchObject({
    kind: 'done',
    result: { kind: 'failed', reason: 'move_restore', why: 'the parameters of the server are too many' },
  });
});
