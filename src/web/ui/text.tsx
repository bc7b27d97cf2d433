// Small pieces of formatted text: instants and states.

import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { t } from '../text/t.ts';
import { formatClock, formatInstant, formatRelative } from './format.ts';
import { labelOf } from './labels.ts';

/** Updates all relative times of a page at once. */
const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, 15_000);

/**
 * An instant in the viewer's time zone. Use `relative` for recent instants; the exact time is then
 * the title. `clock` is the time of day, where the day is above it.
 */
export function Time({
  at,
  relative,
  detail = 'minute',
}: {
  readonly at: string | null;
  readonly relative?: boolean | undefined;
  readonly detail?: 'day' | 'minute' | 'second' | 'clock' | undefined;
}) {
  if (at === null) return <Nothing />;
  const exact = formatInstant(at, 'zone');
  return (
    <time dateTime={at} title={exact} class="nowrap">
      {relative
        ? formatRelative(Date.parse(at), Math.max(now.value, Date.now()))
        : detail === 'clock'
          ? formatClock(at)
          : formatInstant(at, detail)}
    </time>
  );
}

/** Shown for a missing value. */
export function Nothing({ children = t('None') }: { readonly children?: ComponentChildren }) {
  return (
    <span class="soft nothing">
      <span aria-hidden="true">–</span>
      <span class="sr-only">{children}</span>
    </span>
  );
}

export type Tone = 'good' | 'warning' | 'danger' | 'accent' | 'neutral';

export function Badge({
  tone = 'neutral',
  children,
}: {
  readonly tone?: Tone | undefined;
  readonly children: ComponentChildren;
}) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** Others are neutral. */
const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  completed: 'good',
  settled: 'good',
  healthy: 'good',
  redeemed: 'good',
  used: 'good',
  done: 'good',
  serving: 'good',
  expiring: 'warning',
  rotated: 'warning',
  approved: 'warning',
  stopped_balance: 'warning',
  degraded: 'warning',
  draining: 'warning',
  suspended: 'warning',
  pending_deletion: 'warning',
  open: 'accent',
  pending: 'accent',
  held: 'accent',
  delivering: 'accent',
  blocked: 'danger',
  failed: 'danger',
  upstream_failed: 'danger',
  gateway_failed: 'danger',
  refused: 'warning',
  down: 'danger',
  failing: 'danger',
  disabled: 'danger',
  silent: 'danger',
};

type StateBadgeProps = { readonly state: string; readonly tone?: Tone | undefined };

/** The badge of a state; set `tone` if the state does not imply it. */
export function StateBadge({ state, tone }: StateBadgeProps) {
  return <Badge tone={tone ?? TONES[state]}>{labelOf(state)}</Badge>;
}
