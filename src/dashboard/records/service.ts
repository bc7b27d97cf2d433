// The operator's service as the pages show it. Each HTML page contains it as JSON.

import type { Currency, Service } from '../../core/service.ts';

export type ServiceRecord = {
  readonly object: 'service';
  readonly name: string;
  readonly tagline: string | null;
  /** The path of the logo; null for the built-in one. */
  readonly logo: string | null;
  readonly support_url: string | null;
  readonly support_email: string | null;
  readonly terms_url: string | null;
  readonly privacy_url: string | null;
  readonly status_url: string | null;
  readonly currency: {
    /** ISO 4217. */
    readonly code: Currency['code'];
    /** Units of it for one USD, as a decimal. */
    readonly per_usd: Currency['perUsd'];
  };
  /** What the language menu offers. */
  readonly languages: Service['languages'];
  /** What strangers may read. */
  readonly public: Service['isPublic'];
};
