// Data hooks of pages: `useResource` for one record, `useList` for a list paged by key, `useAction`
// for a button. All stop when the page is left. Reads that failed for lack of a server are retried
// automatically, so pages survive a restart, and data is read again when the user comes back to a tab.

import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { t } from '../text/t.ts';
import { ApiError, get, type Query, withQuery } from './api.ts';

const UNREACHED_RETRY_MS = 5_000;

/** Data that is younger is not read again when the user comes back. */
const FRESH_MS = 2_000;

/** A read that takes longer has lost its connection, and another one may replace it. */
const HUNG_MS = 30_000;

export type Resource<Data> = {
  /** The last data received; kept during a reload. */
  readonly data: Signal<Data | undefined>;
  readonly loading: Signal<boolean>;
  readonly error: Signal<ApiError | undefined>;
  readonly reload: () => Promise<void>;
  readonly refresh: Refresh;
};

/**
 * Reads again what is shown, unless it is younger than `ageMs` (default 0). Does nothing during a
 * read.
 */
type Refresh = (ageMs?: number) => void;

/** Reads `path` now and when it changes; reads nothing while it is undefined. */
export function useResource<Data>(path: string | undefined): Resource<Data> {
  return useReader(path, () =>
    createReader<Data>(
      (answer) => answer,
      () => undefined,
    ),
  );
}

export type ListRecord<Row> = { readonly data: readonly Row[]; readonly next: string | null };

type PagePlace = {
  /** The cursor; absent: the first page. */
  readonly start?: string | undefined;
  /** How many rows the pages before it have. */
  readonly rowsBefore: number;
};

/** The page that is shown, its place, and the places of those before it. */
export type ListPage<Row> = ListRecord<Row> & {
  readonly place: PagePlace;
  readonly before: readonly PagePlace[];
};

export type ListResource<Row> = {
  /** Of the page that is shown. Undefined until it has arrived. */
  readonly rows: ReadonlySignal<readonly Row[] | undefined>;
  readonly page: ReadonlySignal<ListPage<Row> | undefined>;
  readonly loading: Signal<boolean>;
  readonly error: Signal<ApiError | undefined>;
  /** Adds rows to the page, where the server ended a long search early. */
  readonly more: () => Promise<void>;
  /** Replace the page by the one after it, the one before it, and the first one. */
  readonly toNext: () => Promise<void>;
  readonly toPrevious: () => Promise<void>;
  readonly toFirst: () => Promise<void>;
  /** Reads the page again. */
  readonly reload: () => Promise<void>;
  readonly refresh: Refresh;
};

/**
 * Reads a list page by page, from the start when `path` or `query` changes. `kept` is the page of an
 * earlier visit, which is shown instead of being read again.
 */
export function useList<Row>(
  path: string,
  query: Query = {},
  kept?: ListPage<Row>,
): ListResource<Row> {
  return useReader(withQuery(path, query), () => createList<Row>(kept));
}

const FIRST: PagePlace = { rowsBefore: 0 };

function createList<Row>(kept: ListPage<Row> | undefined) {
  const reader = createReader<ListPage<Row>, ListRecord<Row>>(
    (answer, shown) => ({ ...answer, place: shown?.place ?? FIRST, before: shown?.before ?? [] }),
    ({ place }) => place.start,
    kept,
  );
  const { data, load } = reader;
  const toFirst = () => load(undefined, (answer) => ({ ...answer, place: FIRST, before: [] }));
  return {
    ...reader,
    rows: computed(() => data.value?.data),
    page: data,
    toFirst,
    async more(): Promise<void> {
      const shown = data.peek();
      if (typeof shown?.next !== 'string') return;
      await load(shown.next, (answer) => ({
        ...shown,
        ...answer,
        data: [...shown.data, ...answer.data],
      }));
    },
    async toNext(): Promise<void> {
      const shown = data.peek();
      if (typeof shown?.next !== 'string') return;
      const { next, place, before } = shown;
      const rowsBefore = place.rowsBefore + shown.data.length;
      await load(next, (answer) => ({
        ...answer,
        place: { start: next, rowsBefore },
        before: [...before, place],
      }));
    },
    async toPrevious(): Promise<void> {
      const before = data.peek()?.before ?? [];
      const place = before.at(-1);
      if (place === undefined) return;
      await load(place.start, (answer) => ({ ...answer, place, before: before.slice(0, -1) }));
    },
  };
}

