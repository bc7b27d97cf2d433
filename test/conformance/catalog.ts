// The catalog behind the recorded cases: one model and one upstream for each set of catalog lines
// that a case asks for, all of them over the one scripted upstream.

import { LARGE_PLAN, UPSTREAM_KEY } from '../support/catalog.ts';
import type { Upstream } from '../support/upstream.ts';
import type { Sections } from './sections.ts';

export type RecordedCatalog = {
  readonly text: string;
  /** The model that serves a case with these sections. */
  readonly modelFor: (given: Sections) => string;
};

export function recordedCatalog(upstream: Upstream, cases: readonly Sections[]): RecordedCatalog {
  const variants = [...new Set(cases.map(variantOf))];
  return {
    text: [
      planSection(),
      // The stand-in has a private address, to which image addresses are not passed on otherwise.
      '[profile.chat-with-addresses]\nbase = "chat"\nimage_urls = "any"\n',
      '[profile.messages-with-addresses]\nbase = "messages"\nimage_urls = "any"\n',
      remote(upstream, 'spare', ''),
      model('spare', 'spare', 'ok', ''),
      ...variants.map((variant, index) => {
        const [upstreamLines = '', modelLines = ''] = variant.split(SEPARATOR);
        const slug = slugOf(index);
        return remote(upstream, slug, upstreamLines) + model(slug, slug, 'golden', modelLines);
      }),
    ].join('\n'),
    modelFor: (given) => slugOf(variants.indexOf(variantOf(given))),
  };
}

const SEPARATOR = '\n===\n';

function variantOf(given: Sections): string {
  return (given.get('upstream') ?? '') + SEPARATOR + (given.get('model') ?? '');
}

function slugOf(index: number): string {
  return `variant-${index}-of-the-model`;
}

/**
 * `lines` may set any key, the dialect and the profile among them, and add tables behind. It is asked
 * even if it fails: no case may cost the others their turn.
 */
function remote(upstream: Upstream, id: string, lines: string): string {
  const isMessages = /^dialect *= *"messages"/m.test(lines);
  const [own, tables] = splitTables(lines);
  return `${tables}
[[upstream]]
id = "${id}"
base_url = "${isMessages ? upstream.messagesBaseUrl : upstream.baseUrl}"
api_key = "${UPSTREAM_KEY}"
cool_down_seconds = 0
${/^dialect\b/m.test(lines) ? '' : 'dialect = "chat"'}
${/^profile\b/m.test(lines) ? '' : `profile = "${isMessages ? 'messages' : 'chat'}-with-addresses"`}
${own}`;
}

/** `lines` may replace any key but slug, price and placement. */
function model(slug: string, upstreamId: string, upstreamModel: string, lines: string): string {
  const given = new Set(lines.split('\n').map((line) => line.split('=')[0]?.trim()));
  const defaults = Object.entries(MODEL_DEFAULTS).filter(([key]) => !given.has(key));
  return `
[[model]]
slug = "${slug}"
price = { input = "1", cached_input = "0.1", output = "2" }
served_by = [{ upstream = "${upstreamId}", model = "${upstreamModel}" }]
${defaults.map(([key, value]) => `${key} = ${value}`).join('\n')}
${lines}`;
}

const MODEL_DEFAULTS = {
  context_window: '128000',
  max_output: '8192',
  features: '["tools", "json", "vision", "reasoning"]',
};

function planSection(): string {
  const lines = Object.entries(LARGE_PLAN).map(([key, value]) => `${key} = ${String(value)}`);
  return `[plan.large]\n${lines.join('\n')}\n`;
}

/** The keys of the upstream itself, and the tables (a profile of its own) that follow them. */
function splitTables(lines: string): [own: string, tables: string] {
  const start = lines.search(/^\[/m);
  return start === -1 ? [lines, ''] : [lines.slice(0, start), lines.slice(start)];
}
