// One way for everything that changes the cluster: show the plan, ask, send, and explain each answer.
import type { ClusterOperation } from '../../cluster/control.ts';
import type { OperationResult, PlannedRequest } from '../../documents/cluster-documents.ts';
import type { MemberName } from '../../model/member.ts';
import { EXIT, type CliIo } from '../io.ts';
import { confirm } from '../terminal/confirm.ts';
import { CommandEnd, fail, wrong } from '../command-end.ts';
import { valueOf, type ChangeOptions, type ClusterContext, type ClusterOptions } from './cluster-context.ts';
import { json } from '../json.ts';

export interface ChangeStep {
  readonly operation: ClusterOperation;
  /** For the list of steps that an earlier failure prevented: `restart of pg-2`. */
  readonly title: string;
  /** Waits until the step has taken effect. A text is the reason why the next step must not follow. */
  readonly settle?: () => Promise<string | undefined>;
  /** Why this failure is expected, so that the next step runs. Undefined: it is not expected. */
  readonly excuse?: (result: OperationResult) => string | undefined;
}

export interface Proposal {
  /** Shown before the question. Lines end with a newline. */
  readonly plan: string;
  /** Risks. Scripts see them too. Default: none. */
  readonly warnings?: readonly string[];
  readonly question: string;
  /** Data can be lost: the operator types this name. */
  readonly name?: MemberName | undefined;
  /** In this order; at least one. */
  readonly steps: readonly ChangeStep[];
  /** No step needs the one before: a failure does not end the command. */
  readonly isIndependent?: true;
  /** Printed after success. */
  readonly note?: string;
  /** Looks once more just before the first request. A text is the reason why nothing is sent. */
  readonly verify?: () => Promise<string | undefined>;
}

interface Attempt {
  readonly step: ChangeStep;
  readonly result: OperationResult;
}

/** For a command that finds nothing to do. Returns the exit code. */
export function noChange(why: string, { io, options }: ClusterContext): number {
  io.stdout(options.json === true ? json({ results: [], not_done: [] }) : `${why}\n`);
  return EXIT.ok;
}

/** Resolves with the exit code. */
export async function operate(proposal: Proposal, context: ClusterContext<ChangeOptions>): Promise<number> {
  await perform(proposal, context);
  return EXIT.ok;
}

/** As `operate`, for a command that has more to say after success: of these steps. Otherwise it ends the command. */
export async function perform(proposal: Proposal, context: ClusterContext<ChangeOptions>): Promise<readonly Attempt[]> {
  const { io, options } = context;
  const isPlain = options.json !== true;
  if (options.dryRun === true) return showRequests(proposal, context);
  if (!isPlain && options.yes !== true) return wrong(io, '--json asks no question: add --yes or --dry-run');
  if (isPlain && options.yes !== true) io.stdout(proposal.plan);
  warn(proposal, io);
  const { question, name } = proposal;
  await confirm({ question, name, yes: options.yes }, io);
  const objection = await proposal.verify?.();
  if (objection !== undefined) return fail(io, objection);
  const { results, code } = await sendAll(proposal, context);
  if (!isPlain) io.stdout(json(resultsDocument(proposal.steps, results)));
  if (code !== EXIT.ok) throw new CommandEnd(code);
  if (isPlain && proposal.note !== undefined) io.stdout(`${proposal.note}\n`);
  return results.filter(isDone);
}

/** Stops at the first step that fails, if the next ones depend on it. */
async function sendAll(
  { steps, isIndependent }: Proposal,
  context: ClusterContext<ChangeOptions>,
): Promise<{ readonly results: readonly Attempt[]; readonly code: number }> {
  const { io, control, options } = context;
  const results: Attempt[] = [];
  let code: number = EXIT.ok;
  for (const [index, step] of steps.entries()) {
    const result = await control.perform(step.operation);
    results.push({ step, result });
    const hasWorked = isDone({ result });
    const excuse = hasWorked ? undefined : step.excuse?.(result);
    if ((hasWorked || excuse !== undefined) && options.json !== true) io.stdout(`${excuse ?? result.text}\n`);
    if (excuse !== undefined) continue;
    const why = hasWorked ? await step.settle?.() : failureText(result, options);
    if (why === undefined) continue;
    io.stderr(`pointsman: ${why}\n`);
    code = EXIT.failure;
    if (isIndependent === true) continue;
    const left = steps.slice(index + 1).map(({ title }) => title);
    if (left.length > 0) io.stderr(`not done: ${left.join(', ')}\n`);
    return { results, code };
  }
  return { results, code };
}

function failureText(result: OperationResult, options: ClusterOptions): string {
  if (result.kind !== 'no_answer' || !result.may_have_happened) return result.text;
  return `${result.text}\nLook with: ${lookCommand(options)}`;
}

/** The command that shows the state of the same cluster. */
function lookCommand({ config, seed = [], admin }: ClusterOptions): string {
  const options = [
    ...(config === undefined ? [] : ['-c', config]),
    ...seed.flatMap((url) => ['--seed', url]),
    ...(admin === undefined ? [] : ['--admin', admin]),
  ];
  return ['pointsman cluster list', ...options].join(' ');
}

/** `--dry-run`: the plan, and the requests that would be sent. Then the command ends. */
async function showRequests(
  proposal: Proposal,
  { io, control, options }: ClusterContext<ChangeOptions>,
): Promise<never> {
  const requests: PlannedRequest[] = [];
  for (const { operation } of proposal.steps) {
    // At its turn the order is right.
    const planned = await control.plan(operation.kind === 'restart' ? { ...operation, any_order: true } : operation);
    requests.push(valueOf(planned, io));
  }
  if (options.json === true) {
    io.stdout(json({ dry_run: true, warnings: proposal.warnings ?? [], requests }));
    throw new CommandEnd(EXIT.ok);
  }
  io.stdout(proposal.plan);
  warn(proposal, io);
  io.stdout(`Dry run: nothing is sent. Without --dry-run:\n${requests.map(requestText).join('')}`);
  throw new CommandEnd(EXIT.ok);
}

function requestText({ method, url, body }: PlannedRequest): string {
  return `  ${method} ${url}\n${body === undefined ? '' : `  ${JSON.stringify(body)}\n`}`;
}

function warn({ warnings = [] }: Proposal, io: CliIo): void {
  io.stderr(warnings.map((warning) => `warning: ${warning}\n`).join(''));
}

function resultsDocument(steps: readonly ChangeStep[], results: readonly Attempt[]): Readonly<Record<string, unknown>> {
  return {
    results: results.map(({ step, result }) => ({ operation: step.operation, result })),
    not_done: steps.slice(results.length).map(({ operation }) => operation),
  };
}

function isDone({ result: { kind } }: Pick<Attempt, 'result'>): boolean {
  return kind === 'done' || kind === 'scheduled';
}
