// Loads the documentation. From source it is rendered here and now; scripts/build.ts puts another file
// in the place of this one, which reads what the build has rendered. It must hold nothing else.

import type { Docs } from './page.ts';

export async function loadDocs(): Promise<Docs> {
  const { renderDocs } = await import('./render.ts');
  return renderDocs();
}
