// Layout parts: page, card, figures, lists of values, banners, empty states.

import { signal } from '@preact/signals';
import { type IconNode, Inbox } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { t } from '../text/t.ts';
import type { ApiError } from './api.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { Link } from './link.tsx';
import type { Resource } from './resource.ts';
import type { Tone } from './text.tsx';

type Children = { readonly children?: ComponentChildren };

/** The frame of a page's content. `back` links to the list of the record; `wide` fills the window. */
export function Page({
  title,
  lead,
  actions,
  back,
  wide,
  children,
}: Children & {
  readonly title: ComponentChildren;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly back?: { readonly href: string; readonly label: string };
  readonly wide?: boolean;
}) {
  return (
    <div class={wide ? 'page wide' : 'page'}>
      <header class="page-head">
        <div>
          {back && (
            <Link class="back" href={back.href}>
              ← {back.label}
            </Link>
          )}
          <h1 tabIndex={-1}>{title}</h1>
          {lead && <p class="lead">{lead}</p>}
        </div>
        {actions && <div class="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A box with a heading. Use `flush` when a table fills it. */
export function Card({
  title,
  actions,
  flush,
  danger,
  children,
}: Children & {
  readonly title?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly flush?: boolean;
  readonly danger?: boolean;
}) {
  const id = useId();
  return (
    <section
      class={`card${flush ? ' flush' : ''}${danger ? ' danger' : ''}`}
      aria-labelledby={title ? id : undefined}
    >
      {(title || actions) && (
        <div class="card-head">
          {title && <h2 id={id}>{title}</h2>}
          {actions && <div class="row">{actions}</div>}
        </div>
      )}
      <div class="card-body">{children}</div>
    </section>
  );
}

/** A row of `Stat`s. */
export function Stats({ children }: Children) {
  return <div class="stats">{children}</div>;
}

export function Stat({
  label,
  value,
  unit,
  hint,
  change,
  trend,
  large,
}: {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly unit?: string | null;
  readonly hint?: ComponentChildren;
  /** A `Change`, beside the value, and a `Sparkline` or a button, below the hint. */
  readonly change?: ComponentChildren;
  readonly trend?: ComponentChildren;
  /** The main figure of the page. */
  readonly large?: boolean;
}) {
  return (
    <div class={large ? 'stat large' : 'stat'}>
      <div class="label">{label}</div>
      <div class="value">
        {value}
        {unit && ' '}
        {unit && <span class="unit">{unit}</span>}
        {change}
      </div>
      {(hint || trend) && (
        <div class="hint">
          {hint}
          {trend}
        </div>
      )}
    </div>
  );
}

/** The used share of a limit, with a warning from 90 %. `text` states it. */
export function Meter({
  label,
  used,
  limit,
  text,
}: {
  readonly label: string;
  readonly used: number;
  readonly limit: number;
  readonly text: ComponentChildren;
}) {
  const most = Math.max(limit, 1);
  const share = Math.min(100, (used / most) * 100);
  return (
    <div class="meter">
      <div class="labels">
        <span>{label}</span>
        <span class="soft">{text}</span>
      </div>
      <svg class={share >= 90 ? 'bar high' : 'bar'} aria-hidden="true">
        <rect class="track" width="100%" height="6" rx="3" />
        {share > 0 && <rect class="fill" width={`${Math.max(share, 1)}%`} height="6" rx="3" />}
      </svg>
      <meter class="sr-only" aria-label={label} max={most} value={Math.min(used, most)} />
    </div>
  );
}

export type Fact = readonly [label: string, value: ComponentChildren];

/** Names and values: `<Facts items={[['Plan', plan], ['Created', <Time … />]]} />`. */
export function Facts({ items }: { readonly items: readonly Fact[] }) {
  return (
    <dl class="facts">
      {items.map(([label, value]) => [
        <dt key={`${label} name`}>{label}</dt>,
        <dd key={label}>{value}</dd>,
      ])}
    </dl>
  );
}

/** A banner. `danger` is announced at once; others are if they appear in a `role="alert"`. */
export function Alert({
  tone = 'accent',
  title,
  actions,
  children,
}: Children & {
  readonly tone?: Exclude<Tone, 'neutral'>;
  readonly title?: ComponentChildren;
  readonly actions?: ComponentChildren;
}) {
  return (
    <div class={`alert ${tone}`} role={tone === 'danger' ? 'alert' : undefined}>
      <div class="text">
        {title && <div class="title">{title}</div>}
        {children}
      </div>
      {actions && <div class="row">{actions}</div>}
    </div>
  );
}

/**
 * An error with a retry button. Server errors include the request id, which finds them in the
 * operator's log.
 */
export function ErrorAlert({
  error,
  retry,
}: {
  readonly error: ApiError | undefined;
  readonly retry?: () => unknown;
}) {
  if (error === undefined) return null;
  return (
    <Alert
      tone="danger"
      actions={
        retry && (
          <Button size="small" onClick={() => void retry()}>
            {t('Try again')}
          </Button>
        )
      }
    >
      <p>{error.message}</p>
      {error.status >= 500 && error.requestId && (
        <p class="request-id">{t('Request {requestId}', { requestId: error.requestId })}</p>
      )}
    </Alert>
  );
}

/** The icon of the page that is shown. */
export const pageIcon = signal<IconNode | undefined>(undefined);

/** An empty state: what would appear here, and how to start. */
export function Empty({
  title,
  action,
  children,
}: Children & { readonly title: string; readonly action?: ComponentChildren }) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon of={pageIcon.value ?? Inbox} />
      </span>
      <p>
        <strong>{title}</strong>
      </p>
      {children && <p class="text">{children}</p>}
      {action}
    </div>
  );
}

/** Placeholders while loading, as wide as names and numbers of a table. */
export function Skeleton({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div class="skeleton" role="status" aria-label={t('Loading')}>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} />
      ))}
    </div>
  );
}

/** The shape of a page: heading, figures, and a card with rows. */
export function PageSkeleton() {
  return (
    <div class="page page-skeleton" role="status" aria-label={t('Loading')}>
      <span class="heading" />
      <div class="stats">
        <span />
        <span />
        <span />
      </div>
      <div class="card" />
    </div>
  );
}

/** The data of a resource, else its error, else a loading state. */
export function Loaded<Data>({
  resource,
  lines,
  children,
}: {
  readonly resource: Resource<Data>;
  readonly lines?: number;
  readonly children: (data: Data) => ComponentChildren;
}) {
  const data = resource.data.value;
  const error = resource.error.value;
  return (
    <>
      <ErrorAlert error={error} retry={resource.reload} />
      {data === undefined
        ? error === undefined && <Skeleton {...(lines === undefined ? {} : { lines })} />
        : children(data)}
    </>
  );
}
