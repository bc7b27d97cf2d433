// Buttons and links that look like one. `busy` says so to screen readers too, and keeps the focus.

import type { ComponentChildren, ComponentProps } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';

type Look = {
  /** `primary` once a page or dialog; `danger` for what cannot be taken back. */
  readonly kind?: 'primary' | 'plain' | 'danger' | 'quiet' | 'quiet-danger';
  readonly size?: 'small' | 'wide';
};

export type ButtonProps = Look &
  Omit<ComponentProps<'button'>, 'size' | 'kind' | 'class' | 'className' | 'children' | 'type'> & {
    readonly busy?: boolean;
    readonly type?: 'button' | 'submit';
    readonly children: ComponentChildren;
  };

export function Button({ kind, size, busy, type = 'button', onClick, ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      class={look(kind, size)}
      aria-busy={busy ? 'true' : undefined}
      aria-disabled={busy ? 'true' : undefined}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.(event);
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

/** Copies `text` and says so. `label` names what is copied and begins with what is seen. */
export function CopyButton({
  text,
  label,
  kind,
  children = 'Copy',
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
      aria-label={state === 'idle' && children === 'Copy' ? label : undefined}
      onClick={copy}
    >
      {state === 'idle' ? children : state === 'copied' ? 'Copied' : 'Press Ctrl+C'}
      <span class="sr-only" role="status">
        {state === 'copied' ? 'Copied' : ''}
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
