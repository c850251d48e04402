// A request by which the page would change something. The browser of an agent does not send it: a person runs the
// command.
import { onOneLine } from '../../model/printable.ts';

const MOST_CHARACTERS = 200;

export interface PageRequest {
  readonly method: string;
  readonly path: string;
  /** Undefined: none, or no JSON. */
  readonly body: unknown;
}

export function changesNothing(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/** For the agent and, on the page, for people. */
export function heldBackText({ method, path, body }: PageRequest): string {
  const sent = `${method} ${path}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`;
  const command = commandFor(path, body);
  const how = command === undefined ? 'A person does it on the page.' : `A person runs: ${command}`;
  return `Held back, nothing was sent: ${onOneLine(sent).slice(0, MOST_CHARACTERS)}. ${how}`;
}

/** Undefined: no command does it, or a name has characters that a shell could read. */
function commandFor(path: string, body: unknown): string | undefined {
  const [, name = '', verb] = /\/members\/([\w.-]+)\/(drain|resume)$/.exec(path) ?? [];
  if (verb !== undefined) return name.startsWith('-') ? undefined : `pointsman ${verb} ${name}`;
  if (path.endsWith('/refresh')) return 'pointsman refresh';
  if (!path.endsWith('/switchover')) return undefined;
  const { to, transaction_timeout_ms: ms }: Record<string, unknown> = { ...Object(body) };
  if (to !== undefined && !(typeof to === 'string' && /^\w[\w.-]*$/.test(to))) return undefined;
  const options = [
    ...(to === undefined ? [] : [`--to ${to}`]),
    ...(typeof ms !== 'number' ? [] : [`--transaction-timeout ${ms / 1000}s`]),
  ];
  return ['pointsman switchover', ...options].join(' ');
}
