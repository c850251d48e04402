import { expect, it } from 'vitest';
import { Instance } from '../../../../src/sandbox/manager/instance.ts';
import type { Parameters, StartOutcome } from '../../../../src/sandbox/postgres/server-types.ts';
import { aServer } from './lab.ts';

/** Starts with the `outcomes` in turn, and succeeds after the last of them. */
function aStartedServer(outcomes: StartOutcome[] = []) {
  const starts: Parameters[] = [];
  const done: string[] = [];
  let isAlive = false;
  let tellExit: (() => void) | undefined;
  const end = (how: string): Promise<void> => {
    done.push(how);
    isAlive = false;
    tellExit?.();
    return Promise.resolve();
  };
  const server = aServer({
    isAlive: () => isAlive,
    start: (_role, parameters) => {
      starts.push(parameters);
      const outcome = outcomes.shift() ?? { kind: 'started' };
      isAlive = outcome.kind === 'started' || outcome.reason === 'timeout';
      return Promise.resolve(outcome);
    },
    stop: (mode) => end(mode),
    configure: (parameters) => {
      done.push(`configure ${JSON.stringify(parameters)}`);
      return Promise.resolve();
    },
    kill: () => end('kill'),
    onExit: (listener) => {
      tellExit = listener;
      return () => {};
    },
  });
  return { server, starts, done };
}

function anInstance(outcomes: StartOutcome[] = []) {
  const fake = aStartedServer(outcomes);
  const states: string[] = [];
  const instance = new Instance(fake.server, 'replica', (state) => states.push(state));
  return { ...fake, instance, states };
}

const STANDBY = { kind: 'standby', upstream: undefined } as const;

function tooLow(name: string, value: number): StartOutcome {
  const log = `${name} = 1 is a lower setting than on the primary server, where its value was ${value}.`;
  return { kind: 'failed', reason: 'insufficient_parameters', log };
}

it('starts a standby with too low values with its original ones, and leaves the new ones pending', async () => {
  const { instance, starts, done, states } = anInstance([{ kind: 'started' }, tooLow('max_connections', 100)]);
  await instance.start(STANDBY, { max_connections: '120' });
  await instance.stop('fast');
  expect((await instance.start(STANDBY, { max_connections: '50' })).kind).toBe('started');
  expect(starts.map((one) => one['max_connections'])).toEqual(['120', '50', '120']);
  expect(done).toEqual(['fast', 'configure {"max_connections":"50"}']);
  expect(states).toEqual(['starting', 'running', 'stopping', 'stopped', 'starting', 'running']);
});

it('raises one parameter after the other, as the log names them, and gives up if that does not help', async () => {
  const several = anInstance([tooLow('max_connections', 100), tooLow('max_wal_senders', 20)]);
  await several.instance.start(STANDBY, {});
  expect(several.starts.at(-1)).toEqual({ max_connections: '100', max_wal_senders: '20' });
  const hopeless = anInstance(Array.from({ length: 9 }, () => tooLow('max_connections', 100)));
  expect((await hopeless.instance.start(STANDBY, {})).kind).toBe('failed');
  expect(hopeless.starts).toHaveLength(2);
  expect(hopeless.instance.failedStarts()).toBe(1);
  expect(hopeless.instance.state()).toBe('start failed');
});

it('calls an unrequested end a crash', async () => {
  const { instance, server } = anInstance();
  await instance.start(STANDBY, {});
  await server.kill();
  expect(instance.state()).toBe('crashed');
  await instance.start(STANDBY, {});
  await instance.stop('fast', 'restarting');
  expect(instance.state()).toBe('restarting');
});

it('starts nothing and reports nothing after it is abandoned', async () => {
  const { instance, starts, states } = anInstance();
  instance.abandon();
  expect((await instance.start(STANDBY, {})).kind).toBe('failed');
  expect([starts, states]).toEqual([[], []]);
});

it('leaves a late standby alone, and ends a late primary', async () => {
  const late: StartOutcome = { kind: 'failed', reason: 'timeout', log: '' };
  const { instance, done } = anInstance([late]);
  await instance.start(STANDBY, {});
  expect([instance.state(), instance.failedStarts(), done]).toEqual(['starting', 1, []]);
  instance.answered();
  expect([instance.state(), instance.failedStarts()]).toEqual(['running', 0]);
  const primary = anInstance([late]);
  await primary.instance.start({ kind: 'primary' }, {});
  expect([primary.instance.state(), primary.done]).toEqual(['start failed', ['immediate']]);
});
