// Whether one session can move, and with which state: by what is known of it, and by a question to its server. It asks
// between two transactions alone.
import type { SeenPosition } from '../../core/caught-up.ts';
import { movability, movabilityBefore, type MoveFacts } from '../../core/movability.ts';
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { CarriedState, Movability, MovesPolicy, PinReason, WalReport } from '../../model/moves.ts';
import { matchesWildcard } from '../../model/wildcard.ts';
import type { QuestionResult } from '../../reports/move-events.ts';
import type { SessionMoves } from '../../reports/session-list.ts';
import type { SessionMemory } from '../../wire/follow/session-memory.ts';
import { roleOf, startupParameters } from '../../wire/startup/startup.ts';
import { CANCELED, STATEMENT_LIMIT_MS } from '../../wire/talk/pipeline.ts';
import { RollbackQuestion } from '../../wire/talk/rollback-question.ts';
import type { StateAnswer } from '../../wire/talk/session-question.ts';
import { asStepOf } from '../fault.ts';
import { AfterSync } from './after-sync.ts';
import type { LoginTap } from './login-tap.ts';
import type { MoveParts } from './move-parts.ts';
import { isQuiet } from './open-transaction.ts';
import type { QuestionChannel } from './question-channel.ts';

export type PinnedAs = Extract<Movability, { kind: 'pinned' }>;

/** Read of the session, beside its parts. */
export interface InquirySources {
  readonly memory: SessionMemory;
  readonly questions: QuestionChannel;
  readonly login: LoginTap;
}

/** More cancel requests in a row are no accident: somebody ends the question on purpose. */
const MOST_CANCELED = 5;

export class StateInquiry {
  readonly #parts: MoveParts;
  readonly #memory: SessionMemory;
  readonly #questions: QuestionChannel;
  readonly #login: LoginTap;
  /** By the newest answer of its server. */
  #found: SessionMoves['found'];
  /** Known without a question at the session's end, which overwrites its login. */
  #beforeEnd: Movability | undefined;
  #isOver = false;

  constructor(parts: MoveParts, { memory, questions, login }: InquirySources) {
    this.#parts = parts;
    this.#memory = memory;
    this.#questions = questions;
    this.#login = login;
  }

  /** `mayAbort`: a transaction that waits for the client is rolled back before. No answer once the session is over. */
  ask(onAnswer: (found: Movability, state?: CarriedState) => void, mayAbort = false, canceled = 0): void {
    const { session, mover, conversation, packet } = this.#parts;
    if (this.#isOver) return undefined;
    const questions = this.#questions;
    const facts = this.#facts();
    const before = movabilityBefore(facts);
    if (before.kind === 'pinned') return onAnswer(before);
    if (!isQuiet(this.#parts, mayAbort)) return onAnswer(pinned('busy'));
    if (questions.isBusy()) {
      return questions.whenFree(() => asStepOf(session, () => this.ask(onAnswer, mayAbort)));
    }
    if (questions.isAsking()) return onAnswer(pinned('question_failed', 'an earlier question has no answer yet'));
    const startedAt = mover.clock.now();
    const member = session.assignment()?.member;
    const database = startupParameters(packet).get('database') ?? facts.loginRole;
    const question = mover.question(this.#login.login().serverMajor, database, this.#memory);
    const isOpen = !session.isIdle();
    const isBatch = conversation.endBatch();
    const between = isBatch ? new AfterSync(question) : question;
    return questions.ask(isOpen ? new RollbackQuestion(question) : between, (result) => {
      // A late cancel request of the client or of an administrator has hit it. Its own limit would take longer.
      const isHit = result?.kind === 'failed' && result.sqlState === CANCELED && canceled < MOST_CANCELED;
      if (isHit && mover.clock.now() - startedAt < STATEMENT_LIMIT_MS) {
        return this.ask(onAnswer, mayAbort, canceled + 1);
      }
      if (result?.kind === 'answered') mover.named.learn(database, result.state.namedSettings);
      // A reload may have changed what the session may do.
      const found = this.#judged(result);
      this.#found = { movability: found, at: mover.clock.now() };
      this.#report(member, result?.kind === 'answered' ? found.kind : 'failed', startedAt);
      onAnswer(found, result?.kind === 'answered' ? result.state : undefined);
      // Its client does not know that the transaction has ended: nothing of it may run at this server any more.
      if (isOpen && session.state === 'relaying') session.cut('backend_closed', 'its transaction was ended');
      // After a FATAL error the server closes by itself. Bytes that are no protocol must not reach the client.
      const isWhole = conversation.isWhole() && conversation.follower()?.fatal() === undefined;
      if (result?.kind === 'over' && isWhole) session.cut('backend_closed', result.why);
    });
  }

  /** With what its server has told since then, such as another `TimeZone` after a reload. */
  mayStillMove(state: CarriedState): boolean {
    return movability(this.#facts(), state).kind === 'movable';
  }

  /**
   * To be called synchronously with the answer of its server. A string says why its position cannot be compared with
   * that of another server.
   */
  position(wal: WalReport | undefined): SeenPosition | string {
    const { session, mover } = this.#parts;
    const at = session.assignment();
    return at === undefined
      ? 'its server is not known'
      : mover.freshness(session.pool).shown(at.member, wal, at.address);
  }

  /** The newest finding. Undefined: its server was not asked yet. */
  found(): SessionMoves['found'] {
    const before = this.#beforeEnd ?? movabilityBefore(this.#facts());
    return before.kind === 'pinned' ? { movability: before } : this.#found;
  }

  /** The session ends. Idempotent; before the login is cleared. */
  stop(): void {
    if (this.#parts.session.state === 'closing') this.#beforeEnd ??= movabilityBefore(this.#facts());
    this.#isOver = true;
    this.#questions.stop();
  }

  /** For the decision whether it can move, as far as its server need not be asked. */
  #facts(): MoveFacts {
    const { mover, packet, conversation } = this.#parts;
    const loginRole = roleOf(packet);
    const policy = mover.policy();
    return {
      isReadable: conversation.activity() !== undefined,
      isReplication: startupParameters(packet).has('replication'),
      isRoleConfigured: isConfigured(policy, loginRole),
      loginFault: this.#login.isReading() ? undefined : mover.verifiers.loginFault(this.#login.login().login),
      ...this.#memory.facts(),
      areSettingsListed: policy !== undefined && policy.settings.length > 0,
      loginRole,
    };
  }

  #judged(result: StateAnswer | undefined): Movability {
    if (result === undefined) return pinned('question_failed', 'no answer in time');
    if (result.kind !== 'answered') {
      return pinned(result.kind === 'failed' ? result.reason : 'question_failed', result.why);
    }
    const found = movability(this.#facts(), result.state);
    const position = found.kind === 'movable' ? this.position(result.state.wal) : undefined;
    return typeof position === 'string' ? pinned('unknown_position', position) : found;
  }

  #report(member: MemberName | undefined, result: QuestionResult, startedAt: Instant): void {
    if (member === undefined) return;
    const { session, mover } = this.#parts;
    const durationMs = mover.clock.now() - startedAt;
    mover.report({ kind: 'session_asked', pool: session.pool, session: session.id, member, result, durationMs });
  }
}

/** A pattern of `moves.roles` names the role. */
export function isConfigured(policy: MovesPolicy | undefined, role: string): boolean {
  return policy?.roles.some((pattern) => matchesWildcard(role, pattern)) === true;
}

export function pinned(reason: PinReason, detail?: string): PinnedAs {
  return { kind: 'pinned', reason, ...(detail !== undefined && { detail }) };
}
