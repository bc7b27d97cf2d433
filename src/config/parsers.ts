// Parsers of single settings: each returns a value or a problem. Problem texts never contain the
// value, which may be a secret.

import { isIP } from 'node:net';
import { BASE_URL_EXPECTS, readBaseUrl } from '../core/base-url.ts';
import { AMOUNT_MAX, MICRO_DECIMALS, type Micro, micro, parseDecimal } from '../core/money.ts';
import { readPostgresUrl } from '../core/postgres-url.ts';
import { type RedisTarget, readRedisUrl } from '../core/redis-url.ts';

export type Parser<T> = (text: string) => { readonly value: T } | { readonly problem: string };

/** A row of the settings. */
export type Setting = {
  readonly name: string;
  /** Parsed like a configured value. Without it, an unset variable is `undefined`. */
  readonly fallback?: string;
  readonly parse: Parser<unknown>;
  /** One line. */
  readonly about: string;
};

export const accept: Parser<string> = (text) => ({ value: text });

export function oneOf<const T extends string>(allowed: readonly T[]): Parser<T> {
  return (text) => {
    const value = allowed.find((candidate) => candidate === text);
    return value === undefined ? { problem: `must be one of ${allowed.join(', ')}.` } : { value };
  };
}

export function wholeNumber(minimum: number, maximum: number): Parser<number> {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return { value };
    return { problem: `must be a whole number from ${minimum} to ${maximum}.` };
  };
}

function orOff<T>(parser: Parser<T>, expects: string): Parser<T | 'off'> {
  return (text) => {
    if (text === 'off') return { value: 'off' };
    const read = parser(text);
    return 'value' in read ? read : { problem: `must be ${expects}, or off.` };
  };
}

export const portOrOff = orOff(wholeNumber(0, 65_535), 'a port from 0 to 65535');

/** Whole days. */
export const daysOrOff = (minimum: number, maximum: number): Parser<number | 'off'> =>
  orOff(wholeNumber(minimum, maximum), `a whole number of days from ${minimum} to ${maximum}`);

export const timesOrOff = (minimum: number, maximum: number): Parser<number | 'off'> =>
  orOff(wholeNumber(minimum, maximum), `a whole number from ${minimum} to ${maximum}`);

/** A time with decimals, in this unit, converted to milliseconds. */
function time(unit: string, unitMs: number) {
  return (minimum: number, maximum: number): Parser<number> =>
    (text) => {
      const value = /^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
      if (value >= minimum && value <= maximum) return { value: Math.round(value * unitMs) };
      return { problem: `must be a number of ${unit} from ${minimum} to ${maximum}.` };
    };
}

export const seconds = time('seconds', 1_000);

export const hours = time('hours', 3_600_000);

export const host: Parser<string> = (text) =>
  isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,252})$/.test(text)
    ? { value: text }
    : { problem: 'must be an IP address or a host name, without a port.' };

export const baseUrl: Parser<string> = (text) => {
  const value = readBaseUrl(text);
  if (value === undefined) return { problem: `must be ${BASE_URL_EXPECTS}.` };
  if (value.endsWith('/v1')) return { problem: 'must not end in /v1: clients add it themselves.' };
  return { value };
};

/** The base of an OpenTelemetry collector's paths. */
export const collectorUrl: Parser<string> = (text) => {
  const value = readBaseUrl(text);
  if (value === undefined) return { problem: `must be ${BASE_URL_EXPECTS}.` };
  if (value.endsWith('/v1/traces')) return { problem: 'must not end in /v1/traces: it is added.' };
  return { value };
};

/**
 * Whether a list of propagators has `tracecontext`. Programs that share their environment set others
 * too, such as the default `tracecontext,baggage`; the server has nothing to put into those.
 */
export const propagators: Parser<boolean> = (text) => {
  const names = text.split(',').map((name) => name.trim());
  const isList = names.every((name) => /^[a-z0-9]+$/.test(name));
  const isNoneAlone = names.length === 1 || !names.includes('none');
  return isList && isNoneAlone
    ? { value: names.includes('tracecontext') }
    : { problem: 'must be names split by commas, such as tracecontext,baggage, or none.' };
};

