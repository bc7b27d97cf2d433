// Starts threads beside requests. The runtime ends the process where a new thread finds no file
// descriptor, and clients may have taken nearly all of them: then no thread starts.

import { hasDescriptorsToSpare, ownDescriptors } from '../upstream/descriptors.ts';

/** Read here, because reading the limit takes a descriptor itself. */
const OWN = ownDescriptors();

/** `href` is an entry point of the build. Throws where file descriptors are scarce. */
export function startThread(href: string): Worker {
  if (hasDescriptorsToSpare(OWN)) return new Worker(href);
  throw new Error(
    'nearly all file descriptors are in use. Close connections, or raise the limit (ulimit -n)',
  );
}
