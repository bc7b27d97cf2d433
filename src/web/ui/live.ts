// The live feed of server events. The browser reconnects by itself; after a refusal, this retries
// with a delay.

import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { apiUrl, get } from './api.ts';

/** `waiting`: reconnecting, or the page is in the background. */
export type LiveState = 'connecting' | 'live' | 'waiting';

const RETRY_MS = 5_000;

/**
 * Listens to the events of `path` by name while the page is visible. Their data is JSON.
 * `useLive('/live', { overview: (data) => … })`.
 */
export function useLive(
  path: string | undefined,
  handlers: Readonly<Record<string, (data: never) => void>>,
): Signal<LiveState> {
  const state = useMemo(() => signal<LiveState>('connecting'), []);
  const current = useMemo(() => ({ handlers }), []);
  current.handlers = handlers;
  useEffect(() => {
    if (path === undefined) return undefined;
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const connect = () => {
      const opened = new EventSource(apiUrl(path));
      source = opened;
      opened.onopen = () => {
        state.value = 'live';
      };
      opened.onerror = () => {
        state.value = 'waiting';
        if (opened.readyState !== EventSource.CLOSED) return;
        timer = setTimeout(connect, RETRY_MS);
        // A feed gives no reason for a refusal. This request redirects if the session has expired.
        get('/auth/sessions').catch(() => {});
      };
      for (const name of Object.keys(current.handlers)) {
        opened.addEventListener(name, (event) => {
          current.handlers[name]?.(JSON.parse(event.data) as never);
        });
      }
    };
    const disconnect = () => {
      clearTimeout(timer);
      source?.close();
      state.value = 'waiting';
    };
    // A background page closes its connection: browsers allow few connections per server.
    const follow = () => (document.hidden ? disconnect() : connect());
    if (!document.hidden) connect();
    document.addEventListener('visibilitychange', follow);
    return () => {
      document.removeEventListener('visibilitychange', follow);
      disconnect();
    };
  }, [path]);
  return state;
}

/**
 * The last message of a feed about what `resource` reads. When the feed goes down, this reads it
 * again, and drops the message as soon as newer data has arrived.
 */
export function useLatest<Message>(
  path: string,
  resource: { readonly data: ReadonlySignal<unknown>; readonly reload: () => unknown },
): { readonly latest: Message | undefined; readonly state: LiveState } {
  const [latest, setLatest] = useState<Message | undefined>(undefined);
  const state = useLive(path, { message: setLatest });
  useEffect(() => {
    // The feed reports neither an unreachable server nor the reason of a refusal; a reload does.
    if (state.value === 'waiting') void resource.reload();
  }, [state.value]);
  const data = resource.data.value;
  useEffect(() => {
    if (state.peek() === 'waiting') setLatest(undefined);
  }, [data]);
  return { latest, state: state.value };
}
