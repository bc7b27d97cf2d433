// The frame of the pages: navigation at the side, which is a menu on small screens, and what lies
// above all pages (dialogs that a call opens, messages).

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { Button } from './button.tsx';
import { StepUpDialog } from './dialog.tsx';
import type { PageEntry } from './page.ts';
import { session, signOut } from './session.ts';
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
        Skip to the content
      </a>
      <div class="shell">
        <div class="top">
          <Brand />
          <Button aria-expanded={open} aria-controls="side" onClick={() => setOpen(!open)}>
            Menu
          </Button>
        </div>
        <div class={`side${open ? ' open' : ''}`} id="side">
          <Brand />
          <Navigation pages={pages} location={location} />
          <Who />
        </div>
        <main class="main" id="content" tabIndex={-1}>
          {children}
        </main>
      </div>
      <StepUpDialog />
      <Toasts />
    </>
  );
}

/** The frame of the pages for those who are not signed in. */
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

/** A post and its barrier. */
function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#0d5c75" />
      <path fill="#fff" d="M7 8h4v17H7z" />
      <path fill="#6cc3dd" d="M11 11h14v4H11z" />
      <path fill="#fff" d="M14 11h4l-3 4h-4zm7 0h4l-3 4h-4z" />
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
    </nav>
  );
}

function isWithin(location: string, path: string): boolean {
  return location === path || (path !== '/' && location.startsWith(`${path}/`));
}

const THEMES: readonly { readonly id: Theme; readonly label: string }[] = [
  { id: 'system', label: 'As the system' },
  { id: 'light', label: 'Light' },
  { id: 'dark', label: 'Dark' },
];

function Who() {
  const email = session.value?.email;
  return (
    <div class="who">
      <label class="row">
        Colours
        <select
          value={theme.value}
          onChange={(event) => chooseTheme(event.currentTarget.value as Theme)}
        >
          {THEMES.map(({ id, label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {email !== undefined && (
        <>
          <div class="email" title={email}>
            {email}
          </div>
          <Button size="small" onClick={() => void signOut()}>
            Sign out
          </Button>
        </>
      )}
    </div>
  );
}
