// Mounts parts of the pages outside a browser, to test what they send and show. They get a
// document, an address and a server of their own, so that nothing of them stays in the process.

import './english.ts';
import { resolve } from 'node:path';
import type { Catalogue } from '../../src/dashboard/texts/translate.ts';
import { PageNode } from './page-node.ts';

/** A component or another export of the pages; the test knows its type. */
type Part = (...args: never[]) => unknown;

type Names =
  | ('h' | 'render' | 'CustomerRequestsPage' | 'OperatorRequestsPage' | 'AlertsPage')
  | ('ApprovalsPage' | 'AccountTabs' | 'EnableButton' | 'TypedFilter' | 'Toasts' | 'Composer')
  | ('keyActions' | 'KeyFilters' | 'RevokeSeveralDialog' | 'CopyButton')
  | ('SentField' | 'useChecked' | 'PlaygroundPage' | 'changeSettings')
  | ('useList' | 'useResource' | 'useLatest' | 'weekdays' | 'lastMonths' | 'readTools');

export type Asked = { readonly method: string; readonly path: string; readonly body: string };

/** What the server answers: JSON, or a response. It may take its time. */
export type Answer = (asked: Asked) => unknown;

let built: Promise<string> | undefined;

async function build(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [resolve(import.meta.dir, 'page-entry.js')],
    target: 'browser',
    format: 'iife',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return (await outputs[0]?.text()) ?? '';
}

