// A member in a process of its own, whose host can fall silent: stopped, with the queues of its ports full, it answers
// nothing, not even a connect. It prints its addresses on standard output and ends with the process that started it.
import { startFakeBackend } from './fake-backend.ts';
import { FakeMember } from './fake-member.ts';

/** Connections that the kernel accepts for a process that does not: few, so that they are soon used up. */
const BACKLOG = 1;

process.stdin.once('close', () => process.kill(process.pid, 'SIGKILL')).resume();
const [, , replica] = process.argv;
const api = await FakeMember.start(
  replica ?? 'pg-1',
  { role: replica === undefined ? 'primary' : 'replica' },
  { backlog: BACKLOG },
);
const postgres = await startFakeBackend('echo', { backlog: BACKLOG });
process.stdout.write(`${JSON.stringify({ api: api.address.port, postgres: postgres.address.port })}\n`);
