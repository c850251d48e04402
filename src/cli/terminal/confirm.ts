// Asks the operator before a command changes something.
import { EXIT, type CliIo } from '../io.ts';

export interface Confirmation {
  /** One sentence with a question mark. */
  readonly question: string;
  /** The operator types this name, instead of yes: for what cannot be undone. */
  readonly name?: string | undefined;
  /** The option --yes: no question. */
  readonly yes?: boolean | undefined;
  /** The option --json: a question would stand in the way of a script. */
  readonly json?: boolean | undefined;
}

/** A number is the exit code: the operator declined, or cannot be asked. The reason is then on stderr. */
export async function confirm({ question, name, yes, json }: Confirmation, io: CliIo): Promise<'confirmed' | number> {
  if (yes === true) return 'confirmed';
  if (json === true) {
    io.stderr(`pointsman: ${question} With --json there is no question: add --yes. Nothing was changed.\n`);
    return EXIT.usage;
  }
  if (io.readLine === undefined) {
    io.stderr(`pointsman: ${question} Cannot ask (not a terminal); nothing was changed. Add --yes.\n`);
    return EXIT.usage;
  }
  const how = name === undefined ? '[y/N]' : `Type ${name} to confirm:`;
  const answer = (await io.readLine(`${question} ${how} `))?.trim();
  const isConfirmed = name === undefined ? /^y(?:es)?$/i.test(answer ?? '') : answer === name;
  if (isConfirmed) return 'confirmed';
  io.stderr('pointsman: not confirmed, so nothing was changed\n');
  return EXIT.failure;
}
