// The documentation as data: what a build keeps of each Markdown page, and where its parts are served.

import type { ModelFeature } from '../core/model.ts';

/** Who a page is for. Customers and operators read on listeners of their own. */
export type DocPart = 'customers' | 'operators';

export type DocPage = {
  readonly part: DocPart;
  /** The name of its file, and the end of its address; `README` for the index of a part. */
  readonly topic: string;
  /** What `tollgate docs` calls it: its topic, or the name of the part for an index. */
  readonly name: string;
  readonly title: string;
  /** The first paragraph, as plain text. */
  readonly summary: string;
  readonly markdown: string;
  /** What its examples need of a model. */
  readonly features: readonly ModelFeature[];
  readonly html: string;
  /** In the order of the page; the first one has no heading of its own. */
  readonly sections: readonly DocSection[];
};

export type DocSection = {
  /** Empty for the beginning of a page. */
  readonly anchor: string;
  readonly heading: string;
  /** Without markup. */
  readonly text: string;
};

/** What the operator calls the service, with paths of the logo and the colours. */
export type DocFace = {
  readonly name: string;
  readonly icon: string | undefined;
  readonly colours: string | undefined;
};

/** The name in the pages, which a server replaces by that of its service. */
export const EXAMPLE_NAME = 'Tollgate';

export type Docs = {
  /** In the order in which the index of each part links to them, the index first. */
  readonly pages: readonly DocPage[];
  readonly style: string;
  /** Copies code and switches languages; the pages are complete without it. */
  readonly script: string;
  /** The icon, as SVG. */
  readonly icon: string;
};

export const INDEX_TOPIC = 'README';

/** Where the pages of a part are served. */
export const DOC_PREFIXES: Readonly<Record<DocPart, string>> = {
  customers: '/docs',
  operators: '/operator/docs',
};

/** The address that examples use; a server shows its own public address in its place. */
export const EXAMPLE_URL = 'http://127.0.0.1:3000';

export function docPath(part: DocPart, topic: string): string {
  return topic === INDEX_TOPIC ? DOC_PREFIXES[part] : `${DOC_PREFIXES[part]}/${topic}`;
}
