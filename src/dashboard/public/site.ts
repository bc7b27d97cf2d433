// Serves the pages for strangers: the landing page at `/`, the models at `/models`, and a page with
// status 404 elsewhere. Each is rendered once per catalog, language and state of sign-in, and again when a price changes.

import { isUnchanged } from '../../core/etag.ts';
import type { Catalog } from '../../core/model.ts';
import { nextPriceChange } from '../../core/price-book.ts';
import { targetOf } from '../../core/request-target.ts';
import type { Language } from '../../core/service.ts';
import { readCookie, SESSION_COOKIES } from '../../identity/sign-in/cookies.ts';
import type { Web } from '../edge/load.ts';
import { createServiceFiles } from '../edge/service-files.ts';
import type { ModelRecord } from '../records/model.ts';
import { chooseLanguage, LANGUAGE_COOKIE } from '../texts/language.ts';
import { type Catalogue, translate } from '../texts/translate.ts';
import { entrances, frameOf, html, type PublicContext, type PublicPage } from './frame.ts';
import { listedModels, modelsPage, modelTable, priceNote } from './models.ts';

export type PublicSiteOptions = {
  readonly catalog: () => Catalog;
  readonly catalogues: Readonly<Record<Language, Catalogue>>;
  /** Style sheet and icon of the customers' application. */
  readonly web: Pick<Web, 'style' | 'icon'>;
  readonly baseUrl: () => string;
  readonly maySignUp: boolean;
  readonly offersResponses: boolean;
  /** What every response has, such as a content security policy. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Unix milliseconds. */
  readonly clock: () => number;
};

type Path = '/' | '/models' | 'elsewhere';
type Rendered = { readonly bytes: Uint8Array<ArrayBuffer>; readonly etag: string };

const YEAR_SECONDS = 31_536_000;

export function createPublicSite(options: PublicSiteOptions) {
  const { catalog, catalogues, web, baseUrl, maySignUp, offersResponses, headers, clock } = options;
  const rendered = new Map<string, Rendered>();
  let renderedFor: Catalog | undefined;
  let renderedUntil = 0;

  function pageOf(path: Path, language: Language, isSignedIn: boolean): Rendered {
    const current = catalog();
    if (current !== renderedFor || clock() >= renderedUntil) {
      renderedFor = current;
      renderedUntil = Math.min(
        ...current.models.map(({ prices }) => nextPriceChange(prices, clock()) ?? Infinity),
      );
      rendered.clear();
    }
    const key = [path, language, isSignedIn].join(' ');
    const known = rendered.get(key);
    if (known !== undefined) return known;
    const bytes = new TextEncoder().encode(render(path, language, isSignedIn));
    const made = { bytes, etag: `"${Bun.hash(bytes).toString(36)}"` };
    rendered.set(key, made);
    return made;
  }

  function render(path: Path, language: Language, isSignedIn: boolean): string {
    const current = catalog();
    const { record, colours } = createServiceFiles(current.service, 'customer');
    const context: PublicContext = {
      t: (message, values) => translate(catalogues[language], message, values),
      language,
      service: record,
      baseUrl: baseUrl(),
      styles: [web.style, ...(colours === undefined ? [] : [colours])],
      icon: web.icon,
      maySignUp,
      offersResponses,
      isSignedIn,
    };
    const models = listedModels(current, clock());
    const pages = { '/': landingPage, '/models': modelsPage, elsewhere: notFoundPage };
    return frameOf(context, pages[path](context, models));
  }

  function redirect(location: string, cookie?: string): Response {
    return new Response(null, {
      status: 303,
      headers: {
        ...headers(),
        location,
        'cache-control': 'no-store',
        ...(cookie === undefined ? {} : { 'set-cookie': cookie }),
      },
    });
  }

  return async (request: Request): Promise<Response> => {
    const { isPublic, languages } = catalog().service;
    const { pathname, searchParams } = targetOf(request);
    const path = pathname === '/models' || pathname === '/' ? pathname : 'elsewhere';
    if (path === '/' && !isPublic.landing) return redirect('/dashboard');
    if (path === '/models' && !isPublic.models) return redirect('/dashboard/models');
    const chosen = languages.find((language) => language === searchParams.get('language'));
    if (chosen !== undefined && path !== 'elsewhere') {
      const cookie = `${LANGUAGE_COOKIE}=${chosen}; Path=/; Max-Age=${YEAR_SECONDS}; SameSite=Lax`;
      return redirect(path, cookie);
    }
    const language = chooseLanguage(request.headers, languages);
    const isSignedIn = readCookie(request.headers, SESSION_COOKIES.customer) !== undefined;
    const { bytes, etag } = pageOf(path, language, isSignedIn);
    const isFound = path !== 'elsewhere';
    const sent = {
      ...headers(),
      'cache-control': isFound ? 'private, no-cache' : 'no-store',
      'content-language': language,
      ...(isFound ? { etag } : {}),
      vary: 'accept, accept-language, cookie',
    };
    if (isFound && isUnchanged(request.headers, etag)) {
      return new Response(null, { status: 304, headers: sent });
    }
    return new Response(bytes, {
      status: isFound ? 200 : 404,
      headers: {
        ...sent,
        'content-type': 'text/html; charset=utf-8',
        'content-length': String(bytes.byteLength),
      },
    });
  };
}

