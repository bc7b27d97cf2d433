// The landing page: what the service is, a first request, models and prices, and where to begin.

import type { ModelRecord } from '../records/model.ts';
import { entrances, html, type PublicContext, type PublicPage } from './frame.ts';
import { modelTable, priceNote } from './models.ts';

/** More models are a link away. */
const SHOWN_MODELS_MAX = 8;

export function landingPage(context: PublicContext, models: readonly ModelRecord[]): PublicPage {
  const { t, service } = context;
  const { name } = service;
  const lead = t(
    'Use {name} from any client library for chat completions or Messages: change the base URL and the key.',
    { name },
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

function cards({ t }: PublicContext): string[] {
  const texts = [
    [
      t('Works with your tools'),
      t(
        'Chat completions and Messages, streamed or whole, with tools, images and reasoning where the model has them.',
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
  const all = t('{count, plural, one {See the model} other {See all # models}}', { count });
  return `<section class="public-part">
<div><h2>${html(t('Models and prices'))}</h2>
<p class="soft">${html(priceNote(context))}</p></div>
${modelTable(context, models.slice(0, SHOWN_MODELS_MAX), false)}
<p><a href="/models">${html(all)}</a></p>
</section>`;
}
