// The clients that wait for a route, and the time until the first of them is refused.
import type { JSX } from 'preact';
import type { StatusDocument } from '../../documents/status-document.ts';
import { movingIn } from '../state/samples.ts';
import { ageText, countText, numberText } from '../view/words.ts';
import { Panel } from './panel.tsx';
import { Age, Countdown } from './ticking.tsx';

export function Waiting({ status: { pools, limits } }: { readonly status: StatusDocument }): JSX.Element {
  const waiting = pools.flatMap(({ name, sessions }) => {
    const count = sessions?.by_state.holding ?? 0;
    return count === 0 ? [] : [{ name, count, longest: sessions?.longest_wait_seconds ?? 0 }];
  });
  const total = waiting.reduce((sum, { count }) => sum + count, 0);
  const parked = pools.reduce((sum, { sessions }) => sum + movingIn(sessions), 0);
  const limit = limits.park_seconds === null ? '' : `, each for ${ageText(limits.park_seconds)} at most`;
  const longest = Math.max(0, ...waiting.map((one) => one.longest));
  return (
    <Panel title="Waiting clients" place="waiting">
      <p class={`big number ${total > 0 ? 'bad' : ''}`}>{numberText(total)}</p>
      <p class="quiet waiting-words">
        {total === 0 ? (
          `Clients wait up to ${ageText(limits.client_wait_seconds)}.`
        ) : (
          <>
            The first has waited <Age seconds={longest} />, and is refused in{' '}
            <b>
              <Countdown seconds={limits.client_wait_seconds - longest} />
            </b>
            . {waiting.map(({ name, count }) => `${name}: ${numberText(count)}`).join(', ')}.
          </>
        )}
        {parked > 0 && ` ${countText(parked, 'session waits', 'sessions wait')} for the next server${limit}.`}
      </p>
    </Panel>
  );
}
