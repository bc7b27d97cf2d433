// The first page until there is an overview.

import { Empty, Page } from '../ui/index.ts';

export function HomePage() {
  return (
    <Page title="Overview">
      <Empty title="Nothing here yet">This page is being built.</Empty>
    </Page>
  );
}
