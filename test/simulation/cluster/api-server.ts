// The API of one member: health checks, documents and operations, with the answers of Patroni. A fault may make it
// late, silent, or a liar.
import { ownJson } from '../postgres/own-json.ts';
import type { Program } from '../postgres/program.ts';
import type { HttpAnswer, HttpQuestion } from '../world/http.ts';
import type { Host } from '../world/world.ts';
import { refusalOfOrder } from './election.ts';
import { clusterDocument, healthStatus, historyDocument, nodeDocument } from './node-document.ts';
import type { ManagerView, NodeDocument } from './node-document.ts';
import type { StoreClient } from './store-service.ts';

/** The manager as its API needs it. */
export interface ApiActions {
  view(): ManagerView;
  isAlive(): boolean;
  restart(): Promise<boolean>;
  store(): StoreClient;
  program(): Program;
  wakeUp(): void;
}

/** The body of a request that writes. */
interface OrderFields extends Readonly<Record<string, unknown>> {
  readonly leader?: string;
  readonly candidate?: string;
  readonly scheduled_at?: string;
}

type Answer = Exclude<HttpAnswer, 'silent'>;

/** Not as a member should answer. */
export type ApiFault =
  | { readonly kind: 'late'; readonly ms: number }
  /** `to`: the address that hears nothing. Absent: nobody does. */
  | { readonly kind: 'silent'; readonly to?: string }
  | { readonly kind: 'cut' | 'garbage' | 'error' }
  /** The node status of another time: each GET of a health check gets this answer. */
  | { readonly kind: 'lie'; readonly answer: HttpAnswer };

export interface ApiServerOptions {
  readonly host: Host;
  readonly port: number;
  readonly actions: ApiActions;
}

/** The time of a request that writes, for the store. Milliseconds. */
const STORE_MS = 2_000;
/** A switchover looks whether it is over so often, and so many times: some loops of the manager. Milliseconds. */
const LOOK_MS = 500;
const LOOKS = 16;

export class ApiServer {
  readonly #options: ApiServerOptions;
  /** Undefined: it answers as it should. */
  fault: ApiFault | undefined;
  #close: () => void = () => {};

  constructor(options: ApiServerOptions) {
    this.#options = options;
  }