function notFoundPage(context: PublicContext): PublicPage {
  const { t, service } = context;
  const title = t('Page not found');
  const home = service.public.landing ? '/' : '/dashboard';
  return {
    title,
    description: title,
    path: '/',
    content: `<section class="public-hero">
<div class="stack">
<h1>${html(title)}</h1>
<p class="lead">${html(t('There is no page at this address. Check it, or go to the start page.'))}</p>
<div class="row"><a class="button large" href="${home}">${html(t('Go to the start page'))}</a></div>
</div>
</section>`,
  };
}

/** More models are a link away. */
const SHOWN_MODELS_MAX = 8;

function landingPage(context: PublicContext, models: readonly ModelRecord[]): PublicPage {
  const { t, service, offersResponses } = context;
  const { name } = service;
  const lead = t(
    'Use {name} from any client library for chat completions{responses, select, true {, Responses} other {}} or Messages: change the base URL and the key.',
    { name, responses: String(offersResponses) },
  );
  const docs = service.public.docs
    ? `<a class="button large" href="/docs">${html(t('Read the docs'))}</a>`
    : '';
  return {
    description: service.tagline ?? lead,
    path: '/',
    content: `<section class="public-hero">
<div class="stack">
<h1>${html(service.tagline ?? t('Text generation by API, billed by the token'))}</h1>
<p class="lead">${html(lead)}</p>
<div class="row">${[...entrances(context, 'button large'), docs].join('\n')}</div>
</div>
${firstRequest(context, models[0]?.id)}
</section>
<section class="public-part">
<div class="public-cards">${cards(context).join('\n')}</div>
</section>
${service.public.models ? modelsPart(context, models) : ''}`,
  };
}

function firstRequest({ t, baseUrl }: PublicContext, model: string | undefined): string {
  if (model === undefined) return '';
  const lines = [
    `curl ${baseUrl}/v1/chat/completions \\`,
    '  -H "authorization: Bearer $API_KEY" \\',
    '  -H "content-type: application/json" \\',
    "  -d '{",
    `    "model": "${model}",`,
    '    "messages": [{ "role": "user", "content": "Hello!" }]',
    "  }'",
  ];
  const label = html(t('A first request'));
  return `<figure class="card public-code"><figcaption>${label}</figcaption>
<pre tabindex="0" role="region" aria-label="${label}"><code>${html(lines.join('\n'))}</code></pre></figure>`;
}

function cards({ t, offersResponses }: PublicContext): string[] {
  const texts = [
    [
      t('Works with your tools'),
      t(
        'Chat completions{responses, select, true {, Responses} other {}} and Messages, streamed or whole, with tools, images and reasoning where the model has them.',
        { responses: String(offersResponses) },
      ),
    ],
    [
      t('Pay for what you use'),
      t('Each answer says how many tokens it used and what they cost. The price list is public.'),
    ],
    [
      t('Bills you can check'),
      t('Each charge has a receipt. Download them and verify your balance to the last digit.'),
    ],
  ] as const;
  return texts.map(
    ([title, text]) => `<div class="card"><h2>${html(title)}</h2><p>${html(text)}</p></div>`,
  );
}

function modelsPart(context: PublicContext, models: readonly ModelRecord[]): string {
  const { t } = context;
  const count = models.length;
  const all = t('See all {count, number} models', { count });
  const more = count > SHOWN_MODELS_MAX ? `\n<p><a href="/models">${html(all)}</a></p>` : '';
  return `<section class="public-part">
<div><h2>${html(t('Models and prices'))}</h2>
<p class="soft">${html(priceNote(context))}</p></div>
${modelTable(context, models.slice(0, SHOWN_MODELS_MAX), false)}${more}
</section>`;
}
