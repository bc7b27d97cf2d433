// The operator's logo and colours as files of an application, and the service as the pages read it.
// File names contain a hash of the content, so browsers keep them for good.

import { accentTokens } from '../../core/colour.ts';
import type { Service } from '../../core/service.ts';
import type { Realm } from '../../identity/signed-in.ts';

/** Where the build leaves room in a page for `serviceHead`. */
export const SERVICE_MARK = '<!-- service -->';

const PREFIXES: Readonly<Record<Realm, string>> = {
  customer: '/dashboard',
  operator: '/operator',
};

export type ServiceFiles = ReturnType<typeof createServiceFiles>;

type ServiceFile = {
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
};

/** An SVG that is opened by itself may contain scripts: it gets an origin of its own and runs none. */
const LOGO_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

export function createServiceFiles(service: Service, app: Realm) {
  const { logo } = service;
  const style = styleOf(service);
  const styleName = style === undefined ? undefined : `colours-${Bun.hash(style).toString(36)}.css`;
  const pathOf = (name: string) => `${PREFIXES[app]}/service/${name}`;
  return {
    record: serviceRecord(service, logo === undefined ? null : pathOf(logo.name)),
    /** The path of a style sheet with the operator's colours. */
    colours: styleName === undefined ? undefined : pathOf(styleName),
    /** The file of this name below `service/`. */
    read(name: string): ServiceFile | undefined {
      if (style !== undefined && name === styleName) {
        return { body: style, headers: { 'content-type': 'text/css; charset=utf-8' } };
      }
      if (logo === undefined || name !== logo.name) return undefined;
      const headers = { 'content-type': logo.type, 'content-security-policy': LOGO_POLICY };
      return { body: logo.bytes, headers };
    },
  };
}

/** Title, icon, colours, and the service as JSON, which a browser reads and does not run. */
export function serviceHead({ record, colours }: ServiceFiles, icon: string): string {
  const json = JSON.stringify(record).replaceAll('<', '\\u003c');
  return [
    `<title>${Bun.escapeHTML(record.name)}</title>`,
    `<link rel="icon" href="${record.logo ?? icon}">`,
    ...(colours === undefined ? [] : [`<link rel="stylesheet" href="${colours}">`]),
    `<script type="application/json" id="service">${json}</script>`,
  ].join('\n');
}

function styleOf({ accent }: Service): string | undefined {
  if (accent === undefined) return undefined;
  const lines = Object.entries(accentTokens(accent)).map(
    ([name, { light, dark }]) => `--${name}:light-dark(${light},${dark})`,
  );
  return `:root{${lines.join(';')}}\n`;
}

/** `logo` is the path of the logo; null for the built-in one. */
export function serviceRecord(service: Service, logo: string | null) {
  const { name, currency, languages, isPublic } = service;
  return {
    object: 'service',
    name,
    logo,
    tagline: service.tagline ?? null,
    /** Whether the operator has a checkout, whose address is made for each top-up. */
    top_up: service.topUpUrl !== undefined,
    support_url: service.supportUrl ?? null,
    support_email: service.supportEmail ?? null,
    terms_url: service.termsUrl ?? null,
    privacy_url: service.privacyUrl ?? null,
    status_url: service.statusUrl ?? null,
    /** The ISO 4217 code, and the units of it for one USD, as a decimal. */
    currency: { code: currency.code, per_usd: currency.perUsd },
    /** What the language menu offers. */
    languages,
    /** What strangers may read. */
    public: isPublic,
  } as const;
}
