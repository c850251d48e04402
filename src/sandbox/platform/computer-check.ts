// The computer tool in a request for a message: the right type for the model, and whole results.
import { z } from 'zod';
import { BETA, requireBeta } from './betas.ts';
import type { Block, MessageBody } from './message-request.ts';
import { PlatformRefusal } from './refused.ts';

const TOOLSET = 'computer_toolset_20260801';
const OLDER = 'computer_20251124';
/** The ends of the models' identifiers: before them comes the name of the vendor. */
const TOOLSET_MODELS = /-(?:opus-5|sonnet-5|opus-4-8|fable-5|mythos-5)$/;
const OLDER_MODELS = /-(?:opus-4-7|opus-4-6|sonnet-4-6|opus-4-5)$/;
const MEMBERS: ReadonlySet<unknown> = new Set(
  (
    'screenshot zoom left_click right_click middle_click double_click triple_click mouse_move left_click_drag ' +
    'left_mouse_down left_mouse_up cursor_position scroll type key hold_key wait'
  ).split(' '),
);

const result = z.looseObject({
  tool_use_id: z.string(),
  toolset_name: z.literal('computer'),
  is_error: z.boolean(),
  content: z.unknown().refine((value) => value !== undefined, 'is missing'),
});

const timed = z.looseObject({ duration: z.number() });

export function checkComputer({ model, tools = [], messages }: MessageBody, betas: ReadonlySet<string>): void {
  if (tools.some(({ type }) => type === OLDER)) requireBeta(betas, BETA.computer, `the tool ${OLDER}`);
  const toolset = tools.find(({ type }) => type === TOOLSET);
  if (toolset === undefined) return;
  if (OLDER_MODELS.test(model)) throw new PlatformRefusal(400, `the model ${model} uses the tool ${OLDER}`);
  if (!TOOLSET_MODELS.test(model)) throw new PlatformRefusal(400, `the model ${model} does not support ${TOOLSET}`);
  if (toolset.name !== 'computer') throw new PlatformRefusal(400, `the name of ${TOOLSET} is computer`);
  const size = Object.keys(toolset).find((key) => /width|height/.test(key));
  if (size !== undefined)
    throw new PlatformRefusal(400, `${TOOLSET} does not accept ${size}: positions come from screenshots`);
  for (const [index, next] of messages.slice(1).entries()) checkResults(blocksOf(messages[index]), blocksOf(next));
}

function blocksOf(message: MessageBody['messages'][number] | undefined): readonly Block[] {
  return typeof message?.content === 'object' ? message.content : [];
}

/**
 * Each block of a turn has one result in the next message, in the order of the blocks, whether it was executed or not.
 * After the first failure none was.
 */
function checkResults(turn: readonly Block[], next: readonly Block[]): void {
  let hasFailed = false;
  let place = -1;
  for (const { type, id, name, input } of turn) {
    if (type !== 'tool_use' || !MEMBERS.has(name)) continue;
    const results = next.filter((one) => one.type === 'tool_result' && one['tool_use_id'] === id);
    if (results.length !== 1)
      throw new PlatformRefusal(400, `${String(id)} has ${results.length} results instead of one`);
    const checked = result.safeParse(results[0]);
    const at = `the result of ${String(id)}`;
    if (!checked.success) throw new PlatformRefusal(400, `${at}: ${z.prettifyError(checked.error)}`);
    const { is_error: isError, content } = checked.data;
    const before = place;
    place = next.findIndex((one) => one === results[0]);
    if (place < before) throw new PlatformRefusal(400, `${at} comes before that of an earlier action`);
    if (hasFailed && !(isError && NOT_EXECUTED.test(textOf(content)))) {
      throw new PlatformRefusal(400, `${at} does not say that an earlier computer action of this turn failed`);
    }
    if (!isError && isTooLong(name, input))
      throw new PlatformRefusal(400, `${at}: ${String(name)} takes 300 s at most`);
    hasFailed ||= isError;
  }
}

const NOT_EXECUTED = /\bearlier\b[^]*\bfail/i;

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}

function isTooLong(name: unknown, input: unknown): boolean {
  const { data } = timed.safeParse(input);
  return (name === 'hold_key' || name === 'wait') && data !== undefined && data.duration > 300;
}
