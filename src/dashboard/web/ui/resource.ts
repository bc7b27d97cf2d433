// What a page reads: `useResource` for one record, `useList` for a list that is paged by key, and
// `useAction` for what a button does. All of them stop when the page is left. What could not be read
// because no server answered is asked for again by itself, so that pages survive its restart.

import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { ApiError, get, type Query, withQuery } from './api.ts';

const UNREACHED_RETRY_MS = 5_000;

export type Resource<Data> = {
  /** The last data that came; it stays while it is loaded anew. */
  readonly data: Signal<Data | undefined>;
  readonly loading: Signal<boolean>;
  readonly error: Signal<ApiError | undefined>;
  readonly reload: () => Promise<void>;
};

/** Reads `path` now, and anew whenever it changes; nothing while it is undefined. */
export function useResource<Data>(path: string | undefined): Resource<Data> {
  const resource = useMemo(() => createResource<Data>(), []);
  useEffect(() => {
    void resource.open(path);
    return resource.close;
  }, [path]);
  return resource;
}

function createResource<Data>() {
  const data = signal<Data | undefined>(undefined);
  const loading = signal(true);
  const error = signal<ApiError | undefined>(undefined);
  let path: string | undefined;
  let running: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function stop(): void {
    clearTimeout(timer);
    running?.abort();
  }

  async function reload(): Promise<void> {
    stop();
    if (path === undefined) {
      loading.value = false;
      return;
    }
    const own = new AbortController();
    running = own;
    loading.value = true;
    try {
      const loaded = await get<Data>(path, { signal: own.signal });
      if (own.signal.aborted) return;
      data.value = loaded;
      error.value = undefined;
    } catch (thrown) {
      if (own.signal.aborted) return;
      error.value = asApiError(thrown);
      if (isUnreached(error.value)) timer = setTimeout(reload, UNREACHED_RETRY_MS);
    }
    loading.value = false;
  }

  return {
    data,
    loading,
    error,
    reload,
    open(next: string | undefined): Promise<void> {
      if (next !== path) data.value = undefined;
      path = next;
      return reload();
    },
    close: stop,
  };
}

type ListRecord<Row> = { readonly data: readonly Row[]; readonly next: string | null };

export type ListResource<Row> = {
  /** Undefined until the first page has come. */
  readonly rows: Signal<readonly Row[] | undefined>;
  readonly loading: Signal<boolean>;
  readonly error: Signal<ApiError | undefined>;
  /** Whether there are more rows to show. */
  readonly hasMore: Signal<boolean>;
  readonly more: () => Promise<void>;
  readonly reload: () => Promise<void>;
};

/** Reads a list page by page, anew from its start whenever `path` or `query` changes. */
export function useList<Row>(path: string, query: Query = {}): ListResource<Row> {
  const list = useMemo(() => createList<Row>(), []);
  const address = withQuery(path, query);
  useEffect(() => {
    void list.open(address);
    return list.close;
  }, [address]);
  return list;
}

function createList<Row>() {
  const rows = signal<readonly Row[] | undefined>(undefined);
  const loading = signal(true);
  const error = signal<ApiError | undefined>(undefined);
  const hasMore = signal(false);
  let address = '';
  let next: string | null = null;
  let running: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function stop(): void {
    clearTimeout(timer);
    running?.abort();
  }

  async function load(after: string | null): Promise<void> {
    stop();
    const own = new AbortController();
    running = own;
    loading.value = true;
    const joint = address.includes('?') ? '&' : '?';
    const place = after === null ? '' : `${joint}after=${encodeURIComponent(after)}`;
    try {
      const page = await get<ListRecord<Row>>(`${address}${place}`, { signal: own.signal });
      if (own.signal.aborted) return;
      rows.value = after === null ? page.data : [...(rows.value ?? []), ...page.data];
      next = page.next;
      hasMore.value = next !== null;
      error.value = undefined;
    } catch (thrown) {
      if (own.signal.aborted) return;
      error.value = asApiError(thrown);
      if (isUnreached(error.value)) timer = setTimeout(() => load(after), UNREACHED_RETRY_MS);
    }
    loading.value = false;
  }

  return {
    rows,
    loading,
    error,
    hasMore,
    more: () => load(next),
    reload: () => load(null),
    open(to: string): Promise<void> {
      if (to !== address) rows.value = undefined;
      address = to;
      return load(null);
    },
    close: stop,
  };
}

export type Action<Args extends readonly unknown[]> = {
  /** Resolves to whether it succeeded; never rejects. Does nothing while it is under way. */
  readonly run: (...args: Args) => Promise<boolean>;
  readonly busy: Signal<boolean>;
  readonly error: Signal<ApiError | undefined>;
};

/** What a button or a form does, with its busy state and its error. */
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

function isUnreached(error: ApiError): boolean {
  return error.code === 'unreachable';
}

/** A fault of the page itself is shown as well, rather than lost. */
function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  return new ApiError(0, 'page_error', 'This page failed. Load it again.');
}
