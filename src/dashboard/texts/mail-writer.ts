// Writes mails in the language that a page of the same request has. Loads the catalogues at the
// first mail.

import { isoTime } from '../../core/calendar.ts';
import type { Language, Service } from '../../core/service.ts';
import type { MailLanguage, WriteMail } from '../../identity/sign-in/mails.ts';
import { chooseLanguage } from './language.ts';
import { type Catalogue, LOCALES, translate } from './translate.ts';

export function createMailWriter(options: {
  readonly service: () => Service;
  /** Mails that are only logged are in English, as logs are. */
  readonly isLogged: boolean;
}): WriteMail {
  let opened: Promise<Readonly<Record<Language, Catalogue>>> | undefined;
  return async (letter, headers = new Headers()) => {
    opened ??= import('../edge/load.ts').then(({ loadCatalogues }) => loadCatalogues());
    const catalogues = await opened;
    const service = options.service();
    const language = options.isLogged ? 'en' : chooseLanguage(headers, service.languages);
    return letter(mailLanguage(catalogues[language]), service);
  };
}

/** English has ISO 8601 for times. */
export function mailLanguage(catalogue: Catalogue): MailLanguage {
  const locale = LOCALES[catalogue.language];
  const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 });
  const moment = (atMs: number, timeStyle?: 'short') =>
    new Date(atMs).toLocaleString(locale, { dateStyle: 'medium', timeStyle, timeZone: 'UTC' });
  const isEnglish = catalogue.language === 'en';
  return {
    t: (message, values) => translate(catalogue, message, values),
    amount: (decimal) => numbers.format(decimal as Intl.StringNumericLiteral),
    date: (atMs) => (isEnglish ? isoTime(atMs).slice(0, 10) : moment(atMs)),
    dateTime: (atMs) =>
      isEnglish ? isoTime(atMs).slice(0, 16).replace('T', ' ') : moment(atMs, 'short'),
  };
}
