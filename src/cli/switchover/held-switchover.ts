// `pointsman switchover`: shows the plan, asks, starts the operation in the running Pointsman and follows it to its
// end. Ctrl-C cancels the operation, and the command waits for its end.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { z } from 'zod';
import { parseDuration } from '../../config/schema/duration.ts';
import { EXIT, type CliIo } from '../io.ts';
import { json } from '../json.ts';
import { CommandEnd, fail, unlessEnded, wrong } from '../command-end.ts';
import { printFailure, queryOf, request, tryRequest, type AdminAnswer } from '../admin-request.ts';
import { findRunning, tokenFor, type ConsentOptions, type Running } from '../running.ts';
import { confirm } from '../terminal/confirm.ts';
import { untilStopped } from '../terminal/until-stopped.ts';
import { clusterText, endText, phaseText, planText } from './switchover-text.ts';
import {
  busyReader,
  operationReader,
  planReader,
  type Operation,
  type SwitchoverPlanDocument,
} from './switchover-readers.ts';

export interface SwitchoverOptions extends ConsentOptions {
  readonly to?: string | undefined;
  readonly transactionTimeout: string;
  /** Undefined: as the Pointsman is configured. */
  readonly fleet?: boolean | undefined;
}

interface SwitchoverOrder {
  readonly to?: string;
  readonly transaction_timeout_ms: number;
  readonly fleet?: boolean;
}

const POLL_MS = 150;
/** A plan that takes longer says what it waits for. */
const PATIENCE_MS = 500;
/** The plan reads the cluster. */
const PLAN_MS = 20_000;
/** The Pointsman that takes no request for this long is gone. Milliseconds. */
const GONE_MS = 3_000;
/** One that takes requests and does not answer may have a busy host: it is followed for this long. Milliseconds. */
const SILENT_MS = 30_000;

export async function switchover(options: SwitchoverOptions, io: CliIo): Promise<number> {
  const duration = parseDuration(options.transactionTimeout);
  if (duration.kind === 'invalid') return wrong(io, `--transaction-timeout: ${duration.message}`);
  const running = findRunning(options, io);
  const asked: SwitchoverOrder = {
    ...(options.to === undefined ? {} : { to: options.to }),
    transaction_timeout_ms: duration.ms,
    ...(options.fleet === undefined ? {} : { fleet: options.fleet }),
  };
  const plan = await planFor(running, asked, io);
  // A plan that cannot be carried out is not shown as one.
  if (options.json !== true) io.stdout(plan.problems.length === 0 ? planText(plan, io) : '');
  else if (options.dryRun === true) io.stdout(json({ ...plan }));
  for (const warning of plan.warnings) io.stderr(`pointsman: warning: ${warning}\n`);
  for (const problem of plan.problems) io.stderr(`pointsman: ${problem}\n`);
  if (plan.problems.length > 0) return isUnknown(options.to, plan) ? EXIT.usage : EXIT.failure;
  if (options.dryRun === true) return EXIT.ok;
  const token = await tokenFor(running, io);
  const question = `Switch over from ${plan.from ?? ''}${plan.to === null ? '' : ` to ${plan.to}`}?`;
  await confirm({ question, yes: options.yes, json: options.json }, io);
  const progress = options.json === true ? { ...io, stdout: () => {} } : io;
  const ended = await perform(asked, running, token, progress);
  if (options.json === true) io.stdout(json({ ...ended }));
  else {
    io.stdout(endText(ended, io));
    if (ended.outcome !== 'done') io.stdout(clusterText(ended, io));
  }
  return ended.outcome === 'done' ? EXIT.ok : EXIT.failure;
}

function isUnknown(to: string | undefined, { from, candidates }: SwitchoverPlanDocument): boolean {
  return to !== undefined && from !== null && ![from, ...candidates.map(({ name }) => name)].includes(to);
}

/** The plan asks each session that may move: that takes a while where one is busy. */
async function planFor(running: Running, asked: SwitchoverOrder, io: CliIo): Promise<SwitchoverPlanDocument> {
  const stopping = untilStopped(io);
  const isRead = new AbortController();
  void delay(PATIENCE_MS, undefined, { signal: isRead.signal }).then(
    () => io.stderr('asking the cluster, and the sessions of the primary whether they can move …\n'),
    () => {},
  );
  const stopped = once(stopping.signal, 'abort').then(() => 'stopped' as const);
  const plan = await Promise.race([unlessEnded(() => readPlan(running, asked, io)), stopped]);
  isRead.abort();
  const code = stopping.end();
  if (plan === 'stopped') return fail(io, 'interrupted: nothing was changed', code);
  if (plan instanceof CommandEnd) throw plan;
  return plan;
}

