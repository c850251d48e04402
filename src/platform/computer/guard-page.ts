// Limits what the page may send, below its scripts: to its own origin alone, and nothing that changes something.
import type { CDPSession, Page, Request } from 'playwright-core';
import { changesNothing, heldBackText } from './held-back.ts';

export interface PageGuard {
  /** The requests that an action caused, and that were held back: a sentence each, since the last call. */
  readonly heldBack: () => Promise<readonly string[]>;
}

export async function guardPage(page: Page, origin: string, allowsOperations: boolean): Promise<PageGuard> {
  const context = page.context();
  const held: string[] = [];
  await context.route('**/*', async (route) => {
    const request = route.request();
    const { origin: itsOrigin } = new URL(request.url());
    if (itsOrigin !== origin) return quietly(route.abort(request.isNavigationRequest() ? 'aborted' : 'accessdenied'));
    if (allowsOperations || changesNothing(request.method())) return quietly(route.continue());
    const text = textOf(request);
    held.push(text);
    // The page shows this error as it shows those of Pointsman.
    return quietly(route.fulfill({ status: 403, contentType: 'application/json', body: answer(text) }));
  });
  await context.routeWebSocket(/.*/, (socket) => void socket.close());
  context.on('page', (other) => void quietly(other.close()));
  const settle = allowsOperations ? () => Promise.resolve() : await changesOf(await context.newCDPSession(page));
  return {
    heldBack: async () => {
      await settle();
      return held.splice(0);
    },
  };
}

/** Resolves with a function that waits until the requests that change something are answered. */
async function changesOf(session: CDPSession): Promise<() => Promise<void>> {
  const open = new Set<string>();
  let wake: (() => void) | undefined;
  const end = ({ requestId }: { readonly requestId: string }): void => {
    open.delete(requestId);
    wake?.();
  };
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (!changesNothing(request.method)) open.add(requestId);
  });
  session.on('Network.loadingFinished', end);
  session.on('Network.loadingFailed', end);
  await session.send('Network.enable');
  return async () => {
    // Its answer comes behind the news of the requests that the page has begun.
    await session.send('Runtime.evaluate', { expression: '0' });
    while (open.size > 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
}

function textOf(request: Request): string {
  const { pathname } = new URL(request.url());
  return heldBackText({ method: request.method(), path: pathname, body: bodyOf(request) });
}

function bodyOf(request: Request): unknown {
  try {
    return request.postDataJSON() ?? undefined;
  } catch {
    return undefined;
  }
}

function answer(error: string): string {
  return JSON.stringify({ error });
}

/** A page that is being closed cannot be answered. */
async function quietly(work: Promise<void>): Promise<void> {
  await work.catch(() => {});
}