/** Unlike a base URL it may have a query, where some services expect a token. */
export const webhookUrl: Parser<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.hash === '';
  if (isPlain && /^https?:$/.test(url.protocol)) return { value: url.href };
  return { problem: 'must be an http or https address without a user or fragment.' };
};

/** May contain user and password. Query options are refused, because timeouts are fixed here. */
export const smtpUrl: Parser<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.search === '' && url.hash === '' && /^\/?$/.test(url.pathname);
  if (isPlain && url.hostname !== '' && /^smtps?:$/.test(url.protocol)) return { value: text };
  return { problem: 'must be smtp:// or smtps:// and a host, such as smtps://user:password@host.' };
};

/** An address, or a name and an address in angle brackets. */
export const mailFrom: Parser<string> = (text) =>
  /^(?:[^<>\p{Cc}]*<[^<>\s@]+@[^<>\s@]+>|[^<>\s@]+@[^<>\s@]+)$/u.test(text)
    ? { value: text }
    : { problem: 'must be an address, such as Gateway <gateway@example.com>.' };

/** `sqlite:PATH` for a SQLite file, or a PostgreSQL URL, which is kept as it is. */
export const databaseUrl: Parser<string> = (text) => {
  if (/^postgres(ql)?:/i.test(text)) {
    const read = readPostgresUrl(text);
    return 'problem' in read ? read : { value: text };
  }
  const path = /^sqlite:(?:\/\/)?([^?#]+)$/i.exec(text)?.[1];
  if (path === undefined || path.endsWith('/') || path === ':memory:') {
    return {
      problem:
        'must be sqlite: and the path of a file, such as sqlite:./data/tollgate.db, or the URL of a PostgreSQL database, such as postgres://user:password@host/tollgate.',
    };
  }
  return { value: `sqlite:${path}` };
};

export const redisUrl: Parser<RedisTarget> = readRedisUrl;

/** A positive amount of service tokens. */
export const amount: Parser<Micro> = (text) => {
  const value = parseDecimal(text, MICRO_DECIMALS);
  return value !== undefined && value > 0n && value <= AMOUNT_MAX
    ? { value: micro(value) }
    : { problem: 'must be a positive number of service tokens, such as 1000000.' };
};

export const secret: Parser<string> = (text) =>
  text.length >= 32 ? { value: text } : { problem: 'must have at least 32 characters.' };

/** A secret that is sent in a header unchanged. */
export const token: Parser<string> = (text) =>
  /^[\x21-\x7e]{32,}$/.test(text)
    ? { value: text }
    : { problem: 'must have at least 32 characters: letters, digits and signs without spaces.' };

export const networks: Parser<readonly string[]> = (text) => {
  const entries = text.split(',').map((entry) => entry.trim());
  const value = Object.freeze(entries.filter((entry) => entry !== ''));
  const bad = entries.findIndex((entry) => entry !== '' && !isNetwork(entry));
  if (bad === -1) return { value };
  return {
    problem: `entry ${bad + 1} must be an IP address or a CIDR range such as 10.0.0.0/8.`,
  };
};

function isNetwork(entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0 || address.includes('%')) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
}

/** `name=value` split by commas; spaces around both are ignored, and values are percent-encoded. */
export const pairs: Parser<Readonly<Record<string, string>>> = (text) => {
  const value: Record<string, string> = {};
  const entries = text.split(',').map((entry) => entry.trim());
  for (const [index, entry] of entries.entries()) {
    if (entry === '') continue;
    const [, name, encoded] = /^([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x20-\x7e]*)$/.exec(entry) ?? [];
    const decoded = encoded === undefined ? undefined : decodePercent(encoded);
    if (name === undefined || decoded === undefined || /\p{Cc}/u.test(decoded)) {
      return { problem: `entry ${index + 1} must be name=value, with a percent-encoded value.` };
    }
    value[name] = decoded;
  }
  return { value: Object.freeze(value) };
};

function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

export const ratio: Parser<number> = (text) =>
  /^(?:0(?:\.\d{1,9})?|\.\d{1,9}|1(?:\.0{1,9})?)$/.test(text)
    ? { value: Number(text) }
    : { problem: 'must be a number from 0 to 1, such as 0.1.' };
