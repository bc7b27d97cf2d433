// The frame of the pages: navigation (a menu on small screens), dialogs opened by calls, and toasts.

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { Button } from './button.tsx';
import { StepUpDialog } from './dialog.tsx';
import type { PageEntry } from './page.ts';
import { session, signOut } from './session.ts';
import { Segments } from './tabs.tsx';
import { chooseTheme, type Theme, theme } from './theme.ts';
import { Toasts } from './toast.tsx';

const isOperator = APP_PREFIX === '/operator';

type ShellProps = {
  readonly pages: readonly PageEntry[];
  readonly children: ComponentChildren;
};

export function Shell({ pages, children }: ShellProps) {
  const [open, setOpen] = useState(false);
  const [location] = useLocation();
  useEffect(() => setOpen(false), [location]);
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <div class="shell">
        <header class="top">
          <Brand />
          <Button aria-expanded={open} aria-controls="side" onClick={() => setOpen(!open)}>
            Menu
          </Button>
        </header>
        <aside class={`side${open ? ' open' : ''}`} id="side" aria-label="Menu">
          <Brand />
          <Navigation pages={pages} location={location} />
          <Who />
        </aside>
        <main class="main" id="content" tabIndex={-1}>
          {children}
        </main>
      </div>
      <StepUpDialog />
      <Toasts />
    </>
  );
}

/** The frame of the signed-out pages. */
export function Gate({ children }: { readonly children: ComponentChildren }) {
  return (
    <>
      <main class="gate">
        <Brand />
        {children}
      </main>
      <Toasts />
    </>
  );
}

function Brand() {
  return (
    <Link class="brand" href="/">
      <Mark />
      Tollgate
      {isOperator && <span class="realm">Operator</span>}
    </Link>
  );
}

/** The logo, the same as mark.svg. */
function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#0d5c75" />
      <path fill="#fff" d="M6 26V11h6v15z" />
      <path fill="none" stroke="#8fd6ec" stroke-width="4" d="M10 14.5 27 7" />
      <path
        fill="none"
        stroke="#fff"
        stroke-width="4"
        stroke-dasharray="4 3.5"
        d="m14 12.7 13-5.7"
      />
    </svg>
  );
}

type NavigationProps = { readonly pages: readonly PageEntry[]; readonly location: string };

function Navigation({ pages, location }: NavigationProps) {
  const groups = Map.groupBy(
    pages.filter((page) => page.group !== undefined),
    (page) => page.group ?? '',
  );
  return (
    <nav aria-label="Pages">
      {[...groups].map(([group, members]) => (
        <div key={group}>
          {group !== '' && <div class="group">{group}</div>}
          <ul class="plain">
            {members.map((page) => (
              <li key={page.path}>
                <Link
                  class="item"
                  href={page.path}
                  aria-current={isWithin(location, page.path) ? 'page' : undefined}
                  onPointerEnter={() => void page.load().catch(() => {})}
                >
                  {page.title}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <ul class="plain">
        <li>
          <a class="item" href={isOperator ? '/operator/docs' : '/docs'}>
            Documentation
          </a>
        </li>
      </ul>
    </nav>
  );
}

function isWithin(location: string, path: string): boolean {
  return location === path || (path !== '/' && location.startsWith(`${path}/`));
}

const THEMES: readonly { readonly id: Theme; readonly label: string }[] = [
  { id: 'system', label: 'Auto' },
  { id: 'light', label: 'Light' },
  { id: 'dark', label: 'Dark' },
];

function Who() {
  const email = session.value?.email;
  return (
    <div class="who">
      {email !== undefined && (
        <div class="row apart">
          <div class="email" title={email}>
            {email}
          </div>
          <Button size="small" onClick={() => void signOut()}>
            Sign out
          </Button>
        </div>
      )}
      <Segments label="Theme" choices={THEMES} active={theme.value} onChange={chooseTheme} />
    </div>
  );
}
