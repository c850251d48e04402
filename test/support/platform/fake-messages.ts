// The fake's check of a message request. The contract shows no path for it, so the path is a quirk.
import { isRecord } from '../branches/fake-server.ts';

export interface Known {
  readonly mediaTypeOf: (fileId: string) => string | undefined;
  readonly hasVersion: (skillId: string, version: string) => boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const NEWER = /-(?:opus-5|sonnet-5|opus-4-8|fable-5|mythos-5)$/;
const OLDER = /-(?:opus-4-7|opus-4-6|sonnet-4-6|opus-4-5)$/;

/** The reason why the platform refuses the request; undefined: it is right. */
export function messageFault(body: unknown, betas: ReadonlySet<string>, known: Known): string | undefined {
  if (!isRecord(body)) return 'no object';
  const { model, max_tokens: most, messages } = body;
  if (typeof model !== 'string' || typeof most !== 'number' || !Array.isArray(messages)) {
    return 'model, max_tokens and messages';
  }
  const blocks = messages.filter(isRecord).flatMap(({ content }) => listOf(content));
  return (
    skillFault(body, betas, known) ??
    fileFault(blocks, betas, known) ??
    computerFault(listOf(body['tools']), model, betas) ??
    resultFault(blocks)
  );
}

function skillFault({ container, tools }: Fields, betas: ReadonlySet<string>, known: Known): string | undefined {
  const skills = isRecord(container) ? listOf(container['skills']) : [];
  const hasTool = listOf(tools).some(
    ({ type, name }) => type === 'code_execution_20260521' && name === 'code_execution',
  );
  const [code, beta] = [betas.has('code-execution-2025-08-25'), betas.has('skills-2025-10-02')];
  const parts = [skills.length > 0, hasTool, code && beta];
  // Each part alone is another feature; the contract speaks of a request that uses skills.
  if (skills.length === 0 && !beta) return undefined;
  if (!parts.every(Boolean)) return 'a skill needs the container, the tool and both beta values';
  const isKnown = skills.every(({ skill_id: id, version }) => known.hasVersion(String(id), String(version)));
  return isKnown ? undefined : 'no such skill or version';
}

function fileFault(blocks: readonly Fields[], betas: ReadonlySet<string>, known: Known): string | undefined {
  for (const { type, source } of blocks) {
    if (!isRecord(source) || source['type'] !== 'file') continue;
    if (!betas.has('files-api-2025-04-14')) return 'the files beta value';
    const mediaType = known.mediaTypeOf(String(source['file_id']));
    if (mediaType === undefined) return 'no such file';
    const isImage = mediaType.startsWith('image/');
    const isDocument = mediaType === 'application/pdf' || mediaType.startsWith('text/');
    if (type !== (isImage ? 'image' : isDocument ? 'document' : 'none')) return 'the block does not match the file';
  }
  return undefined;
}

function computerFault(tools: readonly Fields[], model: string, betas: ReadonlySet<string>): string | undefined {
  for (const tool of tools) {
    const isNewer = tool['type'] === 'computer_toolset_20260801';
    if (!isNewer && tool['type'] !== 'computer_20251124') continue;
    if (tool['name'] !== 'computer') return 'the name is computer';
    if (isNewer && Object.keys(tool).some((key) => /width|height/.test(key))) return 'sizes of the screen';
    if (isNewer && !NEWER.test(model)) return 'the model does not support the toolset';
    if (!isNewer && !betas.has('computer-20251124-api')) return 'the beta value of the older type';
    if (!isNewer && !OLDER.test(model)) return 'not an older model';
  }
  return undefined;
}

function resultFault(blocks: readonly Fields[]): string | undefined {
  for (const block of blocks.filter(({ type }) => type === 'tool_result')) {
    if (block['toolset_name'] !== 'computer') return 'a result without toolset_name';
    if (typeof block['is_error'] !== 'boolean') return 'a result without is_error';
    const use = blocks.find(({ type, id }) => type === 'tool_use' && id === block['tool_use_id']);
    if (use === undefined) return 'a result of nothing';
  }
  return undefined;
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
