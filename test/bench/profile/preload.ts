// Runs inside Pointsman, before it: the first SIGUSR2 starts a profile, the second one writes it. The profile is of
// processor time or of allocations, including freed ones.
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';

const SAMPLE_EVERY_US = 500;
const SAMPLE_EVERY_BYTES = 16 * 1024;

const kind = process.env['BENCH_PROFILE'] === 'heap' ? 'heap' : 'cpu';
const directory = process.env['BENCH_PROFILE_DIRECTORY'] ?? '.';
const session = new Session();
session.connect();
let isRunning = false;

async function begin(): Promise<void> {
  if (kind === 'heap') {
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: SAMPLE_EVERY_BYTES,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
    return;
  }
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US });
  await session.post('Profiler.start');
}

async function end(): Promise<void> {
  const { profile } =
    kind === 'heap' ? await session.post('HeapProfiler.stopSampling') : await session.post('Profiler.stop');
  const file = join(directory, `steady.${kind}profile`);
  // A rename makes the file appear as a whole.
  writeFileSync(`${file}.part`, JSON.stringify(profile));
  renameSync(`${file}.part`, file);
}

process.on('SIGUSR2', () => {
  void (isRunning ? end() : begin());
  isRunning = !isRunning;
});
