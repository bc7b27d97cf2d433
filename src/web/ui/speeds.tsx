// Latency and errors of a period that the visitor chooses; the period is in the address.

import type { SpeedsRecord } from '../../dashboard/records/speeds.ts';
import { withQuery } from './api.ts';
import { useFilters } from './filters.ts';
import { Loaded } from './parts.tsx';
import { spanOf } from './period.ts';
import { useResource } from './resource.ts';
import { SpanPicker } from './span.tsx';
import { SpeedsCard } from './speeds-card.tsx';

/** Reads `path`, which answers a `SpeedsRecord` for a period. */
export function Speeds({
  path,
  ...card
}: { readonly path: string } & Omit<Parameters<typeof SpeedsCard>[0], 'speeds'>) {
  const [search, set] = useFilters();
  const span = spanOf(search);
  const speeds = useResource<SpeedsRecord>(withQuery(path, span));
  return (
    <>
      <SpanPicker span={span} shown={speeds.data.value} onChange={set} />
      <Loaded resource={speeds} lines={6}>
        {(data) => <SpeedsCard speeds={data} {...card} />}
      </Loaded>
    </>
  );
}
