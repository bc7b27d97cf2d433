// Buttons and links styled as buttons. `busy` is announced to screen readers and keeps the focus.

import type { ComponentChildren, ComponentProps } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../text/t.ts';
import { Link } from './link.tsx';
import { type Needed, whyNot } from './permission.ts';
import { toast } from './toast.tsx';

type Look = {
  /** Use `primary` once per page or dialog, and `danger` for actions that cannot be undone. */
  readonly kind?: 'primary' | 'plain' | 'danger' | 'quiet' | 'quiet-danger';
  readonly size?: 'small' | 'wide';
};

export type ButtonProps = Look &
  Omit<ComponentProps<'button'>, 'size' | 'kind' | 'class' | 'className' | 'children' | 'type'> & {
    readonly busy?: boolean;
    /** What the role of an operator has to allow; otherwise the button only says why not. */
    readonly needs?: Needed;
    readonly type?: 'button' | 'submit';
    readonly children: ComponentChildren;
  };

export function Button({
  kind,
  size,
  busy,
  needs,
  type = 'button',
  disabled,
  onClick,
  ...rest
}: ButtonProps) {
  const refusal = whyNot(needs);
  const idle = busy || refusal !== undefined;
  return (
    <button
      {...rest}
      // A disabled button could not say why.
      disabled={refusal === undefined && disabled}
      type={type}
      class={look(kind, size)}
      aria-busy={busy ? 'true' : undefined}
      aria-disabled={idle ? 'true' : undefined}
      title={refusal ?? rest.title}
      onClick={(event) => {
        if (!idle) return onClick?.(event);
        event.preventDefault();
        if (refusal !== undefined) toast(refusal);
      }}
    />
  );
}

/** A link to a page of this application (`/keys`), or to a file of the API with `download`. */
export function LinkButton({
  href,
  kind,
  size,
  download,
  children,
}: Look & {
  readonly href: string;
  readonly download?: boolean;
  readonly children: ComponentChildren;
}) {
  if (download) {
    return (
      <a class={look(kind, size)} href={href} download="">
        {children}
      </a>
    );
  }
  return (
    <Link class={look(kind, size)} href={href}>
      {children}
    </Link>
  );
}

function look(kind: Look['kind'] = 'plain', size?: Look['size']): string {
  return ['button', kind.replace('-', ' '), size].filter(Boolean).join(' ');
}

/** Copies `text` and confirms it. `label` names the content and starts with the visible text. */
export function CopyButton({
  text,
  label,
  kind,
  children,
}: {
  readonly text: string;
  readonly label: string;
  readonly kind?: Look['kind'];
  readonly children?: ComponentChildren;
}) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  const copy = async () => {
    setState((await copyText(text)) ? 'copied' : 'failed');
    setTimeout(() => setState('idle'), 2_000);
  };
  return (
    <Button
      kind={kind ?? 'plain'}
      size="small"
      aria-label={state === 'idle' && children === undefined ? label : undefined}
      onClick={copy}
    >
      {state === 'idle'
        ? (children ?? t('Copy'))
        : state === 'copied'
          ? t('Copied')
          : t('Press Ctrl+C')}
      <span class="sr-only" role="status">
        {state === 'copied' ? t('Copied') : ''}
      </span>
    </Button>
  );
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
