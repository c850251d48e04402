// A process that holds a primary and a standby, for tests that kill it. Its argument is the directory. It prints
// `running` and waits.
import { preparePostgres } from '../../../src/sandbox/postgres/prepare.ts';

const { servers } = await preparePostgres({ directory: process.argv[2] ?? '', names: ['node-1', 'node-2'] });
const [first, second] = servers;
if (first === undefined || second === undefined) throw new Error('two servers were asked for');
await first.start({ kind: 'primary' }, {});
await second.start({ kind: 'standby', upstream: { host: first.host, port: first.port } }, {});
console.log('running');
setInterval(() => {}, 60_000);
