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
  readonly icon?: IconNode | undefined;
  /** The navigation group. A page without one is reached by links only. */
  readonly group?: string | undefined;
  /** Not in the navigation of operators whose role does not allow it. */
  readonly needs?: Needed | undefined;
  /** Signed-out page: a small layout without navigation. */
  readonly signedOut?: boolean;
  /** Loads the page's module when the page is first shown. */
  readonly load: () => Promise<{ readonly View: ComponentType<PageProps> }>;
};

type PageRow = readonly [
  path: string,
  title: string,
  icon: IconNode | undefined,
  load: PageEntry['load'],
  needs?: PageEntry['needs'],
];

/** The pages of a navigation group, in its order. */
export function pagesOf(group: PageEntry['group'], rows: readonly PageRow[]): PageEntry[] {
  return rows.map(([path, title, icon, load, needs]) => ({
    path,
    title,
    icon,
    group,
    needs,
    load,
  }));
}

/** Pages without navigation. */
export function signedOutPages(
  rows: readonly (readonly [path: string, title: string, load: PageEntry['load']])[],
): PageEntry[] {
  return rows.map(([path, title, load]) => ({ path, title, load, signedOut: true }));
}
