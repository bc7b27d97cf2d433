// What the operator calls the service and shows of it: name, logo, colours, links, currency,
// languages, and which pages strangers may read.

/** The languages that the pages exist in; the first one is the language of the source. */
export const LANGUAGES = ['en', 'de', 'zh'] as const;

export type Language = (typeof LANGUAGES)[number];

export type LogoType = 'image/svg+xml' | 'image/png' | 'image/webp';

export type Logo = {
  /** Where it was read. */
  readonly path: string;
  /** The name below which it is served; it changes with the content. */
  readonly name: string;
  readonly type: LogoType;
  readonly bytes: Uint8Array<ArrayBuffer>;
};

/** Colours as `#rrggbb`. */
export type Accent = { readonly light: string; readonly dark: string };

/** The currency of the pages. The books are in service tokens, whose price is in USD. */
export type Currency = {
  /** ISO 4217. */
  readonly code: string;
  /** Units of it for one USD, as a decimal; only for display. */
  readonly perUsd: string;
};

export type Service = {
  readonly name: string;
  readonly tagline?: string;
  readonly logo?: Logo;
  readonly accent?: Accent;
  /** The operator's checkout, where customers add balance. */
  readonly topUpUrl?: string;
  readonly supportUrl?: string;
  readonly supportEmail?: string;
  readonly termsUrl?: string;
  readonly privacyUrl?: string;
  readonly statusUrl?: string;
  readonly currency: Currency;
  /** At least one; the first one is used where the browser asks for none of them. */
  readonly languages: readonly Language[];
  /** What can be read without a session. */
  readonly isPublic: {
    readonly landing: boolean;
    readonly models: boolean;
    readonly docs: boolean;
  };
};

export const DEFAULT_SERVICE: Service = {
  name: 'Tollgate',
  currency: { code: 'USD', perUsd: '1' },
  languages: LANGUAGES,
  isPublic: { landing: true, models: true, docs: true },
};
