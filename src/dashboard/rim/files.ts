// The files that pages are made of, as the executable carries them.

export type PageFiles = {
  /** The one page that begins every visit. */
  readonly page: (
    request: Request,
    headers: Readonly<Record<string, string>>,
  ) => Response | Promise<Response>;
  /** A file below `assets/`, or the page for every other path. */
  readonly serve: (
    request: Request,
    headers: Readonly<Record<string, string>>,
  ) => Response | Promise<Response>;
};

export function createPageFiles(_application: 'customer' | 'operator'): PageFiles {
  const page: PageFiles['page'] = (_request, headers) => new Response('', { headers });
  return { page, serve: page };
}
