// Plays seeds one after the other in a process of its own, without the runner of the tests: a quarter less time.
import { fork, type ChildProcess } from 'node:child_process';
import { withoutLine } from './broken/without-line.ts';

/** A history as the process reports it. */
export interface SeedReport {
  readonly seed: number;
  readonly broken: readonly string[];
  readonly situations: readonly string[];
  /** The same for the same history, byte for byte. */
  readonly hash: string;
  /** The history ended its process, so it has no hash and no story. */
  readonly hasEndedProcess?: true;
}

/** `ready` comes first, when the program is loaded. */
export type ChildMessage = 'ready' | SeedReport;

const CHILD = new URL('seed-child.ts', import.meta.url);

export class SeedPlayer {
  readonly #without: string | undefined;
  #child: Promise<ChildProcess> | undefined;

  /** `without`: the name of a load-bearing line that the program lacks. */
  constructor(without?: string) {
    this.#without = without;
  }

  /**
   * One seed at a time. A history that ends its process counts as a broken law, and the next seed gets a new process.
   * Rejects when the program cannot be loaded.
   */
  async play(seed: number): Promise<SeedReport> {
    const child = await (this.#child ??= this.#start());
    const { promise, resolve } = Promise.withResolvers<SeedReport>();
    const onMessage = (report: SeedReport): void => resolve(report);
    const onExit = (code: number | null, signal: string | null): void => {
      this.#child = undefined;
      const broken = [`the history ended its process: ${signal ?? `code ${code}`}`];
      resolve({ seed, broken, situations: [], hash: '', hasEndedProcess: true });
    };
    child.on('message', onMessage).on('exit', onExit).send(seed);
    const report = await promise;
    child.off('message', onMessage).off('exit', onExit);
    return report;
  }

  /** A history that is under way is given up. */
  async close(): Promise<void> {
    const child = await this.#child?.catch(() => undefined);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    child.once('exit', () => resolve());
    child.kill();
    await promise;
  }

  #start(): Promise<ChildProcess> {
    const { promise, resolve, reject } = Promise.withResolvers<ChildProcess>();
    const child = fork(CHILD, this.#without === undefined ? {} : withoutLine(this.#without));
    const onExit = (code: number | null): void => reject(new Error(`no seed can be played: ended with code ${code}`));
    child.once('error', reject).once('exit', onExit);
    child.once('message', () => {
      child.off('exit', onExit);
      resolve(child);
    });
    return promise;
  }
}
