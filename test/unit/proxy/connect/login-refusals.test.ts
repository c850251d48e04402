import { expect, test } from 'vitest';
import { LoginRefusals } from '../../../../src/proxy/connect/login-refusals.ts';
import { asStepOf, keepingStep } from '../../../../src/proxy/fault.ts';

const step = (): void => {};

test('room is made for the clients of a full server as a step of no session', async () => {
  const { promise: isOfNone, resolve } = Promise.withResolvers<boolean>();
  const refusals = new LoginRefusals({
    clock: {
      now: () => 0,
      schedule(_, run) {
        const immediate = setImmediate(run);
        return () => clearImmediate(immediate);
      },
    },
    onEvent() {},
    drains: { isClearing: () => true, hurry: () => resolve(keepingStep(step) === step) },
  });
  asStepOf({ state: 'dialing', cut() {} }, () => refusals.note({ id: 1, pool: 'write' }, 'pg-1', '53300'));
  expect(await isOfNone).toBe(true);
});
