// The message request that `request` commands print. Nothing is sent: the path of message creation is not part of the
// platform's interface.
import { InvalidArgumentError } from 'commander';
import type { CliCommand } from '../cli/cli-command.ts';
import type { CliIo } from '../cli/io.ts';
import { messageRequest, type Fragment } from './fragments.ts';

export interface MessageOptions {
  readonly model: string;
  readonly maxTokens: number;
  readonly question?: string | undefined;
}

export function withMessageOptions(command: CliCommand): CliCommand {
  return command
    .requiredOption('--model <name>', 'the model, as the platform names it')
    .requiredOption('--max-tokens <n>', 'the most tokens of the answer', positive)
    .option('--question <text>', 'the text for the model');
}

/** `otherwise`: the text, if the command line has none. */
export function printRequest(
  io: CliIo,
  { model, maxTokens, question }: MessageOptions,
  otherwise: string,
  betaHeader: string,
  fragments: readonly Fragment[],
): void {
  const request = messageRequest(betaHeader, { model, maxTokens, text: question ?? otherwise, fragments });
  io.stdout(`${JSON.stringify(request, null, 2)}\n`);
}

function positive(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError('It is a whole number, 1 or more.');
}