type Opened = {
  readonly open: (path: string | undefined) => void;
  readonly close: () => void;
  readonly refresh: Refresh;
};

function useReader<Reader extends Opened>(path: string | undefined, create: () => Reader): Reader {
  const reader = useMemo(create, []);
  useEffect(() => {
    reader.open(path);
    return reader.close;
  }, [path]);
  useEffect(() => onReturn(() => reader.refresh(FRESH_MS)), []);
  return reader;
}

/** Calls `refresh` when the user comes back to this tab or window. */
function onReturn(refresh: () => void): () => void {
  const look = () => document.visibilityState === 'visible' && refresh();
  document.addEventListener('visibilitychange', look);
  window.addEventListener('focus', look);
  return () => {
    document.removeEventListener('visibilitychange', look);
    window.removeEventListener('focus', look);
  };
}

type Join<Data, Answer> = (answer: Answer, shown: Data | undefined) => Data;

/** `replace` makes data of an answer that replaces it; `startOf` is the cursor to read it again by. */
function createReader<Data, Answer = Data>(
  replace: Join<Data, Answer>,
  startOf: (data: Data) => string | undefined,
  kept?: Data,
) {
  const data = signal<Data | undefined>(kept);
  const loading = signal(true);
  const error = signal<ApiError | undefined>(undefined);
  let path: string | undefined;
  let running: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let startedAt = 0;
  let readAt = 0;

  function stop(): void {
    clearTimeout(timer);
    running?.abort();
  }

  async function load(after?: string, join = replace): Promise<void> {
    stop();
    if (path === undefined) {
      loading.value = false;
      return;
    }
    const own = new AbortController();
    running = own;
    loading.value = true;
    startedAt = Date.now();
    try {
      const answer = await get<Answer>(withQuery(path, { after }), { signal: own.signal });
      if (own.signal.aborted) return;
      data.value = join(answer, data.value);
      error.value = undefined;
      readAt = Date.now();
    } catch (thrown) {
      if (own.signal.aborted) return;
      error.value = asApiError(thrown);
      if (error.value.code === 'unreachable') {
        timer = setTimeout(load, UNREACHED_RETRY_MS, after, join);
      }
    }
    loading.value = false;
  }

  function reload(): Promise<void> {
    const shown = data.peek();
    return load(shown === undefined ? undefined : startOf(shown));
  }

  return {
    data,
    loading,
    error,
    load,
    reload,
    refresh(ageMs = 0): void {
      const isReading = loading.value && Date.now() - startedAt < HUNG_MS;
      if (!isReading && Date.now() - readAt >= ageMs) void reload();
    },
    open(next: string | undefined): void {
      if (path === undefined && kept !== undefined) {
        path = next;
        loading.value = false;
        return;
      }
      if (next !== path) data.value = undefined;
      path = next;
      void load();
    },
    close: stop,
  };
}

export type Action<Args extends readonly unknown[]> = {
  /** Resolves to whether it succeeded; never rejects. Does nothing while already running. */
  readonly run: (...args: Args) => Promise<boolean>;
  readonly busy: Signal<boolean>;
  readonly error: Signal<ApiError | undefined>;
};

/** The action of a button or form, with its busy state and error. */
export function useAction<Args extends readonly unknown[]>(
  act: (...args: Args) => Promise<unknown>,
): Action<Args> {
  const state = useMemo(
    () => ({ busy: signal(false), error: signal<ApiError | undefined>(undefined), act }),
    [],
  );
  state.act = act;
  return useMemo(() => {
    const { busy, error } = state;
    async function run(...args: Args): Promise<boolean> {
      if (busy.value) return false;
      busy.value = true;
      error.value = undefined;
      try {
        await state.act(...args);
        return true;
      } catch (thrown) {
        error.value = asApiError(thrown);
        return false;
      } finally {
        busy.value = false;
      }
    }
    return { run, busy, error };
  }, []);
}

/** Errors of the page itself are shown too, not lost. */
function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  return new ApiError(0, 'page_error', t('This page failed. Reload it.'));
}
