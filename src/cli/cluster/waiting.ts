// Says on standard error why a command waits, each reason once: a wait may take minutes.
import type { CliIo } from '../io.ts';

export function tellsWaits({ stderr }: Pick<CliIo, 'stderr'>): (why: string) => void {
  let told: string | undefined;
  return (why) => {
    if (why !== told) stderr(`waiting: ${why}\n`);
    told = why;
  };
}
