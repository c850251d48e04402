// The picture: listeners, the points of each pool, and members, joined by tracks. A click on a box says why.
import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { StatusDocument } from '../../documents/status-document.ts';
import { useWidth } from '../state/use-width.ts';
import { layOut } from '../view/layout.ts';
import { shortNames } from '../view/short-names.ts';
import { MOST_MEMBERS, routesOf, type Routes as Model } from '../view/routes.ts';
import { Panel } from './panel.tsx';
import { MemberBox, PoolBox, PoolLabel, type BoxChoice } from './route-boxes.tsx';
import { Tracks } from './route-tracks.tsx';

export function Routes({ status }: { readonly status: StatusDocument }): JSX.Element {
  const [choice, setChoice] = useState<BoxChoice>();
  const routes = useMemo(() => routesOf(status), [status]);
  const isTooMany = routes.members.length > MOST_MEMBERS;
  const choose = (next: BoxChoice): void =>
    setChoice((now) => (now?.kind === next.kind && now.name === next.name ? undefined : next));
  return (
    <Panel title="Routes" place="routes">
      {isTooMany ? <Summary routes={routes} /> : <Picture {...{ routes, status, choice, choose }} />}
      <div class="routes-foot">
        {isTooMany ? <p class="quiet">More than {MOST_MEMBERS} members: the table below has them.</p> : <Legend />}
        <p class="routes-why">
          {choice === undefined ? (
            <span class="quiet">Choose a box to see the reason.</span>
          ) : (
            <Reason routes={routes} choice={choice} />
          )}
        </p>
      </div>
    </Panel>
  );
}

interface PictureProps {
  readonly routes: Model;
  readonly status: StatusDocument;
  readonly choice: BoxChoice | undefined;
  readonly choose: (choice: BoxChoice) => void;
}

function Picture({ routes, status, choice, choose }: PictureProps): JSX.Element {
  const ref = useRef<HTMLDivElement>(null);
  const width = useWidth(ref);
  const layout = width === 0 ? undefined : layOut(routes, width);
  const poolText = shortNames(
    routes.pools.map(({ name }) => name),
    layout?.poolLetters ?? 0,
  );
  const memberText = shortNames(
    routes.members.map(({ name }) => name),
    layout?.memberLetters ?? 0,
  );
  return (
    <div
      class={`routes${layout?.isUpright === true ? ' routes-upright' : ''}`}
      ref={ref}
      style={{ height: `${layout?.height ?? 300}px` }}
    >
      {layout !== undefined && (
        <>
          <Tracks routes={routes} layout={layout} choice={choice} />
          {routes.pools.map((pool, index) => (
            <PoolBox
              key={pool.name}
              pool={pool}
              text={poolText(pool.name)}
              place={layout.pools[index]}
              choice={choice}
              choose={choose}
            />
          ))}
          {routes.pools.map((pool, index) => (
            <PoolLabel key={pool.name} pool={pool} place={layout.pools[index]} limits={status.limits} />
          ))}
          {routes.members.map((member) => (
            <MemberBox
              key={member.name}
              member={member}
              text={memberText(member.name)}
              place={layout.members.get(member.name)}
              choice={choice}
              choose={choose}
            />
          ))}
        </>
      )}
    </div>
  );
}

/** The summary names no more members of a pool. */
const MOST_NAMED = 5;

/** In place of the picture, where it would not fit. */
function Summary({ routes }: { readonly routes: Model }): JSX.Element {
  return (
    <ul class="routes-summary">
      {routes.pools.map(({ name, why, check, route }) => {
        const targets = route.kind === 'open' ? route.members.length : 0;
        return (
          <li key={name}>
            <b>{name}</b> <span class="quiet">{check}</span> {targets > MOST_NAMED ? `open on ${targets} members` : why}
          </li>
        );
      })}
    </ul>
  );
}

const LEGEND = [
  ['solid', 'routed'],
  ['dashed', 'leaving'],
  ['dotted', 'possible'],
] as const;

function Legend(): JSX.Element {
  return (
    <ul class="routes-legend quiet" aria-label="Kinds of tracks">
      {LEGEND.map(([kind, word]) => (
        <li key={kind}>
          <svg width="30" height="8" aria-hidden="true">
            <path class={`track track-${kind}`} d="M0 4H30" />
          </svg>
          {word}
        </li>
      ))}
    </ul>
  );
}

interface ReasonProps {
  readonly routes: Model;
  readonly choice: BoxChoice;
}

/** The same sentence that explain, the log and the client's DETAIL use. */
function Reason({ routes: { pools, members }, choice: { kind, name } }: ReasonProps): JSX.Element {
  const pool = kind === 'pool' ? pools.find((one) => one.name === name) : undefined;
  const member = kind === 'member' ? members.find((one) => one.name === name) : undefined;
  return (
    <>
      {pool !== undefined && (
        <span>
          <b>{name}</b> {pool.why}
        </span>
      )}
      {member?.reasons.map(([other, why]) => (
        <span key={other}>
          <b>{name}</b> in {other}: {why}
        </span>
      ))}
    </>
  );
}