  start(program: Program): void {
    this.#close();
    const { host, port } = this.#options;
    this.#close = host.serveHttp(port, async (asked, from) => {
      await program.turn();
      return this.#reply(asked, from, program);
    });
  }

  close(): void {
    this.#close();
    this.#close = () => {};
  }

  document(): NodeDocument {
    return nodeDocument(this.#options.actions.view());
  }

  async #reply(asked: HttpQuestion, from: string, program: Program): Promise<HttpAnswer> {
    const { fault } = this;
    if (fault?.kind === 'silent' && (fault.to ?? from) === from) return 'silent';
    if (fault?.kind === 'late') await program.pause(fault.ms);
    const reply = asked.method === 'GET' ? await this.#get(asked.path) : await this.#write(asked);
    await program.turn();
    if (reply === 'silent' || asked.method !== 'GET') return reply;
    if (fault?.kind === 'cut') return { status: reply.status, body: reply.body.slice(0, reply.body.length / 2) };
    if (fault?.kind === 'garbage') return { status: reply.status, body: '<html>' };
    if (fault?.kind === 'error') return { status: 500, body: '' };
    return fault?.kind === 'lie' && isHealthCheck(asked.path) ? fault.answer : reply;
  }

  async #get(target: string): Promise<HttpAnswer> {
    const { actions } = this.#options;
    const { pathname, searchParams } = new URL(target, 'http://member');
    const view = actions.view();
    if (pathname === '/liveness') return { status: actions.isAlive() ? 200 : 503, body: '' };
    if (pathname === '/cluster' || pathname === '/history' || pathname === '/config') return this.#readStore(pathname);
    // Each of the others asks PostgreSQL.
    if (view.server.isFrozen()) return 'silent';
    if (pathname === '/readiness') return { status: healthStatus(pathname, searchParams, view) ?? 503, body: '' };
    const document = nodeDocument(view);
    const status = pathname === '/patroni' ? 200 : (healthStatus(pathname, searchParams, view, document) ?? 503);
    return { status, body: JSON.stringify(document) };
  }

  async #readStore(pathname: string): Promise<HttpAnswer> {
    const { actions } = this.#options;
    const view = await actions.store().read(STORE_MS);
    if (view === undefined) return pathname === '/cluster' ? 'silent' : { status: 502, body: '' };
    const { scope } = actions.view();
    const document =
      pathname === '/cluster'
        ? clusterDocument(scope, view)
        : pathname === '/history'
          ? historyDocument(view)
          : view.config;
    return { status: 200, body: JSON.stringify(document) };
  }

  async #write({ method, path, body }: HttpQuestion): Promise<Answer> {
    const fields = ownJson<OrderFields>(JSON.stringify(body ?? {}));
    switch (`${method} ${path}`) {
      case 'POST /switchover':
        return this.#order(fields, false);
      case 'POST /failover':
        return this.#order(fields, fields.leader === undefined);
      case 'DELETE /switchover': {
        await this.#options.actions.store().order(undefined, STORE_MS);
        return { status: 200, body: 'scheduled switchover deleted' };
      }
      case 'POST /restart':
        return this.#restart();
      case 'PATCH /config': {
        const config = await this.#options.actions.store().patch(fields, STORE_MS);
        return config === undefined ? { status: 502, body: '' } : { status: 200, body: JSON.stringify(config) };
      }
      default:
        return { status: 501, body: '' };
    }
  }

  async #restart(): Promise<Answer> {
    const isRestarted = await this.#options.actions.restart();
    return isRestarted
      ? { status: 200, body: 'restarted successfully' }
      : { status: 503, body: 'restart already in progress' };
  }

  /** Answers when the switchover is over, or has failed. */
  async #order(fields: OrderFields, isFailover: boolean): Promise<Answer> {
    const { actions } = this.#options;
    const { leader, candidate, scheduled_at: at } = fields;
    const view = await actions.store().read(STORE_MS);
    if (view === undefined) return { status: 503, body: 'the store does not answer' };
    const order = { ...(leader !== undefined && { leader }), ...(candidate !== undefined && { candidate }) };
    const refusal = refusalOfOrder(order, view, isFailover);
    if (refusal !== undefined) return { status: 412, body: refusal };
    const scheduled = at === undefined ? {} : { at: Date.parse(at) };
    if ((await actions.store().order({ ...order, ...scheduled }, STORE_MS)) === undefined) {
      return { status: 503, body: 'failed to write failover key into DCS' };
    }
    actions.wakeUp();
    if (at !== undefined) return { status: 202, body: 'Switchover scheduled' };
    return this.#awaitOrder(view.leader, candidate, isFailover ? 'Failover' : 'Switchover');
  }

  async #awaitOrder(before: string | undefined, candidate: string | undefined, what: string): Promise<Answer> {
    const { actions } = this.#options;
    for (let look = 0; look < LOOKS; look += 1) {
      await actions.program().pause(LOOK_MS);
      const view = await actions.store().read(STORE_MS);
      if (view === undefined || view.leader === undefined) continue;
      if (view.leader !== before) {
        const isWanted = candidate === undefined || candidate === view.leader;
        const verb = what === 'Failover' ? 'failed over' : 'switched over';
        return {
          status: 200,
          body: isWanted
            ? `Successfully ${verb} to "${view.leader}"`
            : `Failed over to "${view.leader}" instead of "${candidate}"`,
        };
      }
      if (view.failover === undefined) return { status: 503, body: `${what} failed` };
    }
    return { status: 503, body: `${what} status unknown` };
  }
}

function isHealthCheck(path: string): boolean {
  return !/^\/(?:cluster|history|config)/.test(path);
}
