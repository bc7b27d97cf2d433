// The route of a page: a row in `customer/pages.tsx` or `operator/pages.tsx`.

import type { IconNode } from 'lucide';
import type { ComponentType } from 'preact';
import type { Needed } from './permission.ts';

/** The props of every page: parameters of its path, such as `id` of `/keys/:id`. */
export type PageProps = { readonly params: Readonly<Record<string, string | undefined>> };

export type PageEntry = {
  /** Below the prefix of the application, such as `/keys/:id`. */
  readonly path: string;
  /** The window title and the navigation label. */
  readonly title: string;
  /** In the navigation, and in empty states of the page. */
  readonly icon?: IconNode;
  /** The navigation group. A page without one is reached by links only. */
  readonly group?: string;
  /** Not in the navigation of operators whose role does not allow it. */
  readonly needs?: Needed;
  /** Signed-out page: a small layout without navigation. */
  readonly signedOut?: boolean;
  /** Loaded when it is first shown: `async () => (await import('./keys.tsx')).KeysPage`. */
  readonly load: () => Promise<ComponentType<PageProps>>;
};
