// A panel at the end of the window, over the page that it belongs to. The page can still be used.

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../text/t.ts';

/** Mount it only while open. Takes the focus, closes on Escape, and gives the focus back. */
export function Panel({
  title,
  lead,
  actions,
  onClose,
  children,
}: {
  readonly title: string;
  readonly lead: ComponentChildren;
  readonly actions: ComponentChildren;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const box = useRef<HTMLElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    box.current?.querySelector('h2')?.focus({ preventScroll: true });
    return () => {
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <section
      ref={box}
      class="panel"
      role="dialog"
      aria-labelledby={id}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault();
        onClose();
      }}
    >
      <header class="panel-head">
        <h2 id={id} tabIndex={-1}>
          {title}
        </h2>
        <button type="button" class="button quiet icon" aria-label={t('Close')} onClick={onClose}>
          ×
        </button>
        <div class="row apart">
          {lead}
          <div class="row">{actions}</div>
        </div>
      </header>
      <div class="panel-body">{children}</div>
    </section>
  );
}
