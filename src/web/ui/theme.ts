// Light or dark theme: follows the system until the user chooses. Stored in this browser.

import { signal } from '@preact/signals';
import { readStored, store } from './stored.ts';

export type Theme = 'system' | 'light' | 'dark';

const STORED_AS = 'tollgate-theme';

export const theme = signal<Theme>(stored());

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  apply(chosen);
  store(STORED_AS, chosen);
}

export function applyTheme(): void {
  apply(theme.value);
}

function apply(chosen: Theme): void {
  if (chosen === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
}

function stored(): Theme {
  const value = readStored(STORED_AS);
  return value === 'light' || value === 'dark' ? value : 'system';
}
