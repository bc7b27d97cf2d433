// The live feed: events of the server as they happen. The browser connects again by itself where
// the connection breaks; where the server refused, it is tried again after a while.

import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { apiUrl, get } from './api.ts';

/** `waiting`: the connection broke and is being made again, or nobody looks at the page. */
export type LiveState = 'connecting' | 'live' | 'waiting';

const RETRY_MS = 5_000;

/**
 * Listens to the events of `path` by name, while the page is shown. Their data is JSON.
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
        // A feed does not say why it was refused. If nobody is signed in any more, this does.
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
    // A page in the background keeps no connection open: a browser has few of them for a server.
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
