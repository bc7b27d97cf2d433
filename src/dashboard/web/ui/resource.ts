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
 * read, or where a list shows more than its first page: that would lose the place.
 */
type Refresh = (ageMs?: number) => void;

/** Reads `path` now and when it changes; reads nothing while it is undefined. */
export function useResource<Data>(path: string | undefined): Resource<Data> {
  return useReader(path, () => createReader<Data>((answer) => answer));
}

export type ListRecord<Row> = { readonly data: readonly Row[]; readonly next: string | null };

export type ListResource<Row> = {
  /** Undefined until the first page has arrived. */
  readonly rows: ReadonlySignal<readonly Row[] | undefined>;
  readonly loading: Signal<boolean>;
  readonly error: Signal<ApiError | undefined>;
  /** Whether more rows exist. */
  readonly hasMore: ReadonlySignal<boolean>;
  readonly more: () => Promise<void>;
  /** Where the next page begins; null at the end. */
  readonly next: () => string | null;
  readonly reload: () => Promise<void>;
  readonly refresh: Refresh;
};

/**
 * Reads a list page by page, from the start when `path` or `query` changes. `kept` are the rows of
 * an earlier visit, which are shown instead of being read again.
 */
export function useList<Row>(
  path: string,
  query: Query = {},
  kept?: ListRecord<Row>,
): ListResource<Row> {
  return useReader(withQuery(path, query), () => createList<Row>(kept));
}

function createList<Row>(kept: ListRecord<Row> | undefined) {
  const reader = createReader<ListRecord<Row>>(
    (page, before) => ({
      ...page,
      data: [...(before?.data ?? []), ...page.data],
    }),
    kept,
  );
  const { data } = reader;
  return {
    ...reader,
    rows: computed(() => data.value?.data),
    hasMore: computed(() => typeof data.value?.next === 'string'),
    next: () => data.peek()?.next ?? null,
    more: () => reader.load(data.value?.next ?? undefined),
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

/** `join` appends a response to the data `before` it, which is undefined on the first page. */
function createReader<Data>(join: (answer: Data, before: Data | undefined) => Data, kept?: Data) {
  const data = signal<Data | undefined>(kept);
  const loading = signal(true);
  const error = signal<ApiError | undefined>(undefined);
  let path: string | undefined;
  let running: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let startedAt = 0;
  let readAt = 0;
  /** More than one page is shown, as kept rows may be. */
  let isLong = kept !== undefined;

  function stop(): void {
    clearTimeout(timer);
    running?.abort();
  }

  async function load(after?: string): Promise<void> {
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
      const answer = await get<Data>(withQuery(path, { after }), { signal: own.signal });
      if (own.signal.aborted) return;
      data.value = join(answer, after === undefined ? undefined : data.value);
      error.value = undefined;
      isLong = after !== undefined;
      readAt = Date.now();
    } catch (thrown) {
      if (own.signal.aborted) return;
      error.value = asApiError(thrown);
      if (error.value.code === 'unreachable') timer = setTimeout(load, UNREACHED_RETRY_MS, after);
    }
    loading.value = false;
  }

  return {
    data,
    loading,
    error,
    load,
    reload: () => load(),
    refresh(ageMs = 0): void {
      const isReading = loading.value && Date.now() - startedAt < HUNG_MS;
      if (!isLong && !isReading && Date.now() - readAt >= ageMs) void load();
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
