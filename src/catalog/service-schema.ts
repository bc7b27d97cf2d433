// The schema of [service]. Part of schema.ts; rules across several values are in service.ts.

import { type Static, Type } from '@sinclair/typebox';
import { say } from '../core/sentence.ts';
import { LANGUAGES } from '../core/service.ts';
import { closed, decimal, flag, label, line, listOf, oneOf, text } from './shapes.ts';

const LOGO_EXPECTS = say(
  'the name of an SVG, PNG or WebP file in the folder of the catalog, such as {example}',
  { example: '"logo.svg"' },
);

const colour = () =>
  text(say('a colour such as {example}', { example: '"#0d5c75"' }), {
    pattern: '^#[0-9a-fA-F]{6}$',
  });
const address = () => Type.Optional(line(say('an http or https address'), 2_048));

export const ServiceSchema = closed({
  name: Type.Optional(label(128)),
  usd_per_million: Type.Optional(decimal(6, '1.00', true)),
  minimum_hold: Type.Optional(decimal(6, '1')),
  tagline: Type.Optional(label(200)),
  logo: Type.Optional(
    text(LOGO_EXPECTS, {
      maxLength: 255,
      pattern: '^(?:[\\w-][\\w .-]*/)*[\\w-][\\w .-]*\\.(?:svg|png|webp)$',
    }),
  ),
  accent: Type.Optional(
    closed({ light: colour(), dark: colour() }, say('a table with the colours light and dark')),
  ),
  top_up_url: address(),
  support_url: address(),
  support_email: Type.Optional(
    text(say('an e-mail address'), { maxLength: 254, pattern: '^[^\\s@<>"?&%]+@[^\\s@<>"?&%]+$' }),
  ),
  terms_url: address(),
  privacy_url: address(),
  status_url: address(),
  currency: Type.Optional(
    closed(
      {
        code: text(say('a code of ISO 4217 such as {example}', { example: '"EUR"' }), {
          pattern: '^[A-Z]{3}$',
        }),
        per_usd: Type.Optional(decimal(6, '0.92', true)),
      },
      say('a table with a code and per_usd'),
    ),
  ),
  languages: Type.Optional(
    listOf(oneOf(...LANGUAGES), say('a list of at least one language, without duplicates'), {
      minItems: 1,
      uniqueItems: true,
    }),
  ),
  public: Type.Optional(
    closed({
      landing: Type.Optional(flag()),
      models: Type.Optional(flag()),
      docs: Type.Optional(flag()),
    }),
  ),
});

export type ServiceEntry = Static<typeof ServiceSchema>;
