// Parts of a message request, each with everything it needs. Nothing is sent from here: the path of message creation is
// not part of the interface. Source: the model platform API, "Using a skill in a message request", "Files API" and
// "Computer toolset tool".
import type { CliIo } from '../cli/io.ts';
import { BETAS, betaHeaders, type Beta } from './betas.ts';
import type { MessageOptions } from './message-options.ts';

/** Parts of the body of one request, and the beta values without which they fail. */
export interface Fragment {
  readonly container?: { readonly skills: readonly SkillReference[] };
  readonly tools?: readonly object[];
  readonly toolChoice?: object;
  readonly blocks?: readonly object[];
  readonly betas: readonly Beta[];
}

export interface SkillReference {
  readonly skill_id: string;
  /** A version, or `latest`. */
  readonly version: string;
}

/** All three parts of the use of skills: the container, the tool, and both beta values. */
export function skillsFragment(skills: readonly SkillReference[]): Fragment {
  return {
    container: { skills },
    tools: [{ type: 'code_execution_20260521', name: 'code_execution' }],
    betas: [BETAS.codeExecution, BETAS.skills],
  };
}

/**
 * A block that refers to a stored file. Undefined: no block is for this media type. The block's type has to match that
 * of the file: `document` for PDF and text, `image` for images.
 */
export function fileFragment(fileId: string, mediaType: string): Fragment | undefined {
  const type = blockType(mediaType);
  if (type === undefined) return undefined;
  return { blocks: [{ type, source: { type: 'file', file_id: fileId } }], betas: [BETAS.files] };
}

function blockType(mediaType: string): 'document' | 'image' | undefined {
  const [essence = ''] = mediaType.toLowerCase().split(';');
  if (/^image\/[^/\s]+$/.test(essence.trim())) return 'image';
  return /^(?:application\/pdf|text\/[^/\s]+)$/.test(essence.trim()) ? 'document' : undefined;
}

/** Ends of the identifiers of models, after the vendor's name. */
const NEWER_MODELS = ['opus-5', 'sonnet-5', 'opus-4-8', 'fable-5', 'mythos-5'];
const OLDER_MODELS = ['opus-4-7', 'opus-4-6', 'sonnet-4-6', 'opus-4-5'];
/** For messages: the models that the computer tool is known for. */
export const COMPUTER_MODELS: readonly string[] = [...NEWER_MODELS, ...OLDER_MODELS];

/**
 * The computer tool for a model, by the interface's lists. Undefined: the model is on neither list. `olderFields`:
 * further fields of the older type, such as the size of the screen, which the interface does not show. The newer type
 * rejects sizes, so it never gets them.
 */
export function computerFragment(
  model: string,
  olderFields: Readonly<Record<string, unknown>> = {},
): Fragment | undefined {
  const isOneOf = (ends: readonly string[]): boolean => ends.some((end) => model.endsWith(`-${end}`));
  if (isOneOf(NEWER_MODELS)) return { tools: [{ type: 'computer_toolset_20260801', name: 'computer' }], betas: [] };
  if (!isOneOf(OLDER_MODELS)) return undefined;
  return { tools: [{ ...olderFields, type: 'computer_20251124', name: 'computer' }], betas: [BETAS.olderComputer] };
}

/** One tool_use block in each response at most. */
export function oneActionFragment(): Fragment {
  return { toolChoice: { type: 'auto', disable_parallel_tool_use: true }, betas: [] };
}

export interface MessageParts {
  readonly model: string;
  readonly maxTokens: number;
  /** The user's text. It comes after the blocks of the fragments. */
  readonly text: string;
  readonly fragments: readonly Fragment[];
}

export interface MessageRequest {
  /** The header with the beta values alone. None are needed: it is empty. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One request of all fragments, with every beta value that they need. `betaHeader`: the header's name. */
export function messageRequest(
  betaHeader: string,
  { model, maxTokens, text, fragments }: MessageParts,
): MessageRequest {
  const skills = fragments.flatMap(({ container }) => container?.skills ?? []);
  const tools = fragments.flatMap(({ tools }) => tools ?? []);
  const toolChoice = fragments.find((fragment) => fragment.toolChoice !== undefined)?.toolChoice;
  const blocks = fragments.flatMap(({ blocks }) => blocks ?? []);
  const body = {
    model,
    max_tokens: maxTokens,
    ...(skills.length === 0 ? {} : { container: { skills } }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
    messages: [{ role: 'user', content: [...blocks, { type: 'text', text }] }],
  };
  const betas = fragments.flatMap((fragment) => fragment.betas);
  return { headers: betaHeaders(betaHeader, betas), body };
}

/** Prints the request of all fragments. `otherwise`: the text, if the command line has none. */
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
