// One turn of the model, from a line of JSON: its tool_use blocks in their order.
import { isRecord, parseJson } from '../../model/json.ts';
import { MEMBERS } from './tool-members.ts';

export interface ToolUse {
  readonly id: string;
  readonly member: string;
  readonly input: Readonly<Record<string, unknown>>;
}

const SHAPE = 'one turn a line: an array of tool_use blocks, or the message that has them as its content';

/**
 * An array of blocks, a message, or one block. Blocks of other types, and those of another tool, are left out: their
 * results come from there. The member is the block's `name`; for the name `computer` (the older tool type) it is
 * `input.action`. A text says why the line is no turn.
 */
export function readTurn(line: string): readonly ToolUse[] | string {
  const blocks = blocksOf(parseJson(line));
  if (blocks === undefined) return `this is no turn. Write ${SHAPE}`;
  const uses: ToolUse[] = [];
  for (const [index, block] of blocks.entries()) {
    if (!isRecord(block)) return `block ${index + 1} is no object. Write ${SHAPE}`;
    if (block['type'] !== 'tool_use' || !isOurs(block)) continue;
    const { id, name, input = {} } = block;
    // Without an id there is no way to give a result.
    if (typeof id !== 'string' || id === '') return `block ${index + 1} has no id`;
    if (uses.some((use) => use.id === id)) return `block ${index + 1} repeats the id of an earlier block`;
    if (typeof name !== 'string') return `block ${index + 1} has no name`;
    if (!isRecord(input)) return `the input of block ${index + 1} is no object`;
    const member = name === 'computer' && typeof input['action'] === 'string' ? input['action'] : name;
    uses.push({ id, member, input });
  }
  return uses;
}

/** A name that no member has is a mistake of the agent only if the block names the toolset. */
function isOurs({ toolset_name: toolset, name }: Readonly<Record<string, unknown>>): boolean {
  if (toolset !== undefined && toolset !== null) return toolset === 'computer';
  return typeof name !== 'string' || name === 'computer' || MEMBERS.some((member) => member === name);
}

function blocksOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isRecord(value)) return undefined;
  if (Array.isArray(value['content'])) return value['content'];
  return value['type'] === 'tool_use' ? [value] : undefined;
}
