// The actions of one turn, in their order, until the first that fails. Every block gets a result, and every
// result names the toolset. Source: the platform API, "Computer toolset tool".
import { onOneLine } from '../../model/printable.ts';
import { readAction } from './read-action.ts';
import type { ToolUse } from './read-turn.ts';
import type { AgentScreen, ScreenResult } from './agent-screen.ts';

const MOST_CHARACTERS = 500;

export interface ToolResult {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly toolset_name: 'computer';
  readonly is_error: boolean;
  readonly content: ScreenResult;
}

/** One result for each block, in the same order. Never rejects. */
export async function runTurn(blocks: readonly ToolUse[], screen: AgentScreen): Promise<readonly ToolResult[]> {
  const results: ToolResult[] = [];
  let failed: string | undefined;
  for (const { id, member, input } of blocks) {
    if (failed !== undefined) {
      results.push(result(id, true, `Not executed: an earlier computer action of this turn failed (${failed}).`));
      continue;
    }
    try {
      results.push(result(id, false, await screen.perform(readAction(member, input, screen.size))));
    } catch (error) {
      failed = id;
      results.push(result(id, true, why(error)));
    }
  }
  return results;
}

function result(id: string, isError: boolean, content: ScreenResult): ToolResult {
  return { type: 'tool_result', tool_use_id: id, toolset_name: 'computer', is_error: isError, content };
}

/** The first line: errors of the browser go on with a log of its calls. */
function why(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
  return onOneLine(line).slice(0, MOST_CHARACTERS);
}
