// One worker as a process: its channel to the main process, its signals and its end. It ends with the main process, however that one
// ends. Beside main.ts the only file that touches `process`.
import { readDescriptorBudget } from './app/open-files.ts';
import { systemClock } from './app/system-clock.ts';
import { BUILD } from './workers/fork.ts';
import type { FromWorker, ToWorker, Usage } from './workers/messages.ts';
import { Worker } from './workers/worker.ts';

let worker: Worker | undefined;

function send(message: FromWorker): void {
  const sent = message.kind === 'closed' ? () => process.exit() : () => {};
  if (process.connected) process.send?.(message, undefined, undefined, sent);
}

function take(message: ToWorker): void {
  if (message.kind !== 'begin') return worker?.take(message);
  if (message.build !== BUILD) {
    return send({ kind: 'begun', problem: 'the program was replaced by another version while it runs: restart it' });
  }
  worker = new Worker(message, {
    send,
    clock: systemClock,
    random: Math.random,
    usage,
    descriptors: readDescriptorBudget(),
  });
  void worker.listen();
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuSeconds: (user + system) / 1e6, residentBytes: process.memoryUsage.rss() };
}

/** The other end is this program. */
function isToWorker(message: unknown): message is ToWorker {
  return typeof message === 'object' && message !== null && 'kind' in message;
}

process.on('message', (message: unknown) => {
  if (isToWorker(message)) take(message);
});
process.on('disconnect', () => process.exit());
// Whoever signals a group of processes means the main process, which says what follows for its workers.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
