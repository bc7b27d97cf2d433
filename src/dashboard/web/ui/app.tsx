// Runs an application: routes to pages by path, draws the frame, and sets title, focus and scroll
// position on navigation.

import { type ComponentType, render } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { Link, Route, Router, Switch, useLocation } from 'wouter-preact';
import { ApiError, declareSignedOut } from './api.ts';
import { Button } from './button.tsx';
import type { PageEntry, PageProps } from './page.ts';
import { Empty, Page, Skeleton } from './parts.tsx';
import { loadSession, session } from './session.ts';
import { Gate, Shell } from './shell.tsx';
import { applyTheme } from './theme.ts';

/** Mounts an application in the page. */
export function startApp(pages: readonly PageEntry[]): void {
  applyTheme();
  document.documentElement.dataset['app'] = APP_PREFIX.slice(1);
  declareSignedOut(pages.filter(({ signedOut }) => signedOut).map(({ path }) => path));
  const place = document.getElementById('app');
  if (place !== null) render(<App pages={pages} />, place);
}

function App({ pages }: { readonly pages: readonly PageEntry[] }) {
  const [failure, setFailure] = useState<unknown>(undefined);
  useEffect(() => {
    loadSession().catch(setFailure);
  }, []);
  if (failure instanceof ApiError && failure.status === 404) {
    return <Closed why={failure.message} />;
  }
  if (failure !== undefined) return <Unreachable />;
  if (session.value === undefined) return null;
  return (
    <Router base={APP_PREFIX}>
      <Switch>
        {pages.map((page) => (
          <Route key={page.path} path={page.path}>
            {(params: PageProps['params']) => <Framed page={page} pages={pages} params={params} />}
          </Route>
        ))}
        <Route>
          <Framed page={NOT_FOUND} pages={pages} params={{}} />
        </Route>
      </Switch>
    </Router>
  );
}

const NOT_FOUND: PageEntry = {
  path: '*',
  title: 'Not found',
  load: () => Promise.resolve(NotFound),
};

function NotFound() {
  return (
    <Page title="Page not found">
      <Empty title="This page doesn't exist" action={<Link href="/">Go to the overview</Link>}>
        Check the address, or go back to the overview.
      </Empty>
    </Page>
  );
}

type FramedProps = {
  readonly page: PageEntry;
  readonly pages: readonly PageEntry[];
  readonly params: PageProps['params'];
};

function Framed({ page, pages, params }: FramedProps) {
  const [location, navigate] = useLocation();
  const signedOut = session.value === null;
  const misplaced = signedOut && !page.signedOut;
  useEffect(() => {
    if (!misplaced) return;
    const { pathname, search } = window.location;
    const back = encodeURIComponent(`${pathname}${search}`);
    navigate(location === '/' ? '/sign-in' : `/sign-in?next=${back}`, { replace: true });
  }, [misplaced]);
  useEffect(() => {
    document.title = `${page.title} · Tollgate`;
  }, [page]);
  if (misplaced) return null;
  const content = <Lazy key={location} page={page} params={params} />;
  if (page.signedOut) return <Gate>{content}</Gate>;
  return <Shell pages={pages}>{content}</Shell>;
}

const loaded = new Map<PageEntry, ComponentType<PageProps>>();

/** Whether a page was shown before: the first page keeps the browser's focus. */
let navigated = false;

function Lazy({ page, params }: Omit<FramedProps, 'pages'>) {
  const [, update] = useState(0);
  const [failed, setFailed] = useState(false);
  // A failing page must not take down the frame. The browser console has the reason.
  const [thrown] = useErrorBoundary((error) => reportError(error));
  const Content = loaded.get(page);
  useEffect(() => {
    if (Content !== undefined) return;
    page.load().then(
      (component) => {
        loaded.set(page, component);
        update((count) => count + 1);
      },
      () => setFailed(true),
    );
  }, [page]);
  useEffect(() => {
    if (Content === undefined) return;
    if (navigated) {
      window.scrollTo(0, 0);
      document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
    }
    navigated = true;
  }, [Content]);
  if (failed || thrown !== undefined) return <Outdated />;
  return Content === undefined ? <Skeleton lines={6} /> : <Content params={params} />;
}

/** Shown when a page fails, usually because the server was updated. */
function Outdated() {
  return (
    <Page title="This page failed to load">
      <Empty
        title="The server may have been updated"
        action={<Button onClick={() => window.location.reload()}>Reload</Button>}
      >
        If it keeps failing, contact the operator and name the page.
      </Empty>
    </Page>
  );
}

/** The message of the server says how to enable sign-in. */
function Closed({ why }: { readonly why: string }) {
  return (
    <Gate>
      <Empty
        title="Sign-in is not set up yet"
        action={<Button onClick={() => window.location.reload()}>Try again</Button>}
      >
        {why}
      </Empty>
    </Gate>
  );
}

function Unreachable() {
  return (
    <Gate>
      <Page
        title="The server is not responding"
        lead="Check your connection. The server may be restarting: try again in a minute."
      >
        <Button kind="primary" onClick={() => window.location.reload()}>
          Try again
        </Button>
      </Page>
    </Gate>
  );
}
