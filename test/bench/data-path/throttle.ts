// A part of a core for each thread of a process: cgroup v1's cpu controller, which takes threads. With it two workers can be compared with
// one on two cores without the load generator being what limits them.
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

/** Until it is disposed of, which comes after their end: a group with threads in it stays. */
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
