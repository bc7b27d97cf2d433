// Draws an icon of lucide: the bundle contains only those that are imported.

import type { IconNode } from 'lucide';
import { h } from 'preact';

/** Decoration beside a text: screen readers skip it. */
export function Icon({ of }: { readonly of: IconNode }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {of.map(([element, attributes]) => h(element, attributes))}
    </svg>
  );
}
