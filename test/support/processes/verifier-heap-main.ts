// A process that reads one verifier, ends the batch, and writes a picture of its heap. Arguments: policy and server as
// JSON, the file for the picture, and `keep` to keep the verifier as a string.
import { setTimeout as delay } from 'node:timers/promises';
import { hrtime } from 'node:process';
import { writeHeapSnapshot } from 'node:v8';
import { createSystemClock } from '../../../src/app/system-clock.ts';
import { connectTo } from '../sockets/connect-to.ts';
import { verifierOpener } from '../../../src/verifiers/batch.ts';

const [policy = '', server = '', file = '', keep] = process.argv.slice(2);
const at = JSON.parse(server);
const batch = verifierOpener(createSystemClock(hrtime))(JSON.parse(policy), at, connectTo(at));
const lookup = await batch.find('app');
const kept = keep === 'keep' && lookup.kind === 'found' ? Buffer.from(lookup.verifier).toString() : '';
batch.end();
// The connection has ended when nothing but this timer keeps the process alive.
while (process.getActiveResourcesInfo().includes('TCPSocketWrap')) await delay(1);
writeHeapSnapshot(file);
console.log(lookup.kind, kept.length);
