// The frame of the pages: navigation (a menu on small screens), dialogs opened by calls, and toasts.

import { BookOpen } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { Language } from '../../core/service.ts';
import { LANGUAGE_NAMES } from '../../dashboard/texts/language.ts';
import { chooseLanguage } from '../text/choose.ts';
import { language, t } from '../text/t.ts';
import { ActionButton } from './action-button.tsx';
import { MoneyUnitSwitch } from './amount.tsx';
import { Button } from './button.tsx';
import type { Command } from './command.tsx';
import { StepUpDialog } from './dialog.tsx';
import { Icon } from './icon.tsx';
import { Link } from './link.tsx';
import type { PageEntry } from './page.ts';
import { may } from './permission.ts';
import { service } from './service.ts';
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
  const [Asked, setAsked] = useState<typeof Command | undefined>(undefined);
  const ask = () =>
    import('./command.tsx').then(({ Command }) => setAsked(() => Command)).catch(() => {});
  // Before the paint: a key that is pressed as soon as a page is seen is not lost.
  useLayoutEffect(() => {
    setOpen(false);
    setAsked(undefined);
  }, [location]);
  useLayoutEffect(() => onCommandKey(ask), []);
  useLayoutEffect(() => {
    // An event of the library for each link, also for one to the page that is shown.
    const close = () => setOpen(false);
    window.addEventListener('pushState', close);
    return () => window.removeEventListener('pushState', close);
  }, []);
  return (
    <>
      <a class="skip" href="#content">
        {t('Skip to content')}
      </a>
      <div class="shell">
        <header class="top">
          <Brand />
          <Button aria-expanded={open} aria-controls="side" onClick={() => setOpen(!open)}>
            {t('Menu')}
          </Button>
        </header>
        <aside class={`side${open ? ' open' : ''}`} id="side" aria-label={t('Menu')}>
          <Brand />
          <Button onClick={() => void ask()} aria-keyshortcuts="Control+K Meta+K">
            {t('Go to')} <kbd>{COMMAND_KEY}</kbd>
          </Button>
          <Navigation pages={pages} location={location} />
          <Who />
        </aside>
        <main class="main" id="content" tabIndex={-1}>
          {children}
        </main>
      </div>
      {Asked && <Asked pages={pages} onClose={() => setAsked(undefined)} />}
      <StepUpDialog />
      <Toasts />
    </>
  );
}

const COMMAND_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘ K' : 'Ctrl K';

/** Returns a function that ends it. Does nothing while another dialog is open. */
function onCommandKey(act: () => unknown): () => void {
  const look = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
    if (document.querySelector('dialog[open]') !== null) return;
    event.preventDefault();
    act();
  };
  document.addEventListener('keydown', look);
  return () => document.removeEventListener('keydown', look);
}

/** The frame of the signed-out pages. */
export function Gate({ children }: { readonly children: ComponentChildren }) {
  return (
    <>
      <main class="gate">
        <Brand />
        {children}
        <GateFoot />
      </main>
      <Toasts />
    </>
  );
}

/** The links of the service, and the language: what a visitor may need before sign-in. */
function GateFoot() {
  return (
    <footer class="gate-links">
      {serviceLinks()}
      <LanguageMenu />
    </footer>
  );
}

function serviceLinks() {
  const mail = service.support_email === null ? null : `mailto:${service.support_email}`;
  const links = [
    [isOperator ? null : service.status_url, t('Status')],
    [isOperator ? null : (service.support_url ?? mail), t('Support')],
    [service.terms_url, t('Terms')],
    [service.privacy_url, t('Privacy')],
  ] as const;
  return links.flatMap(([href, label]) =>
    href === null ? (
      []
    ) : (
      <a key={label} href={href}>
        {label}
      </a>
    ),
  );
}

function Brand() {
  return (
    <Link class="brand" href="/">
      {service.logo === null ? <Mark /> : <img class="mark" src={service.logo} alt="" />}
      <span class="name">{service.name}</span>
      {isOperator && <span class="realm">{t('Operator')}</span>}
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
    pages.filter((page) => page.group !== undefined && may(page.needs)),
    (page) => page.group ?? '',
  );
  const here = useRef<HTMLElement>(null);
  // Again once the user is known: what is below the list then takes more of its height.
  useEffect(() => {
    here.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [session.value?.email, location]);
  return (
    <nav ref={here} aria-label={t('Pages')}>
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
                  {page.icon && <Icon of={page.icon} />}
                  {page.title}
                  {page.Extra && <page.Extra />}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <ul class="plain apart">
        <li>
          <a class="item" href={isOperator ? '/operator/docs' : '/docs'}>
            <Icon of={BookOpen} />
            {t('Documentation')}
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
  { id: 'system', label: t('Auto') },
  { id: 'light', label: t('Light') },
  { id: 'dark', label: t('Dark') },
];

function LanguageMenu() {
  if (service.languages.length < 2) return null;
  return (
    <>
      <select
        class="language"
        aria-label={t('Language')}
        value={language}
        onChange={(event) => chooseLanguage(event.currentTarget.value as Language)}
      >
        {service.languages.map((id) => (
          <option key={id} value={id} lang={id}>
            {LANGUAGE_NAMES[id]}
          </option>
        ))}
      </select>
      {language !== 'en' && <span class="small">{t('The documentation is in English.')}</span>}
    </>
  );
}

function ServiceLinks() {
  const links = serviceLinks();
  return links.length === 0 ? null : <p class="service-links">{links}</p>;
}

function Who() {
  const email = session.value?.email;
  return (
    <div class="who">
      {email !== undefined && (
        <div class="email" title={email}>
          {email}
        </div>
      )}
      {!isOperator && <ServiceLinks />}
      <MoneyUnitSwitch />
      <Segments label={t('Theme')} choices={THEMES} active={theme.value} onChange={chooseTheme} />
      <div class="row">
        <LanguageMenu />
        {email !== undefined && (
          <ActionButton size="small" act={signOut}>
            {t('Sign out')}
          </ActionButton>
        )}
      </div>
    </div>
  );
}
