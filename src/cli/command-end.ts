// The end of a command before its last line: thrown where the reason is known, caught once, where commands run.
import { EXIT, type CliIo } from './io.ts';

/** Its reason is on standard error already. */
export class CommandEnd extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`the command ends with exit code ${code}`);
    this.code = code;
  }
}

export function fail(io: Pick<CliIo, 'stderr'>, why: string, code: number = EXIT.failure): never {
  io.stderr(`pointsman: ${why}\n`);
  throw new CommandEnd(code);
}

/** For a wrong command line or configuration. */
export function wrong(io: Pick<CliIo, 'stderr'>, why: string): never {
  return fail(io, why, EXIT.usage);
}

/** For a step that may end while its command goes on: returns the end instead of throwing it. */
export async function unlessEnded<T>(run: () => T | Promise<T>): Promise<T | CommandEnd> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof CommandEnd) return error;
    throw error;
  }
}