export async function openPage({
  app,
  path,
  answer,
  texts = globalThis.TEXTS,
}: {
  readonly app: 'dashboard' | 'operator';
  /** Below the application, with the query. */
  readonly path: string;
  readonly answer: Answer;
  readonly texts?: Catalogue | undefined;
}) {
  built ??= build();
  const code = await built;
  const prefix = `/${app}`;
  const asked: Asked[] = [];
  const timers: { readonly ms: number; readonly run: () => void }[] = [];
  const feeds: Feed[] = [];
  const events = new EventTarget();
  const documentEvents = new EventTarget();

  const location = { pathname: '', search: '', replace: () => undefined };
  const go = (url: string): void => {
    const { pathname, search } = new URL(url, `https://pages.example${location.pathname}`);
    Object.assign(location, { pathname, search });
  };
  go(`${prefix}${path}`);
  const visit = (_state: unknown, _title: string, url: string) => go(url);

  class Feed {
    static readonly CLOSED = 2;
    readyState = 1;
    onopen = () => {};
    onerror = () => {};
    readonly #handlers = new Map<string, (event: { readonly data: string }) => void>();
    constructor() {
      feeds.push(this);
    }
    addEventListener(name: string, handler: (event: { readonly data: string }) => void): void {
      this.#handlers.set(name, handler);
    }
    send(message: unknown): void {
      this.#handlers.get('message')?.({ data: JSON.stringify(message) });
    }
    close(): void {}
  }

  async function fetchJson(url: string, init: RequestInit): Promise<Response> {
    const one = {
      method: init.method ?? 'GET',
      path: url.replace(`${prefix}/api`, ''),
      body: String(init.body ?? ''),
    };
    asked.push(one);
    const given = await Promise.race([
      answer(one),
      new Promise((_, reject) => {
        init.signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
      }),
    ]);
    return given instanceof Response ? given : Response.json(given);
  }

  const window = {
    ...{ location, scrollY: 0, scrollTo: () => undefined },
    addEventListener: events.addEventListener.bind(events),
    removeEventListener: events.removeEventListener.bind(events),
  };
  const document = {
    ...{ visibilityState: 'visible', hidden: false, activeElement: null },
    createElementNS: (_namespace: string, name: string) => new PageNode(name),
    createTextNode: (data: unknown) => new PageNode('', String(data)),
    ...{ getElementById: () => null, documentElement: {} },
    addEventListener: documentEvents.addEventListener.bind(documentEvents),
    removeEventListener: documentEvents.removeEventListener.bind(documentEvents),
  };
  const exported: Readonly<Record<Names, Part>>[] = [];
  const globals = {
    EXPORTS: (all: Readonly<Record<Names, Part>>) => exported.push(all),
    ...{ APP_PREFIX: prefix, globalThis: { TEXTS: texts }, window, document, location },
    history: { state: null, pushState: visit, replaceState: visit },
    addEventListener: window.addEventListener,
    removeEventListener: window.removeEventListener,
    dispatchEvent: events.dispatchEvent.bind(events),
    matchMedia: () => ({ matches: false, addEventListener: () => undefined }),
    localStorage: { getItem: () => null, setItem: () => undefined, removeItem: () => undefined },
    setInterval: (run: () => void, ms: number) => timers.push({ ms, run }),
    clearInterval: (id: number) => timers.splice(id - 1, 1, { ms: 0, run: () => undefined }),
    ...{ fetch: fetchJson, EventSource: Feed, HTMLElement: PageNode },
    ResizeObserver: class {
      observe(): void {}
      disconnect(): void {}
    },
    createImageBitmap: async () => ({ width: 1, height: 1, close: () => undefined }),
    requestAnimationFrame: undefined,
  };
  new Function(...Object.keys(globals), code)(...Object.values(globals));
  const [all] = exported;
  if (all === undefined) throw new Error('The script of the pages has no parts.');
  const { h, render, ...parts } = all;
  const draw = (part: Part, props: object): void => {
    const node = (h as (part: Part, props: object) => unknown)(part, props);
    (render as (node: unknown, into: PageNode) => void)(node, root);
  };
  const root = new PageNode('body');

  const found = (what: string, fits: (node: PageNode) => boolean): PageNode => {
    const node = root.all().find(fits);
    if (node === undefined) throw new Error(`No ${what} in: ${root.textContent}`);
    return node;
  };
  return {
    ...{ parts, root, location, feeds },
    /** Draws a part in the place of the one before. */
    mount: (part: Part, props: object = {}) => draw(part, props),
    /** Draws a component that only calls a hook, whose last result `result` returns. */
    run<Result>(hook: () => Result) {
      let last: Result | undefined;
      const Probe = () => {
        last = hook();
        return null;
      };
      const again = () => draw(Probe, {});
      again();
      return { again, result: () => last } as const;
    },
    /** Leaves the page: its timers and feeds end. */
    close: () => draw(() => null, {}),
    /** The paths that were read, of one resource with any query. */
    reads: (resource: string) =>
      asked
        .filter(({ method, path: read }) => method === 'GET' && read.split('?')[0] === resource)
        .map(({ path: read }) => read),
    asked,
    text: () => root.textContent,
    button: (name: string) =>
      found(
        `button "${name}"`,
        (node) =>
          node.localName === 'button' &&
          (node.getAttribute('aria-label') ?? node.textContent).startsWith(name),
      ),
    buttons: (name: string) =>
      root.all().filter((node) => node.localName === 'button' && node.textContent === name).length,
    field(label: string): PageNode {
      const named = found(
        `field "${label}"`,
        (node) => node.localName === 'label' && node.textContent === label,
      );
      const id = named.getAttribute('for');
      return found(`control of "${label}"`, (node) => node.getAttribute('id') === id);
    },
    first: (name: string) => found(name, (node) => node.localName === name),
    type(node: PageNode, value: string): void {
      node.value = value;
      node.fire('input');
    },
    /** Runs what repeats at this interval. */
    tick: (every: number) => {
      for (const { ms, run } of timers) if (ms === every) run();
    },
    /** Comes back to the window. */
    comeBack: () => events.dispatchEvent(new Event('focus')),
    /** Changes the address as a link or the browser does. */
    navigate(search: string): void {
      globals.history.replaceState(null, '', `${location.pathname}${search}`);
    },
  };
}

/** Waits for what a page does, at most 2 s. */
export async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 2_000;
  while (!isSo()) {
    if (performance.now() > end) throw new Error('It did not happen within 2 s.');
    await Bun.sleep(2);
  }
}

/** Waits for effects, timers of up to 300 ms, and what they cause. */
export const settle = (): Promise<void> => Bun.sleep(450);

/** A promise that the test resolves. */
export function held<Value>() {
  let release: (value: Value) => void = () => {};
  const promise = new Promise<Value>((resolve) => {
    release = resolve;
  });
  return { promise, release };
}
