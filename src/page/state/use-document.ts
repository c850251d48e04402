// A document of the admin API for a component.
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, type RequestAnswer } from '../operate/requests.ts';

export interface DocumentReading<Body> {
  /** The newest. Undefined: none yet. */
  readonly answer: RequestAnswer<Body> | undefined;
  /** The newest document, also after an answer without one. */
  readonly body: Body | undefined;
  /** Why the newest answer has no document. */
  readonly why: string | undefined;
}

export interface ReadingTimes<Body> {
  /** It is read again when one of these changes. */
  readonly causes?: readonly unknown[];
  /** The least time from one cause to the next, however many there are. */
  readonly leastMs?: number;
  /** The time to the next read without a cause. Undefined: there is none. */
  readonly nextMs?: (answer: RequestAnswer<Body>, newest: Body | undefined) => number | undefined;
}

export function useDocument<Body>(
  path: string,
  { causes = [], leastMs = 0, nextMs }: ReadingTimes<Body> = {},
): DocumentReading<Body> {
  const [answer, setAnswer] = useState<RequestAnswer<Body>>();
  const body = useRef<Body>(undefined);
  const readAt = useRef(-Infinity);
  useEffect(() => {
    let isGone = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const readAfter = (ms: number | undefined): void => {
      if (ms !== undefined) timer = setTimeout(() => void read(), ms);
    };
    const read = async (): Promise<void> => {
      readAt.current = performance.now();
      const given = await get<Body>(path);
      if (isGone) return;
      if (given.kind === 'done') body.current = given.body;
      setAnswer(given);
      readAfter(nextMs?.(given, body.current));
    };
    readAfter(Math.max(0, readAt.current + leastMs - performance.now()));
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [path, ...causes]);
  return { answer, body: body.current, why: answer === undefined || answer.kind === 'done' ? undefined : answer.why };
}
