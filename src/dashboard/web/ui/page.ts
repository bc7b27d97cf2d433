// What a page is to the router: a row of the table in `customer/pages.tsx` or `operator/pages.tsx`.

import type { ComponentType } from 'preact';

/** What every page gets: the parts of its path, such as `id` of `/keys/:id`. */
export type PageProps = { readonly params: Readonly<Record<string, string | undefined>> };

export type PageEntry = {
  /** Below the prefix of the application, such as `/keys/:id`. */
  readonly path: string;
  /** In the title of the window, and in the navigation. */
  readonly title: string;
  /** The group of the navigation that it stands in; a page without one is reached by links. */
  readonly group?: string;
  /** For those who are not signed in: a small layout, no navigation. */
  readonly signedOut?: boolean;
  /** Loaded when it is first shown: `async () => (await import('./keys.tsx')).KeysPage`. */
  readonly load: () => Promise<ComponentType<PageProps>>;
};
