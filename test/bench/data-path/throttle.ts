// A part of a core for each thread of a process, by the cpu controller of cgroup v1, which takes threads. It makes one
// and two workers comparable on two cores, because the load program is then not the limit.
import { accessSync, constants, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadsOf } from './processes.ts';

const CONTROLLER = '/sys/fs/cgroup/cpu';
const PERIOD_US = 20_000;

export function whyNoThrottle(): string | undefined {
  try {
    accessSync(join(CONTROLLER, 'cpu.cfs_quota_us'), constants.W_OK);
    return undefined;
  } catch {
    return 'the cpu controller of cgroup v1, writable';
  }
}

/** Limits the threads until it is disposed of. Dispose of it after the processes: a group with threads stays. */
export function throttle(pids: readonly number[], coreShare: number): Disposable {
  const groups = threadsOf(pids).map((thread) => {
    const group = join(CONTROLLER, `pointsman-bench-${thread}`);
    mkdirSync(group);
    writeFileSync(join(group, 'cpu.cfs_period_us'), String(PERIOD_US));
    writeFileSync(join(group, 'cpu.cfs_quota_us'), String(Math.round(PERIOD_US * coreShare)));
    writeFileSync(join(group, 'tasks'), String(thread));
    return group;
  });
  return {
    [Symbol.dispose]: () => {
      for (const group of groups) rmdirSync(group);
    },
  };
}
