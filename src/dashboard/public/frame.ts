// The HTML around the pages for strangers: a header with sign-in, the content, and a footer with the
// operator's links. They need no script, and their policy forbids inline styles.

import type { Language } from '../../core/service.ts';
import type { ServiceRecord } from '../records/service.ts';
import { LANGUAGE_NAMES } from '../texts/language.ts';
import type { TextValues } from '../texts/translate.ts';

/** What every page for strangers is made of. */
export type PublicContext = {
  /** A text in the language of the page. */
  readonly t: (message: string, values?: TextValues) => string;
  readonly language: Language;
  readonly service: ServiceRecord;
  /** The public address of this server. */
  readonly baseUrl: string;
  /** Paths of the style sheets, in order. */
  readonly styles: readonly string[];
  /** The path of the built-in icon. */
  readonly icon: string;
  readonly maySignUp: boolean;
  /** Whether clients may use the Responses format. */
  readonly offersResponses: boolean;
  /** Whether the browser has a session, as far as its cookies say. */
  readonly isSignedIn: boolean;
};

export type PublicPage = {
  /** Absent for the landing page, whose title is the name of the service. */
  readonly title?: string;
  readonly description: string;
  readonly path: '/' | '/models';
  readonly content: string;
};

export const html = (text: string): string => Bun.escapeHTML(text);

export function frameOf(context: PublicContext, page: PublicPage): string {
  const { t, language, service, styles } = context;
  const icon = service.logo ?? context.icon;
  const title = page.title === undefined ? service.name : `${page.title} · ${service.name}`;
  const sheets = styles.map((href) => `<link rel="stylesheet" href="${href}">`);
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${html(page.description)}">
<title>${html(title)}</title>
<link rel="icon" href="${icon}">
${sheets.join('\n')}
</head>
<body class="public">
<a class="skip" href="#content">${html(t('Skip to content'))}</a>
<header class="public-head">
<a class="brand" href="${service.public.landing ? '/' : '/dashboard'}"><img class="mark" src="${icon}" alt="">${html(service.name)}</a>
<nav aria-label="${html(t('Service'))}">
${headerLinks(context, page).join('\n')}
</nav>
<div class="row">
${entrances(context, 'button').join('\n')}
</div>
</header>
<main id="content" tabindex="-1">
${page.content}
</main>
<footer class="public-foot">
<span>${html(service.name)}</span>
<nav aria-label="${html(t('More'))}">
${footerLinks(context).join('\n')}
</nav>
${languageMenu(context, page)}
</footer>
</body>
</html>
`;
}

/** Where to sign in and up, or to the dashboard. The first one is the main action. */
export function entrances(
  { t, isSignedIn, maySignUp }: PublicContext,
  kind: 'button' | 'button large',
): string[] {
  const link = (href: string, label: string, isMain: boolean) =>
    `<a class="${kind}${isMain ? ' primary' : ''}" href="${href}">${html(label)}</a>`;
  if (isSignedIn) return [link('/dashboard', t('Open dashboard'), true)];
  const signIn = link('/dashboard/sign-in', t('Sign in'), !maySignUp);
  return maySignUp ? [link('/dashboard/signup', t('Create account'), true), signIn] : [signIn];
}

function headerLinks({ t, service }: PublicContext, { path }: PublicPage): string[] {
  const current = path === '/models' ? ' aria-current="page"' : '';
  return [
    ...(service.public.models ? [`<a href="/models"${current}>${html(t('Models'))}</a>`] : []),
    ...(service.public.docs ? [`<a href="/docs">${html(t('Docs'))}</a>`] : []),
  ];
}

function footerLinks({ t, service }: PublicContext): string[] {
  const { support_url, support_email, terms_url, privacy_url, status_url } = service;
  const mail = support_email === null ? null : `mailto:${support_email}`;
  const links: readonly (readonly [string | null, string])[] = [
    [service.public.docs ? '/openapi.json' : null, 'OpenAPI'],
    [status_url, t('Status')],
    [support_url ?? mail, t('Support')],
    [terms_url, t('Terms')],
    [privacy_url, t('Privacy')],
  ];
  return links.flatMap(([href, label]) =>
    href === null ? [] : [`<a href="${html(href)}">${html(label)}</a>`],
  );
}

function languageMenu({ t, language, service }: PublicContext, { path }: PublicPage): string {
  if (service.languages.length < 2) return '';
  const items = service.languages.map((each) => {
    const current = each === language ? ' aria-current="true"' : '';
    return `<a href="${path}?language=${each}" lang="${each}" hreflang="${each}"${current}>${LANGUAGE_NAMES[each]}</a>`;
  });
  const note =
    language === 'en' ? '' : `<span>${html(t('The documentation is in English.'))}</span>`;
  return `<nav aria-label="${html(t('Language'))}">\n${items.join('\n')}\n</nav>${note}`;
}

/** What a browser without scripts shows in the place of an application. */
export function withoutScripts(t: PublicContext['t'], docs: string): string {
  return `<p>${html(t('These pages need JavaScript.'))} <a href="${docs}">${html(t('Docs'))}</a></p>`;
}
