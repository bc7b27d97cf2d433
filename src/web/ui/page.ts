// The route of a page: a row in `customer/pages.tsx` or `operator/pages.tsx`.
//
// How to make a page:
//
// 1. Write `customer/keys/page.tsx` (or `operator/…`): one component, `View`, built from the files of
//    this folder, and of `shared/` for a record that both applications show. Records come from `src/dashboard/records/` by `import type`; nothing else of the
//    server may be imported, and no other package. A list whose records are created and revoked is a
//    `Collection`:
//
//      export function View() {
//        return (
//          <Collection<KeyRecord, CreatedKeyRecord> title="API keys" lead="…" path="/keys"
//            columns={[{ label: 'Name', show: (key) => key.name }]}
//            empty={{ title: 'No keys yet', text: 'Make one to call the API.' }}
//            actions={[REVOKE]}
//            create={{ label: 'Create key', dialog: (dialog) => <CreateKeyDialog {...dialog} /> }}
//            shown={({ key }, onClose) => <ShownKeyDialog lines={[key]} onClose={onClose} />} />
//        );
//      }
//
//    A list that only shows is `<ListTable list={useList<Row>('/path')} …>` in a `<Card flush>`.
// 2. Give it a row in `customer/pages.tsx`. A page with a part in its path gets `PageProps`
//    (`params['id']`). Links are `Link` of `link.tsx` with paths below the prefix (`/keys`).
// 3. One record: `const r = useResource<Record>('/path')` and `<Loaded resource={r}>{(data) => …}`.
//    A form: `const action = useAction(async () => { … })` and `<FormDialog action={action} …>`.
// 4. Amounts stay strings: `<Amount tokens={…} />`, `amountText`; counts `formatCount`; instants `Time`.
//    No inline style, no colour of its own, classes only of `css/`; `stack`, `row`, `grid` lay out.
// 5. `post`, `patch`, `put`, `remove` ask for the password by themselves where a route wants it.

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
  /** Beside the title in the navigation. */
  readonly Extra?: ComponentType | undefined;
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
  Extra?: PageEntry['Extra'],
];

/** The pages of a navigation group, in its order. */
export function pagesOf(group: PageEntry['group'], rows: readonly PageRow[]): PageEntry[] {
  return rows.map(([path, title, icon, load, needs, Extra]) => ({
    path,
    title,
    icon,
    group,
    needs,
    Extra,
    load,
  }));
}

/** Pages without navigation. */
export function signedOutPages(
  rows: readonly (readonly [path: string, title: string, load: PageEntry['load']])[],
): PageEntry[] {
  return rows.map(([path, title, load]) => ({ path, title, load, signedOut: true }));
}
