// The lines of the picture. Screen readers get the same from the boxes and the table of members.
import type { JSX } from 'preact';
import { POINTS_RADIUS, type PictureLayout } from '../view/layout.ts';
import type { Routes } from '../view/routes.ts';
import type { BoxChoice } from './route-boxes.tsx';

interface TracksProps {
  readonly routes: Routes;
  readonly layout: PictureLayout;
  readonly choice: BoxChoice | undefined;
}

const ARROW = 'M-5 0H4M0 -4 4.5 0 0 4';
const CROSS = 'M-4.5 -4.5 4.5 4.5M4.5 -4.5 -4.5 4.5';

export function Tracks({ routes, layout, choice }: TracksProps): JSX.Element {
  const isOther = (pool: string, member?: string): boolean =>
    choice !== undefined && choice.name !== (choice.kind === 'pool' ? pool : member);
  return (
    <svg class="routes-tracks" width={layout.width} height={layout.height} aria-hidden="true">
      {layout.tracks.map(({ track: { pool, member, kind }, path }) => (
        <path
          key={`${pool} ${member}`}
          class={`track track-${kind}${isOther(pool, member) ? ' track-other' : ''}`}
          d={path}
        />
      ))}
      {layout.pools.map(({ name, entry, points: { x, y } }, index) => {
        const kind = routes.pools[index]?.route.kind ?? 'closed';
        return (
          <g key={name} class={`points points-${kind}`}>
            <path class="track track-entry" d={entry} />
            <circle cx={x} cy={y} r={POINTS_RADIUS} />
            <path d={kind === 'open' ? ARROW : CROSS} transform={`translate(${x} ${y})`} />
          </g>
        );
      })}
    </svg>
  );
}
