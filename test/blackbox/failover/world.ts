// The setup of the failure matrix: one gateway and one scripted upstream. Every cell has its own
// model and failing upstream, so that cells share no breaker, credential or queue; behind them are
// healthy upstreams and fallback models. Some cells use the program's own HTTP client, and the
// others the runtime's.

import { catalogOf, ROOMY_PLAN, UPSTREAM_KEY } from '../../support/catalog.ts';
import { EVERY_FORMAT, type EveryFormat } from '../../support/client.ts';
import type { DeadPorts } from '../../support/dead-ports.ts';
import type { WireDialect } from '../../support/render.ts';
import type { Upstream } from '../../support/upstream.ts';
import type { Row } from './faults.ts';

/** Who could answer in the place of the failing upstream. */
export type Behind = 'none' | 'second upstream' | 'fallback model';

/** `long`: an answer that is wanted whole and is so long that it is read from a stream. */
export type Kind = 'whole' | 'long' | 'stream';

export type Cell = {
  /** The slug of its model, the id and the site of its failing upstream. */
  readonly id: string;
  readonly row: Row;
  readonly behind: Behind;
  readonly format: EveryFormat;
  readonly dialect: WireDialect;
  readonly kind: Kind;
};

export const SECOND = 'second';
export const SPARE = 'spare';

const DIALECTS: readonly WireDialect[] = ['chat', 'messages', 'responses'];
const BEHIND: readonly Behind[] = ['none', 'second upstream', 'fallback model'];

/** Every row in every way in which it can meet a customer. */
export function cellsOf(rows: readonly Row[]): Cell[] {
  const cells = rows.flatMap((row, at) =>
    BEHIND.flatMap((behind) =>
      EVERY_FORMAT.flatMap((format) =>
        dialectsOf({ row, at, format, behind }).flatMap((dialect) =>
          kindsOf(row).map((kind) => ({ row, behind, format, dialect, kind })),
        ),
      ),
    ),
  );
  return cells.map((cell, index) => ({ id: `cell-${index}`, ...cell }));
}

/**
 * Which upstream answers next does not depend on the dialect of the one that failed. So only the cells
 * of chat and Messages with nothing behind them meet all dialects, and the others one in turn.
 */
function dialectsOf(cell: Pick<Cell, 'row' | 'format' | 'behind'> & { readonly at: number }) {
  const { row, at, format, behind } = cell;
  if (row.dialect !== undefined) return [row.dialect];
  if (format !== 'responses' && behind === 'none') return DIALECTS;
  const first = (at + EVERY_FORMAT.indexOf(format) + BEHIND.indexOf(behind)) % DIALECTS.length;
  return DIALECTS.slice(first, first + 1);
}

/** Where there is no stream at the upstream in either case, `long` would be `stream` again. */
function kindsOf(row: Row): readonly Kind[] {
  return row.phase === 'late' ? ['whole', 'long', 'stream'] : ['whole', 'stream'];
}

/** What ends upstreams that only time can end; long enough for a machine that has other work. */
export const SHORT_TIMERS = {
  connect_seconds: 0.4,
  first_byte_seconds: 0.4,
  first_content_seconds: 0.5,
  idle_seconds: 0.4,
  min_tokens_per_second: 100,
  total_seconds: 20,
};

/** The same for those that have to begin first, and whose beginning has to reach the client. */
const LATE_TIMERS = { ...SHORT_TIMERS, first_byte_seconds: 10, first_content_seconds: 10 };

/** For all others: a timer that fires here is a mistake that the test will name. */
export const LONG_TIMERS = { connect_seconds: 20, first_byte_seconds: 20, total_seconds: 25 };

function timersOf(row: Row, kind: Kind) {
  if (row.stalls !== true) return LONG_TIMERS;
  return row.phase === 'late' && kind === 'stream' ? LATE_TIMERS : SHORT_TIMERS;
}

/** So seldom that none of the cells will draw it before the failing upstream. */
const LAST = 0.000_001;

export function catalogText(cells: readonly Cell[], upstream: Upstream, ports: DeadPorts): string {
  const healthy = DIALECTS.flatMap((dialect) =>
    [SECOND, SPARE].map((name) => ({
      id: `${name}-${dialect}`,
      dialect,
      base_url: siteUrl(upstream, dialect, `${name}-${dialect}`),
      api_key: UPSTREAM_KEY,
      transport: name === SECOND ? 'fetch' : 'sockets',
    })),
  );
  const failing = cells.map(({ id, row, format, dialect, kind }) => ({
    id,
    transport: transportOf(format, dialect),
    dialect,
    base_url:
      row.door === undefined
        ? siteUrl(upstream, dialect, id)
        : `${ports.urls[row.door]}${dialect === 'messages' ? '' : '/v1'}`,
    api_key: UPSTREAM_KEY,
    ...timersOf(row, kind),
  }));
  const models = cells.map((cell) => ({
    slug: cell.id,
    served_by: [
      // Its silence hides no thinking, which would be charged.
      {
        ...{ upstream: cell.id, model: cell.row.name, weight: 1_000_000 },
        profile: { thinking_shown: 'all' },
      },
      ...(cell.behind === 'second upstream'
        ? [{ upstream: `${SECOND}-${cell.dialect}`, model: 'ok', weight: LAST }]
        : []),
    ],
    ...(cell.behind === 'fallback model' ? { fallbacks: [`${SPARE}-${cell.dialect}`] } : {}),
  }));
  const spares = DIALECTS.map((dialect) => ({
    slug: `${SPARE}-${dialect}`,
    served_by: [{ upstream: `${SPARE}-${dialect}`, model: 'ok' }],
    price: { input: '0.5', cached_input: '0.05', output: '1' },
  }));
  return catalogOf({
    upstreams: [...healthy, ...failing],
    models: [...spares, ...models],
    plans: { roomy: ROOMY_PLAN },
  });
}

/** Each row meets both with each dialect, and with chat and Messages. */
export function transportOf(format: EveryFormat, dialect: WireDialect): 'sockets' | 'fetch' {
  return (format === 'chat') === (dialect !== 'messages') ? 'sockets' : 'fetch';
}

function siteUrl(upstream: Upstream, dialect: WireDialect, site: string): string {
  const { baseUrl, messagesBaseUrl } = upstream.site(site);
  return dialect === 'messages' ? messagesBaseUrl : baseUrl;
}
