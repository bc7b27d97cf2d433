// The operator's service, which each HTML page contains as JSON: name, logo, links, currency.

import type { ServiceRecord } from '../../dashboard/records/service.ts';

/** Outside a page, where tests import these modules. */
const NONE: ServiceRecord = {
  object: 'service',
  name: '',
  tagline: null,
  logo: null,
  top_up: false,
  support_url: null,
  support_email: null,
  terms_url: null,
  privacy_url: null,
  status_url: null,
  currency: { code: 'USD', per_usd: '1' },
  languages: [],
  public: { landing: true, models: true, docs: true },
};

const json = globalThis.document?.getElementById('service')?.textContent;

export const service: ServiceRecord = json ? JSON.parse(json) : NONE;
