// The options of the commands that print a message request.
import { InvalidArgumentError } from 'commander';
import type { CliCommand } from '../cli/cli-command.ts';

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

function positive(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError('It is a whole number, 1 or more.');
}
