// The [service] table of a catalog: the rules across its keys, and the service of the snapshot. The
// caller reads the logo, because parsing a catalog does no I/O.

import { accentContrast, CONTRAST_MIN } from '../core/colour.ts';
import { formatDecimal, MICRO_DECIMALS, parseDecimal } from '../core/money.ts';
import { say } from '../core/sentence.ts';
import { type Accent, DEFAULT_SERVICE, type Logo, type Service } from '../core/service.ts';
import { memberOf, sound } from './document.ts';
import { missing, type Problem } from './schema.ts';
import { type ServiceEntry, ServiceSchema } from './service-schema.ts';

/** All broken rules of the table in a document of any shape. */
export function serviceProblems(document: unknown): Problem[] {
  const service = sound(ServiceSchema, memberOf(document, 'service') ?? {});
  return [
    ...LINKS.flatMap((key) => linkProblems(service[key], `service.${key}`)),
    ...accentProblems(service.accent),
    ...currencyProblems(service.currency),
  ];
}

const LINKS = ['top_up_url', 'support_url', 'terms_url', 'privacy_url', 'status_url'] as const;

function linkProblems(text: string | undefined, path: string): Problem[] {
  if (text === undefined) return [];
  const url = URL.parse(text);
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (isWeb && url.username === '' && url.password === '') return [];
  return [{ path, text: say('must be an http or https address without a user') }];
}

function accentProblems(accent: Accent | undefined): Problem[] {
  if (accent === undefined) return [];
  return (['light', 'dark'] as const).flatMap((theme) => {
    const found = accentContrast(accent[theme], theme);
    if (found >= CONTRAST_MIN) return [];
    const values = { found, least: CONTRAST_MIN };
    const text =
      theme === 'light'
        ? say(
            'must be a darker colour: links in it have a contrast of {found} on light pages, and WCAG AA requires {least}',
            values,
          )
        : say(
            'must be a lighter colour: links in it have a contrast of {found} on dark pages, and WCAG AA requires {least}',
            values,
          );
    return [{ path: `service.accent.${theme}`, text }];
  });
}

function currencyProblems(currency: ServiceEntry['currency']): Problem[] {
  if (currency === undefined) return [];
  const { code, per_usd: perUsd } = currency;
  if (!Intl.supportedValuesOf('currency').includes(code)) {
    return [{ path: 'service.currency.code', text: say('is not a currency of ISO 4217') }];
  }
  const path = 'service.currency.per_usd';
  if (code === 'USD' && perUsd !== undefined && normal(perUsd) !== '1') {
    return [{ path, text: say('must be "1" for USD; remove it') }];
  }
  if (code === 'USD' || perUsd !== undefined) return [];
  return [{ path, text: missing(say('what one USD costs in this currency')) }];
}

/** `readLogo` throws `CatalogError` for a file that cannot be shown. */
export function toService(
  entry: ServiceEntry,
  readLogo: (file: string) => Logo | undefined,
): Service {
  const { currency = DEFAULT_SERVICE.currency } = entry;
  const logo = entry.logo === undefined ? undefined : readLogo(entry.logo);
  return {
    name: entry.name ?? DEFAULT_SERVICE.name,
    ...definite({
      tagline: entry.tagline,
      logo,
      accent: entry.accent,
      topUpUrl: entry.top_up_url,
      supportUrl: entry.support_url,
      supportEmail: entry.support_email,
      termsUrl: entry.terms_url,
      privacyUrl: entry.privacy_url,
      statusUrl: entry.status_url,
    }),
    currency: {
      code: currency.code,
      perUsd: normal('per_usd' in currency ? (currency.per_usd ?? 1) : 1),
    },
    languages: entry.languages ?? DEFAULT_SERVICE.languages,
    isPublic: { ...DEFAULT_SERVICE.isPublic, ...entry.public },
  };
}

function normal(value: string | number): string {
  return formatDecimal(parseDecimal(String(value), MICRO_DECIMALS) ?? 1n, MICRO_DECIMALS);
}

type Definite<T> = { readonly [Key in keyof T]?: NonNullable<T[Key]> };

/** The members that have a value. */
function definite<T extends object>(values: T): Definite<T> {
  const members = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members) as Definite<T>;
}
