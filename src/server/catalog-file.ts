// The catalog file of a running server and the .env file with its secrets: where they are, and how
// they are read again. In a cluster the text may be one that another node has published. Settings
// that are read at the start alone are named when they differ.

import { type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type LoadedCatalog, loadFound } from '../catalog/live.ts';
import { CatalogError, type FoundCatalog, findCatalog } from '../catalog/source.ts';
import { ConfigError } from '../config/read.ts';
import { VARIABLES } from '../config/settings.ts';
import type { LoadedEnvironment } from './environment.ts';
import type { Inputs } from './inputs.ts';

export type CatalogFile = {
  /** All that decides what `read` returns. */
  readonly paths: readonly string[];
  /** Throws `CatalogError`, also for a mistake in the .env file. */
  readonly read: () => LoadedCatalog;
  /** What was read last without a mistake in it. */
  readonly latest: () => FoundCatalog;
  /** The text as it is now, with the secrets of now, unread. Throws `CatalogError`. */
  readonly find: () => FoundCatalog;
  /**
   * What is read from now on is this text, which was published to all nodes, until the file says
   * another; what it may say already is found by the read after the next one.
   */
  readonly follow: (text: string) => void;
  /** What is read next is the file, although it says nothing new. */
  readonly insist: () => void;
  /** Whether another text is followed than what the file says. */
  readonly isOutdated: () => boolean;
  /** The settings that the .env file has changed since the start; they need a restart. */
  readonly changedSettings: () => readonly string[];
};

export function createCatalogFile(inputs: Inputs): CatalogFile {
  const { directory, environmentPath } = inputs;
  const { catalogPath } = inputs.config();
  const atStart = inputs.environment().variables;
  let latest = inputs.foundCatalog();
  const file = resolve(directory, catalogPath ?? 'catalog.toml');
  /** What the file itself said when it was taken up, or passed over, last. */
  let own: FoundCatalog = latest;
  let followed: string | undefined;
  let isFollowedAnew = false;

  function find(): FoundCatalog {
    // A pipe can be read once; a server that read it again would wait for ever.
    if (!(statOf(file)?.isFile() ?? true)) throw notAgain(file);
    if (statOf(environmentPath)?.isFIFO() === true) throw notAgain(environmentPath);
    const { variables } = environmentNow(inputs);
    return findCatalog({ path: catalogPath, environment: variables, directory });
  }

  return {
    paths: [file, environmentPath],
    find,
    latest: () => latest,
    read() {
      const now = find();
      const isAnew = isFollowedAnew;
      isFollowedAnew = false;
      const text = isAnew || now.text === own.text ? followed : undefined;
      const found: FoundCatalog =
        text === undefined ? now : { ...now, origin: 'file', path: file, text };
      const loaded = loadFound(found, inputs.clock());
      if (!isAnew) own = now;
      followed = text;
      latest = found;
      return loaded;
    },
    follow(text) {
      followed = text;
      isFollowedAnew = true;
    },
    insist() {
      followed = undefined;
    },
    isOutdated: () => followed !== undefined && own.origin === 'file' && followed !== own.text,
    changedSettings: () =>
      VARIABLES.map(({ name }) => name).filter(
        (name) => (atStart[name]?.trim() ?? '') !== (latest.environment[name]?.trim() ?? ''),
      ),
  };
}

/** Absent where there is nothing, and where a look fails: to read it fails too then, and says why. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function notAgain(path: string): CatalogError {
  return new CatalogError([
    `${path} is not a file, so it cannot be read again. Restart the server.`,
  ]);
}

function environmentNow(inputs: Inputs): LoadedEnvironment {
  try {
    return inputs.readEnvironment();
  } catch (error) {
    if (error instanceof ConfigError) throw new CatalogError(error.problems);
    throw error;
  }
}
