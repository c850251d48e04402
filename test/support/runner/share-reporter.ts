// A reporter of vitest for CI: names the longest files, and fails the run when one takes more than its share.
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { longest, overShare, totalOf } from './shares.ts';

export default class ShareReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const times = modules.map((module) => ({
      file: relative(process.cwd(), module.moduleId),
      project: module.project.name,
      ms: module.diagnostic().duration + module.diagnostic().collectDuration,
    }));
    const minutes = totalOf(times) / 60_000;
    console.log(`The files took ${minutes.toFixed(1)} min together. The longest:\n  ${longest(times).join('\n  ')}`);
    const over = overShare(times);
    for (const line of over) console.error(`FAILED ${line}`);
    if (over.length > 0) process.exitCode = 1;
  }
}
