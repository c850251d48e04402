// A switchover that is cancelled in each of its phases, by the operator, a reload or the end of Pointsman.
import { beforeEach, describe, expect, test } from 'vitest';
import { SwitchoverLab } from '../../../support/labs/switchover-lab.ts';

let lab: SwitchoverLab;

beforeEach(() => {
  lab = new SwitchoverLab();
});

async function toSwitch(): Promise<void> {
  lab.start();
  await lab.reach('switch');
}

/** After so many steps of promises. */
async function later(steps: number): Promise<void> {
  for (let step = 0; step < steps; step += 1) await Promise.resolve();
}

function expectReleased(): void {
  expect(lab.isHolding()).toBe(false);
  expect(lab.handovers.at(-1)).toBeUndefined();
}

describe('G22: a cancel ends the hold synchronously', () => {
  test.each(['check', 'hold', 'drain', 'switch', 'confirm'])(
    'in %s, after the request the second one',
    async (phase) => {
      lab.sessions = 1;
      lab.connecting = 1;
      if (phase === 'check') lab.report = () => new Promise(() => {});
      const id = lab.start({ transactionMs: 1000 });
      if (phase === 'confirm') {
        await lab.reach('switch');
        lab.stepDown();
      }
      await lab.reach(phase);
      expect(lab.operations.cancel(id, 'the operator')).toMatchObject({ kind: 'cancelled' });
      const wasAsked = phase === 'switch' || phase === 'confirm';
      expect(lab.isHolding()).toBe(wasAsked);
      if (wasAsked) lab.operations.cancel(id, 'the operator');
      expect(lab.isHolding()).toBe(false);
      await lab.clock.advance(0);
      expect(lab.document().phase).toBe('release');
      const sent = wasAsked ? '; the request was sent, and the cluster may still switch' : '';
      const { outcome, why } = await lab.end();
      expect([outcome, why]).toEqual(['cancelled', `by the operator${sent}`]);
      expect(lab.asked.length).toBe(wasAsked ? 1 : 0);
      expect(lab.operations.cancel(id, 'the operator')).toMatchObject({ kind: 'ended' });
      expect(lab.handovers.filter((handover) => handover === undefined)).toHaveLength(phase === 'check' ? 0 : 1);
    },
  );

  test.each(['hold', 'drain'])(
    'between any two steps at the end of %s: no session ends, nothing is asked',
    async (phase) => {
      for (let steps = 0; steps < 16; steps += 1) {
        lab = new SwitchoverLab();
        [lab.sessions, lab.connecting] = [1, 1];
        const id = lab.start();
        await lab.reach(phase);
        let before: { readonly handovers: number; readonly asked: number } | undefined;
        const cancelSoon = async (): Promise<void> => {
          await later(steps);
          lab.operations.cancel(id, 'the operator');
          before = { handovers: lab.handovers.length, asked: lab.asked.length };
        };
        lab.onCount = () => {
          if (before !== undefined) return;
          before = { handovers: 0, asked: 0 };
          void cancelSoon();
        };
        [lab.sessions, lab.connecting] = phase === 'hold' ? [1, 0] : [0, 0];
        await lab.clock.advance(25);
        const isHeld = lab.isHolding();
        expect([lab.handovers.length, lab.asked.length]).toEqual([before?.handovers, before?.asked]);
        expect(isHeld).toBe(lab.asked.length > 0);
      }
    },
  );

  test('after the request: clients wait for the proof of a primary', async () => {
    await toSwitch();
    const [{ id } = { id: '' }] = lab.operations.list();
    lab.operations.cancel(id, 'the operator');
    expect(lab.isHolding()).toBe(true);
    lab.promote('pg-2');
    expect(await lab.end()).toMatchObject({ outcome: 'done', primary: 'pg-2' });
    expectReleased();
  });

  test('the shutdown does not wait for the report of the cluster', async () => {
    lab.sessions = 1;
    lab.start();
    await lab.reach('drain');
    lab.report = () => new Promise(() => {});
    const stopped = lab.operations.stop();
    expect(lab.isHolding()).toBe(false);
    await lab.clock.advance(100);
    await stopped;
    expect(lab.document()).toMatchObject({ outcome: 'cancelled', why: 'by the shutdown of Pointsman' });
  });

  test('a reload cancels until the request is sent', async () => {
    lab.sessions = 1;
    lab.start();
    await lab.reach('drain');
    lab.operations.reloaded();
    expect(await lab.end()).toMatchObject({ outcome: 'cancelled', why: 'by a reload of the configuration' });
    lab.sessions = 0;
    await toSwitch();
    for (let reload = 0; reload < 2; reload += 1) lab.operations.reloaded();
    expect(lab.isHolding()).toBe(true);
    lab.promote('pg-2');
    expect(await lab.end()).toMatchObject({ outcome: 'done' });
  });
});
