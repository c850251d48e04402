// The boxes of the picture: the listeners of a pool, the words at its points, a member. Boxes are buttons, so the
// keyboard reaches each reason.
import { Fragment, type ComponentChildren, type JSX } from 'preact';
import type { StatusDocument } from '../../documents/status-document.ts';
import type { Box, PlacedPool } from '../view/layout.ts';
import type { MemberNode, PoolNode } from '../view/routes.ts';
import { countText, lagText, numberText } from '../view/words.ts';
import { Changing } from './changing.tsx';
import { Sign } from './sign.tsx';
import { Countdown } from './ticking.tsx';

export interface BoxChoice {
  readonly kind: 'pool' | 'member';
  readonly name: string;
}

interface BoxSelection {
  readonly choice: BoxChoice | undefined;
  readonly choose: (choice: BoxChoice) => void;
}

interface BoxButtonProps extends BoxSelection {
  readonly of: BoxChoice;
  readonly box: Box;
  readonly class: string;
  readonly title: string;
  readonly children: ComponentChildren;
}

function BoxButton({ of, box, choice, choose, children, title, ...props }: BoxButtonProps): JSX.Element {
  const isChosen = choice?.kind === of.kind && choice.name === of.name;
  return (
    <button
      type="button"
      class={`routes-box ${props.class}`}
      style={placed(box)}
      title={title}
      aria-pressed={isChosen}
      onClick={() => choose(of)}
    >
      {children}
    </button>
  );
}

function placed({ x, y, width, height }: Box): Record<string, string> {
  return { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` };
}

interface PoolBoxProps extends BoxSelection {
  readonly pool: PoolNode;
  /** Its name, as it fits. */
  readonly text: string;
  readonly place: PlacedPool | undefined;
}

export function PoolBox({ pool, text, place, ...choosing }: PoolBoxProps): JSX.Element | null {
  if (place === undefined) return null;
  const { name, listeners = [], why } = pool;
  const ports = listeners.map((address) => address.replace(/^.*(?=:\d+$)/, '')).join(' ');
  const title = [name, ...listeners, why].join('\n');
  return (
    <BoxButton of={{ kind: 'pool', name }} box={place.box} class="routes-pool" title={title} {...choosing}>
      <b>{text}</b>
      <span class="quiet">
        {ports}
        {ports === '' ? '' : ' · '}
        <span class="number">{countText(pool.sessions, 'session')}</span>
      </span>
    </BoxButton>
  );
}

interface PoolLabelProps {
  readonly pool: PoolNode;
  readonly place: PlacedPool | undefined;
  readonly limits: StatusDocument['limits'];
}

/** The check; or without a route, how many clients wait, and how long the first one still may; sessions that move. */
export function PoolLabel({ pool, place, limits }: PoolLabelProps): JSX.Element | null {
  if (place === undefined) return null;
  const { waiting, waitSeconds, moving, route, check } = pool;
  const isHeld = route.kind === 'hold' && moving === 0;
  return (
    <p class={`routes-label routes-label-${route.kind}`} style={placed(place.label)} title={check}>
      {route.kind === 'open' && waiting === 0 && moving === 0 && check}
      {route.kind === 'closed' && 'clients are refused'}
      {route.kind !== 'closed' && (waiting > 0 || isHeld) && (
        <>
          {numberText(waiting)} wait
          {waitSeconds !== undefined && (
            <>
              {', '}
              <Countdown seconds={limits.client_wait_seconds - waitSeconds} /> left
            </>
          )}
          {moving > 0 && ' · '}
        </>
      )}
      {moving > 0 && `${numberText(moving)} parked`}
    </p>
  );
}

interface MemberBoxProps extends BoxSelection {
  readonly member: MemberNode;
  /** Its name, as it fits. */
  readonly text: string;
  readonly place: Box | undefined;
}

export function MemberBox({ member, text, place, ...choosing }: MemberBoxProps): JSX.Element | null {
  if (place === undefined) return null;
  const { name, sign, isPrimary, lag_bytes: lag, staleness_seconds: staleness, sessions, leaving, reasons } = member;
  const role = member.role_text ?? 'unknown role';
  const title = [`${name}, ${role}`, ...reasons.map(([pool, why]) => `${pool}: ${why}`)].join('\n');
  const facts = [
    countText(sessions, 'session'),
    ...(leaving === 0 ? [] : [`${numberText(leaving)} leaving`]),
    ...(lag === null ? [] : [`lag ${lagText(lag, staleness)}`]),
  ];
  const kind = isPrimary ? 'routes-member routes-primary' : 'routes-member';
  return (
    <BoxButton of={{ kind: 'member', name }} box={place} class={kind} title={title} {...choosing}>
      <Sign kind={sign} />
      <b>{text}</b>
      <span class="routes-facts quiet number">
        <span class={isPrimary ? 'good' : undefined}>
          <Changing value={role} />
        </span>
        {facts.map((fact) => (
          <Fragment key={fact}>
            {' '}
            · <span class="routes-fact">{fact}</span>
          </Fragment>
        ))}
      </span>
    </BoxButton>
  );
}
