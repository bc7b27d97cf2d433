// Short confirmations, and failures of buttons without a dialog: announced to screen readers, gone
// by themselves. Errors of forms and pages appear where they happened and stay. Buttons use it, so
// it contains a plain one.

import { signal } from '@preact/signals';
import { t } from '../text/t.ts';

type Toast = { readonly id: number; readonly text: string };

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

const SHOWN_MS = 6_000;

/** `toast('The key was revoked.')` */
export function toast(text: string): void {
  lastId += 1;
  const id = lastId;
  toasts.value = [...toasts.value.slice(-2), { id, text }];
  setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text }) => (
        <div class="alert good" key={id}>
          <div class="text">{text}</div>
          <button
            type="button"
            class="button quiet small"
            aria-label={t('Dismiss')}
            onClick={() => dismiss(id)}
          >
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
