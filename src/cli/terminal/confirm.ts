// Asks the operator before a command changes something.
import { fail, wrong } from '../command-end.ts';
import type { CliIo } from '../io.ts';

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

/** Ends the command if the operator declines, or cannot be asked. */
export async function confirm({ question, name, yes, json }: Confirmation, io: CliIo): Promise<void> {
  if (yes === true) return;
  if (json === true) {
    return wrong(io, `${question} With --json there is no question: add --yes. Nothing was changed.`);
  }
  if (io.readLine === undefined) {
    return wrong(io, `${question} Cannot ask (not a terminal); nothing was changed. Add --yes.`);
  }
  const how = name === undefined ? '[y/N]' : `Type ${name} to confirm:`;
  const answer = (await io.readLine(`${question} ${how} `))?.trim();
  const isConfirmed = name === undefined ? /^y(?:es)?$/i.test(answer ?? '') : answer === name;
  if (!isConfirmed) fail(io, 'not confirmed, so nothing was changed');
}
