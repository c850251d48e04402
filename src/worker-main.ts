// The worker program: its channel to the main process, its signals and its end. It ends when the main process ends, for
// any cause.
import { keepObjectsYoung } from './app/engine.ts';
import { readDescriptorBudget } from './app/open-files.ts';
import { createLocatePeer } from './app/peer-addresses.ts';
import { createSystemClock } from './app/system-clock.ts';
import { openPositions } from './positions/positions.ts';
import { verifierOpener } from './verifiers/batch.ts';
import { BUILD } from './workers/fork.ts';
import type { FromWorker, ToWorker, Usage } from './workers/messages.ts';
import { Worker } from './workers/worker.ts';

keepObjectsYoung();

let worker: Worker | undefined;

function send(message: FromWorker): void {
  const sent = message.kind === 'closed' ? () => process.exit() : () => {};
  if (process.connected) process.send?.(message, undefined, undefined, sent);
}

function take(message: ToWorker): void {
  if (message.kind !== 'begin') return worker?.take(message);
  if (message.build !== BUILD) {
    return send({ kind: 'begun', problem: 'the files of this program belong to another version now: restart it' });
  }
  const clock = createSystemClock(process.hrtime);
  worker = new Worker(message, {
    send,
    clock,
    openVerifiers: verifierOpener(clock),
    openPositions,
    locatePeer: createLocatePeer(clock),
    random: Math.random,
    usage,
    descriptors: readDescriptorBudget(),
  });
  const one = worker;
  process.on('uncaughtException', (error) => one.fault(error)).on('unhandledRejection', (error) => one.fault(error));
  void worker.listen();
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuSeconds: (user + system) / 1e6, residentBytes: process.memoryUsage.rss() };
}

/** The sender is the same build of this program, so the kind alone is checked. */
function isToWorker(message: unknown): message is ToWorker {
  return typeof message === 'object' && message !== null && 'kind' in message;
}

process.on('message', (message: unknown) => {
  if (isToWorker(message)) take(message);
});
process.on('disconnect', () => process.exit());
// A signal to the process group is meant for the main process, which then closes its workers. At SIGUSR1 Node would
// open its debugger.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const) process.on(signal, () => {});