async function readPlan(running: Running, asked: SwitchoverOrder, io: CliIo): Promise<SwitchoverPlanDocument> {
  const query = queryOf({
    to: asked.to,
    transaction_timeout_ms: String(asked.transaction_timeout_ms),
    fleet: asked.fleet === undefined ? undefined : String(asked.fleet),
  });
  const path = `/switchover${query}`;
  const answer = await request(running, { method: 'GET', path, deadlineMs: PLAN_MS }, io);
  return understood(planReader, answer, 200, io);
}

/** The operator's signals, from before the request on: no operation runs on without its command. */
class Cancellation {
  readonly #send: (id: string, what: string) => void;
  #operation: Operation | undefined;
  #signals = 0;

  /** `send`: the request to cancel; `what`: tells the operator what it does. */
  constructor(send: (id: string, what: string) => void) {
    this.#send = send;
  }

  /** The newest document of the operation. */
  follow(operation: Operation): void {
    const isFirst = this.#operation === undefined;
    this.#operation = operation;
    if (isFirst && this.#signals > 0) this.#send(operation.id, this.#words());
  }

  signal(): void {
    this.#signals += 1;
    if (this.#operation !== undefined && !this.isImpatient()) this.#send(this.#operation.id, this.#words());
  }

  /** The first signal cancels. After the request to switch the second one releases the clients. */
  isImpatient(): boolean {
    return this.#signals > (this.#isRequested() ? 2 : 1);
  }

  #isRequested(): boolean {
    return REQUESTED.includes(this.#operation?.phase ?? '');
  }

  #words(): string {
    if (!this.#isRequested()) return 'cancelling: all clients are released';
    if (this.#operation?.fleet === true && this.#signals > 1) return 'ending the operation: clients go by the evidence';
    return this.#signals > 1
      ? 'releasing all clients now'
      : 'the cluster has the request, which cannot be taken back: clients wait until a primary is proven.\n' +
          'Ctrl-C again releases them now.';
  }
}

const REQUESTED = ['switch', 'confirm'];

/** Starts the operation and follows it to its end. */
async function perform(asked: SwitchoverOrder, running: Running, token: string, io: CliIo): Promise<Operation> {
  const cancellation = new Cancellation((id, what) => {
    io.stderr(`pointsman: ${what}\n`);
    void tryRequest(running, { method: 'POST', path: `/operations/${id}/cancel`, token });
  });
  const ignore = io.onInterrupt?.(() => cancellation.signal());
  try {
    const answer = await request(running, { method: 'POST', path: '/switchover', token, body: asked }, io);
    const started = understood(operationReader, answer, 202, io);
    io.stdout('\n');
    return await follow(started, cancellation, running, io);
  } finally {
    ignore?.();
  }
}

/** Prints each phase when it ends. Ends the command if the Pointsman goes away. */
async function follow(first: Operation, cancellation: Cancellation, running: Running, io: CliIo): Promise<Operation> {
  const path = `/operations/${first.id}`;
  let known = first;
  let shown = 0;
  let answeredAt = Date.now();
  for (;;) {
    cancellation.follow(known);
    for (const phase of known.phases.slice(shown)) {
      if (phase.duration_ms === null) break;
      shown += 1;
      io.stdout(phaseText(phase, known));
    }
    if (known.state === 'ended') return known;
    if (cancellation.isImpatient()) return gone(first, 'stopped by another signal, before the operation had ended', io);
    await delay(POLL_MS);
    const answer = await tryRequest(running, { method: 'GET', path });
    if (answer.kind === 'failed') {
      const limitMs = answer.isSent ? SILENT_MS : GONE_MS;
      if (Date.now() - answeredAt > limitMs) return gone(first, notFollowed(answer.why), io);
      continue;
    }
    const read = operationReader.safeParse(answer.body);
    if (!read.success) return gone(first, notFollowed(`the Pointsman does not know operation ${first.id}`), io);
    known = read.data;
    answeredAt = Date.now();
  }
}

function notFollowed(why: string): string {
  return `the switchover cannot be followed any more: ${why}`;
}

function gone({ id }: Operation, why: string, io: CliIo): never {
  return fail(
    io,
    `${why}\n` +
      `The cluster may have switched over. Look with \`pointsman cluster list\` (the members), and with\n` +
      `\`pointsman status\` (this Pointsman); a Pointsman that still runs has it as GET /operations/${id}.`,
  );
}

/** Ends the command with the refusal, if it is one. */
function understood<Schema extends z.ZodType>(
  schema: Schema,
  answer: AdminAnswer,
  wanted: number,
  io: CliIo,
): z.output<Schema> {
  const read = answer.status === wanted ? schema.safeParse(answer.body) : undefined;
  if (read?.success === true) return read.data;
  printFailure(answer, io);
  const { operation } = busyReader.safeParse(answer.body).data ?? {};
  if (operation !== undefined) io.stderr(`It began at ${operation.started_at}: GET /operations/${operation.id}\n`);
  throw new CommandEnd(EXIT.failure);
}
