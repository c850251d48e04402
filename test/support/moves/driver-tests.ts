// The features of sessions with every driver: set up, moved from the server to the same server, and asked for. The same
// without moves, where a session ends: so each of these tests can fail.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeOnSandbox } from '../clusters/describe-on-clusters.ts';
import type { SandboxClusterOptions } from '../clusters/sandbox-cluster.ts';
import { describeUnless } from '../runner/unless-missing.ts';
import type { DrivenSession, RunningProgram } from './driven-session.ts';
import { type Feature, FEATURES, shownState } from './features.ts';
import { findSession, move } from './move.ts';
import { type MovingLab, movingLab } from './moving-lab.ts';
import { TOKEN } from './prepared-database.ts';
import { type KnownProgram, programs } from './programs.ts';

const BACKEND = 'select pg_backend_pid()';
const ROUNDS = 5;

export function describeDrivers(version: string, postgres: NonNullable<SandboxClusterOptions['postgres']>): void {
  describeOnSandbox(`sessions that move, PostgreSQL ${version}`, (on) => {
    const lab = movingLab(on, { cluster: { postgres } });
    for (const program of programs()) describeUnless(program.missing, program.name, () => driverTests(lab, program));
  });
}

function driverTests(lab: MovingLab, program: KnownProgram): void {
  let running: Readonly<Record<'moving' | 'plain', RunningProgram>>;
  beforeAll(async () => {
    await program.prepare(lab.directory);
    const start = async (name: 'moving' | 'plain'): Promise<RunningProgram> =>
      program.start(lab.directory, await lab.target(lab[name]));
    running = { moving: await start('moving'), plain: await start('plain') };
  });
  afterAll(async () => {
    await Promise.all([running.moving.stop(), running.plain.stop()]);
  });
  const has = (...verbs: readonly string[]): boolean => verbs.every((verb) => !program.lacks.includes(verb));
  const possible = FEATURES.filter(({ needs }) => has(...needs));

  describe('kept by a move', () => {
    it.each(possible.map((feature, at) => [feature.name, feature, at] as const))('%s', async (_, feature, at) => {
      const session = await running.moving.open(`${program.name}-${at}`, feature.options);
      await feature.setUp(session);
      const backend = await session.value(BACKEND);
      const state = await shownState(session);
      expect(await move(lab.moving, session.name)).toMatchObject({ result: 'moved', reason: null });
      expect(await shownState(session)).toBe(state);
      expect(await session.value(BACKEND)).not.toBe(backend);
      await feature.expectKept(session);
      expect(session.events).toEqual([]);
    });

    if (!has('load')) return;
    it(`acknowledged rows through ${ROUNDS} moves of a busy session`, async () => {
      const session = await running.moving.open(`${program.name}-load`);
      await session.ask('load', 'loaded');
      const { id } = await findSession(lab.moving, session.name);
      for (let round = 0; round < ROUNDS; round += 1) {
        expect(await move(lab.moving, session.name)).toMatchObject({ result: 'moved' });
      }
      const acknowledged = Number(await session.ask('unload'));
      const stored = await session.value(`select count(*) from loaded where source = '${session.name}'`);
      expect(Number(stored)).toBe(acknowledged);
      expect(acknowledged).toBeGreaterThan(0);
      expect((await findSession(lab.moving, session.name)).id).toBe(id);
      expect(session.events).toEqual([]);
    });
  });

  it('are lost without moves', async () => {
    const kept: string[] = [];
    for (const [at, feature] of possible.entries()) {
      const session = await running.plain.open(`${program.name}-${at}`, feature.options);
      await feature.setUp(session);
      const { id } = await findSession(lab.plain, session.name);
      await lab.plain.operate(`/sessions/${id}/kill`, TOKEN);
      if (await isKept(feature, session)) kept.push(feature.name);
    }
    expect(kept).toEqual([]);
  });
}

/** It works, and the driver told of nothing: some connect again by themselves. */
async function isKept({ expectKept }: Feature, session: DrivenSession): Promise<boolean> {
  const works = await expectKept(session).then(
    () => true,
    () => false,
  );
  return works && session.events.length === 0;
}
