// Where everything in the picture is. Pure: the same width and routes give the same places, so numbers move and the
// layout does not. Pixels.
import type { Routes, Track } from './routes.ts';

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PlacedPool {
  readonly name: string;
  readonly box: Box;
  /** From the listeners to the points; shorter on hold, which leaves a gap. */
  readonly entry: string;
  /** The middle of the circle. */
  readonly points: { readonly x: number; readonly y: number };
  /** For the check and the number of waiting clients. */
  readonly label: Box;
}

export interface PictureLayout {
  readonly isUpright: boolean;
  readonly width: number;
  readonly height: number;
  readonly pools: readonly PlacedPool[];
  readonly members: ReadonlyMap<string, Box>;
  /** So many letters of a name fit in a box. */
  readonly poolLetters: number;
  readonly memberLetters: number;
  /** Solid tracks come last, above the others. */
  readonly tracks: readonly { readonly track: Track; readonly path: string }[];
}

/** Below this width the picture turns upright. */
const UPRIGHT_BELOW = 560;
export const POINTS_RADIUS = 13;
const GAP = 26;
/** The width of a letter of a name, which is bold. */
const LETTER = 9.2;
/** The space in a box, left and right of the name. */
const [POOL_EDGES, MEMBER_EDGES] = [26, 50];
/** Tracks of two pools reach a member side by side. */
const APART = 7;
const ORDER: readonly Track['kind'][] = ['dotted', 'dashed', 'solid'];

export function layOut(routes: Routes, width: number): PictureLayout {
  return width < UPRIGHT_BELOW ? upright(routes, width) : lying(routes, width);
}

function lettersIn(width: number): number {
  return Math.floor(width / LETTER);
}

function between(least: number, value: number, most: number): number {
  return Math.round(Math.min(most, Math.max(least, value)));
}

/** From left to right: listeners, points, members. */
function lying(routes: Routes, width: number): PictureLayout {
  const { pools, members } = routes;
  const listenerWidth = between(120, width * 0.19, 190);
  const memberWidth = between(200, width * 0.32, 300);
  const memberHeight = members.length > 6 ? 46 : 56;
  const memberStep = memberHeight + (members.length > 6 ? 8 : 18);
  const poolStep = 104;
  const height = Math.max(members.length * memberStep, pools.length * poolStep);
  const middle = (index: number, count: number, step: number): number =>
    Math.round(height / 2 + (index - (count - 1) / 2) * step);
  const pointsX = Math.round(listenerWidth + (width - listenerWidth - memberWidth) * 0.42);
  const spread = pools.length === 1 ? poolStep : Math.max(poolStep, (height - poolStep) / (pools.length - 1) / 1.4);
  const placed = pools.map(({ name, route }, index): PlacedPool => {
    const y = middle(index, pools.length, spread);
    const end = pointsX - POINTS_RADIUS - (route.kind === 'open' ? 0 : GAP);
    const labelX = listenerWidth + 8;
    return {
      name,
      box: { x: 0, y: y - 27, width: listenerWidth, height: 54 },
      entry: `M${listenerWidth} ${y}H${end}`,
      points: { x: pointsX, y },
      label: { x: labelX, y: y - POINTS_RADIUS - 26, width: pointsX + 56 - labelX, height: 22 },
    };
  });
  const boxes = new Map(
    members.map(({ name }, index) => {
      const y = middle(index, members.length, memberStep) - memberHeight / 2;
      return [name, { x: width - memberWidth, y, width: memberWidth, height: memberHeight }] as const;
    }),
  );
  const startX = pointsX + POINTS_RADIUS;
  const endX = width - memberWidth;
  const path = (y1: number, y2: number): string => {
    const bend = (endX - startX) * 0.5;
    return `M${startX} ${y1}C${startX + bend} ${y1} ${endX - bend} ${y2} ${endX} ${y2}`;
  };
  const tracks = tracksOf(routes, placed, boxes, path);
  const poolLetters = lettersIn(listenerWidth - POOL_EDGES);
  const memberLetters = lettersIn(memberWidth - MEMBER_EDGES);
  return { isUpright: false, width, height, pools: placed, members: boxes, poolLetters, memberLetters, tracks };
}

/** From top to bottom: each pool has a line down the left side, with a branch to each member. */
function upright(routes: Routes, width: number): PictureLayout {
  const { pools, members } = routes;
  const lane = 24;
  const left = pools.length * lane + POINTS_RADIUS;
  const boxWidth = width - left - 12;
  const [poolHeight, poolStep] = [72, 84];
  /** Room for facts in two lines where one is too short. */
  const memberHeight = boxWidth < 280 ? 68 : 52;
  const step = memberHeight + 8;
  const laneX = (index: number): number => POINTS_RADIUS + 2 + (pools.length - 1 - index) * lane;
  const top = pools.length * poolStep + 14;
  const placed = pools.map(({ name, route }, index): PlacedPool => {
    const y = index * poolStep + poolHeight / 2;
    const end = laneX(index) + POINTS_RADIUS + (route.kind === 'open' ? 0 : GAP / 2);
    return {
      name,
      box: { x: left + 12, y: y - poolHeight / 2, width: boxWidth, height: poolHeight },
      entry: `M${left + 12} ${y}H${end}`,
      points: { x: laneX(index), y },
      label: { x: left + 25, y: y + poolHeight / 2 - 26, width: boxWidth - 26, height: 20 },
    };
  });
  const boxes = new Map(
    members.map(({ name }, index) => {
      const box = { x: left + 12, y: top + index * step, width: boxWidth, height: memberHeight };
      return [name, box] as const;
    }),
  );
  const path = (y1: number, y2: number, x: number): string =>
    `M${x} ${y1 + POINTS_RADIUS}V${y2 - 10}Q${x} ${y2} ${x + 10} ${y2}H${left + 12}`;
  const height = top + members.length * step - (step - memberHeight);
  const tracks = tracksOf(routes, placed, boxes, path);
  const poolLetters = lettersIn(boxWidth - POOL_EDGES);
  const memberLetters = lettersIn(boxWidth - MEMBER_EDGES);
  return { isUpright: true, width, height, pools: placed, members: boxes, poolLetters, memberLetters, tracks };
}

function tracksOf(
  { pools, tracks }: Routes,
  placed: readonly PlacedPool[],
  boxes: ReadonlyMap<string, Box>,
  path: (fromY: number, toY: number, x: number) => string,
): PictureLayout['tracks'] {
  const drawn = tracks.flatMap((track) => {
    const index = pools.findIndex(({ name }) => name === track.pool);
    const from = placed[index]?.points;
    const box = boxes.get(track.member);
    if (from === undefined || box === undefined) return [];
    const apart = (index - (pools.length - 1) / 2) * Math.min(APART, (box.height - 12) / pools.length);
    return [{ track, path: path(from.y, Math.round(box.y + box.height / 2 + apart), from.x) }];
  });
  return drawn.toSorted((a, b) => ORDER.indexOf(a.track.kind) - ORDER.indexOf(b.track.kind));
}
