// The features of sessions with every driver: set up, moved from the server to the same server, and asked for. The same
// without moves, where a session ends: so each of these tests can fail.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeOnSandbox, type Legs } from '../clusters/describe-on-clusters.ts';
import type { SandboxClusterOptions } from '../clusters/sandbox-cluster.ts';
import { describeUnless } from '../runner/unless-missing.ts';
import type { DrivenSession, RunningProgram } from './driven-session.ts';
import { lostSessions } from './expect-kept.ts';
import { type Feature, FEATURES, shownState } from './features.ts';
import { findSession, inTheGap, move } from './move.ts';
import { besideLab, MOVES_WHEN_DRAINED, type MovingLab, movingLab } from './moving-lab.ts';
import { storedRows } from './pgbench.ts';
import { type KnownProgram, programs, type ProgramTarget } from './programs.ts';
import type { PointsmanProcess } from '../processes/pointsman-process.ts';
import { SERVER } from '../values/tls-files.ts';
import { ADMIN_TOKEN } from '../values/canaries.ts';

const TERMINATE = { client: { tls: { mode: 'terminate', ...SERVER } } };
/** Where a version of PostgreSQL or TLS could make a difference for one driver alone. */
const MAIN = ['statements that the driver prepared', 'settings by SET', 'the cancel of a statement', 'COPY in'];
const BACKEND = 'select pg_backend_pid()';
const ROUNDS = 5;

export interface DriverTests {
  readonly legs?: readonly Legs[];
  /** The drivers with every feature; the others have the main ones. Default: all. */
  readonly thorough?: readonly string[];
}

export function describeDrivers(
  version: string,
  postgres: NonNullable<SandboxClusterOptions['postgres']>,
  { legs, thorough }: DriverTests = {},
): void {
  describeOnSandbox({ name: `sessions that move, PostgreSQL ${version}`, legs }, (on) => {
    const lab = movingLab(on, { cluster: { postgres }, pointsman: MOVES_WHEN_DRAINED });
    const terminating = besideLab(lab, async () => ({ pointsman: TERMINATE }));
    for (const program of programs()) {
      describeUnless(program.missing, program.name, () => {
        const features = possibleFor(program);
        const isThorough = thorough?.includes(program.name) ?? true;
        driverTests(lab, program, isThorough ? features : features.filter(isMain));
        if (on.legs === 'plain' && isThorough) plainServerTests(lab, program, terminating);
      });
    }
  });
}

async function started(
  lab: MovingLab,
  program: KnownProgram,
  to: PointsmanProcess,
  more: Pick<ProgramTarget, 'sslmode'> = {},
): Promise<RunningProgram> {
  return program.start(lab.directory, { ...(await lab.target(to)), ...more });
}

function isMain({ name }: Feature): boolean {
  return MAIN.includes(name);
}

function driverTests(lab: MovingLab, program: KnownProgram, features: readonly Feature[]): void {
  let moving: RunningProgram;
  beforeAll(async () => {
    await program.prepare(lab.directory);
    moving = await started(lab, program, lab.moving);
  });
  afterAll(() => moving.stop());

  describe('kept by two moves', () => {
    it.each(features.map((feature, at) => [feature.name, feature, at] as const))('%s', async (_, feature, at) => {
      const session = await moving.open(`${program.name}-${at}`, feature.options);
      await expectKept(feature, session, lab.moving);
    });

    it('a statement that is sent in the gap: it is answered after the move, and executed once', async () => {
      const session = await moving.open(`${program.name}-gap`);
      await session.ask('prepare', 'gap', 'select $1::int + 1');
      await session.ask('execute', 'gap', 1);
      const backend = await session.value(BACKEND);
      const { name: member } = await lab.cluster.leader();
      const answer = await inTheGap(lab.moving, { session: session.name, member }, async (untilWaiting) => {
        const asked = session.value(`insert into loaded (source) values ('${session.name}') returning source`);
        asked.catch(() => undefined);
        await untilWaiting();
        expect(await storedRows(lab.cluster, session.name)).toBe(0);
        return { asked };
      });
      expect(await answer.asked).toBe(session.name);
      expect(await storedRows(lab.cluster, session.name)).toBe(1);
      expect(await session.value(BACKEND)).not.toBe(backend);
      expect(await session.ask('execute', 'gap', 41)).toBe('42');
      expect(session.events, lostSessions(lab.moving)).toEqual([]);
    });

    if (program.lacks.includes('load')) return;
    it(`acknowledged rows through ${ROUNDS} moves of a busy session`, async () => {
      const session = await moving.open(`${program.name}-load`);
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
      expect(session.events, lostSessions(lab.moving)).toEqual([]);
    });
  });
}

/** With the server in plain text: clients in TLS that Pointsman answers, and a Pointsman that moves nothing. */
function plainServerTests(lab: MovingLab, program: KnownProgram, terminating: () => PointsmanProcess): void {
  let plain: RunningProgram;
  let encrypted: RunningProgram;
  beforeAll(async () => {
    plain = await started(lab, program, lab.plain);
    encrypted = await started(lab, program, terminating(), { sslmode: 'require' });
  });
  afterAll(async () => {
    await Promise.all([plain, encrypted].map((one) => one.stop()));
  });
  const possible = possibleFor(program);
  const inTls = possible.filter(isMain);
  it.each(inTls.map((feature, at) => [feature.name, feature, at] as const))(
    'kept by two moves, with TLS that Pointsman answers: %s',
    async (_, feature, at) => {
      const session = await encrypted.open(`${program.name}-tls-${at}`, feature.options);
      const { tls } = await findSession(terminating(), session.name);
      expect(tls).toBe('terminate');
      await expectKept(feature, session, terminating());
    },
  );

  it('are lost without moves', async () => {
    const kept: string[] = [];
    for (const [at, feature] of possible.entries()) {
      const session = await plain.open(`${program.name}-${at}`, feature.options);
      await feature.setUp(session);
      const { id } = await findSession(lab.plain, session.name);
      await lab.plain.operate(`/sessions/${id}/kill`, ADMIN_TOKEN);
      if (await isKept(feature, session)) kept.push(feature.name);
    }
    expect(kept).toEqual([]);
  });
}

/** Those that the driver has a way for. */
function possibleFor({ lacks }: KnownProgram): readonly Feature[] {
  return FEATURES.filter(({ needs }) => needs.every((verb) => !lacks.includes(verb)));
}

async function expectKept(feature: Feature, session: DrivenSession, pointsman: PointsmanProcess): Promise<void> {
  await feature.setUp(session);
  const backend = await session.value(BACKEND);
  const state = await shownState(session);
  for (let round = 0; round < 2; round += 1) {
    expect(await move(pointsman, session.name)).toMatchObject({ result: 'moved', reason: null });
    expect(await shownState(session)).toBe(state);
  }
  expect(await session.value(BACKEND)).not.toBe(backend);
  await feature.expectKept(session);
  expect(session.events, lostSessions(pointsman)).toEqual([]);
}

/** It works, and the driver told of nothing: some connect again by themselves. */
async function isKept({ expectKept }: Feature, session: DrivenSession): Promise<boolean> {
  const works = await expectKept(session).then(
    () => true,
    () => false,
  );
  return works && session.events.length === 0;
}
