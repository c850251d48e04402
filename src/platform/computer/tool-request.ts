// `pointsman computer request`: a message request with the computer tool. Nothing is sent.
import { COMPUTER_MODELS, computerFragment, oneActionFragment, printRequest } from '../fragments.ts';
import { EXIT, type CliIo } from '../../cli/io.ts';
import { fail, platformConfig } from '../platform-context.ts';
import type { MessageOptions } from '../message-options.ts';

const QUESTION = 'Look at the status page and say what you see.';

export interface ToolRequestOptions extends MessageOptions {
  readonly oneAction?: boolean;
  readonly toolField: readonly string[];
  readonly betaHeader?: string;
  readonly config?: string;
}

export function printToolRequest(options: ToolRequestOptions, io: CliIo): number {
  const { model, oneAction = false, toolField } = options;
  const fields = fieldsOf(toolField);
  if (fields === undefined) return fail(io, '--tool-field is NAME=VALUE, such as display_number=1', EXIT.usage);
  const tool = computerFragment(model, fields);
  if (tool === undefined)
    return fail(
      io,
      `the computer tool is not known for ${model}, only for models -${COMPUTER_MODELS.join(', -')}`,
      EXIT.usage,
    );
  const needsHeader = tool.betas.length > 0;
  if (!needsHeader && toolField.length > 0)
    return fail(
      io,
      `the tool of ${model} takes no further fields: positions are pixels of the screenshots`,
      EXIT.usage,
    );
  const header = needsHeader ? betaHeader(options, io) : '';
  printRequest(io, options, QUESTION, header, [tool, ...(oneAction ? [oneActionFragment()] : [])]);
  return EXIT.ok;
}

/** Undefined: one of them has no name. */
function fieldsOf(given: readonly string[]): Readonly<Record<string, unknown>> | undefined {
  const pairs = given.map((one) => /^(?<name>[a-z][a-z0-9_]*)=(?<value>.*)$/s.exec(one)?.groups);
  if (pairs.includes(undefined)) return undefined;
  return Object.fromEntries(pairs.map((pair) => [pair?.['name'] ?? '', valueOf(pair?.['value'] ?? '')]));
}

/** JSON, or else a text. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function betaHeader({ config, betaHeader }: ToolRequestOptions, io: CliIo): string {
  if (betaHeader !== undefined) return betaHeader;
  return platformConfig({ config }, io).policy.betaHeader;
}
