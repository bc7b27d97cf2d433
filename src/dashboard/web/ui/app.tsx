// An application: its pages by path, the frame around them, and what happens on the way from one to
// the next (the title of the window, the focus, the place on the page).

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

/** Starts an application in the page that the server sent. */
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
    <Page title="There is no such page">
      <Empty title="Nothing is at this address" action={<Link href="/">Go to the overview</Link>}>
        The address may be mistyped, or what was here is gone.
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

/** Whether a page has been shown: the first one leaves the focus where the browser puts it. */
let navigated = false;

function Lazy({ page, params }: Omit<FramedProps, 'pages'>) {
  const [, update] = useState(0);
  const [failed, setFailed] = useState(false);
  // A page that fails takes nothing but itself out of sight; the console has the reason.
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

/** A page failed, mostly since another version of the server runs now. */
function Outdated() {
  return (
    <Page title="This page could not be shown">
      <Empty
        title="The server may have been updated meanwhile"
        action={<Button onClick={() => window.location.reload()}>Load it again</Button>}
      >
        If it stays like this, tell the operator what you opened.
      </Empty>
    </Page>
  );
}

/** The server says what opens it. */
function Closed({ why }: { readonly why: string }) {
  return (
    <Gate>
      <Empty
        title="Nobody can sign in yet"
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
        title="The server does not answer"
        lead="Check your connection. If it is fine, the server may be restarting: try again in a minute."
      >
        <Button kind="primary" onClick={() => window.location.reload()}>
          Try again
        </Button>
      </Page>
    </Gate>
  );
}
