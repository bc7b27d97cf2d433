// Runs an application: routes to pages by path, draws the frame, and sets title, focus and scroll
// position on navigation.

import { type ComponentType, render } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { matchRoute, Router, useLocation, useRouter } from 'wouter-preact';
import { fromAddress } from '../auth/gate.tsx';
import { t } from '../text/t.ts';
import { ApiError, declareSignedOut } from './api.ts';
import { Button } from './button.tsx';
import { Link } from './link.tsx';
import { nextQuery, safeNext } from './next.ts';
import { hadSession } from './other-tabs.ts';
import type { PageEntry, PageProps } from './page.ts';
import { Empty, Page, PageSkeleton, pageIcon } from './parts.tsx';
import { service } from './service.ts';
import { followTabs, loadSession, session } from './session.ts';
import { Gate, Shell } from './shell.tsx';
import { applyTheme } from './theme.ts';

/** Mounts an application in the page. */
export function startApp(pages: readonly PageEntry[]): void {
  applyTheme();
  document.documentElement.dataset['app'] = APP_PREFIX.slice(1);
  declareSignedOut(pages.filter(({ signedOut }) => signedOut).map(({ path }) => path));
  followTabs();
  const place = document.getElementById('app');
  if (place !== null) render(<App pages={pages} />, place);
}

/** Read before the answer of the server changes it. */
const wasSignedIn = hadSession();

function App({ pages }: { readonly pages: readonly PageEntry[] }) {
  const [failure, setFailure] = useState<unknown>(undefined);
  useEffect(() => {
    loadSession().catch(setFailure);
  }, []);
  if (failure instanceof ApiError && failure.status === 404) {
    return <Closed why={failure.message} />;
  }
  if (failure !== undefined) return <Unreachable />;
  return (
    <Router base={APP_PREFIX}>
      <Routed pages={pages} />
    </Router>
  );
}

/** The library's `Switch` builds the frame again for each page, and loses a key pressed then. */
function Routed({ pages }: { readonly pages: readonly PageEntry[] }) {
  const [location] = useLocation();
  const { parser } = useRouter();
  for (const page of pages) {
    const [isMatch, params] = matchRoute(parser, page.path, location);
    if (isMatch) return <Framed page={page} pages={pages} params={params} />;
  }
  return <Framed page={NOT_FOUND} pages={pages} params={{}} />;
}

const NOT_FOUND: PageEntry = {
  path: '*',
  title: t('Not found'),
  load: () => Promise.resolve({ View: NotFound }),
};

function NotFound() {
  return (
    <Page title={t('Page not found')}>
      <Empty
        title={t("This page doesn't exist")}
        action={<Link href="/">{t('Go to the overview')}</Link>}
      >
        {t('Check the address, or go back to the overview.')}
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
  const user = session.value;
  const misplaced = user === null && !page.signedOut;
  const isInside = user !== null && user !== undefined && page.path === '/sign-in';
  useEffect(() => {
    if (isInside) navigate(safeNext(fromAddress('next') || null, APP_PREFIX), { replace: true });
    if (!misplaced) return;
    const { pathname, search } = window.location;
    const reason = wasSignedIn ? 'expired' : undefined;
    const query = location === '/' && !wasSignedIn ? '' : nextQuery(pathname, search, reason);
    navigate(`/sign-in${query}`, { replace: true });
  }, [misplaced, isInside]);
  useEffect(() => {
    document.title = `${page.title} · ${service.name}`;
    pageIcon.value = page.icon;
  }, [page]);
  // The frame comes before the server has said who is here.
  const isWaiting = user === undefined || misplaced || isInside;
  const content = isWaiting ? (
    <PageSkeleton />
  ) : (
    <Lazy key={location} page={page} params={params} />
  );
  if (page.signedOut || misplaced || (user === undefined && !wasSignedIn))
    return <Gate>{content}</Gate>;
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
      ({ View }) => {
        loaded.set(page, View);
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
  return Content === undefined ? <PageSkeleton /> : <Content params={params} />;
}

/** Shown when a page fails, usually because the server was updated. */
function Outdated() {
  return (
    <Page title={t('This page failed to load')}>
      <Empty
        title={t('The server may have been updated')}
        action={<Button onClick={() => window.location.reload()}>{t('Reload')}</Button>}
      >
        {t('If it keeps failing, contact the operator and name the page.')}
      </Empty>
    </Page>
  );
}

/** The message of the server says how to enable sign-in. */
function Closed({ why }: { readonly why: string }) {
  return (
    <Gate>
      <Empty
        title={t('Sign-in is not set up yet')}
        action={<Button onClick={() => window.location.reload()}>{t('Try again')}</Button>}
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
        title={t('The server is not responding')}
        lead={t('Check your connection. The server may be restarting: try again in a minute.')}
      >
        <Button kind="primary" onClick={() => window.location.reload()}>
          {t('Try again')}
        </Button>
      </Page>
    </Gate>
  );
}
