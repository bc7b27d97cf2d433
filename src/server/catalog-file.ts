// Reads the catalog file of a running server, and the .env file with its secrets, again. In a
// cluster the text may be one that another node published. Reports changed settings that need a
// restart.

import { type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type LoadedCatalog, loadFound } from '../catalog/live.ts';
import { CatalogError, type FoundCatalog, findCatalog } from '../catalog/source.ts';
import { ConfigError } from '../config/read.ts';
import { VARIABLES } from '../config/settings.ts';
import { plainly, say } from '../core/sentence.ts';
import type { LoadedEnvironment } from './environment.ts';
import type { Inputs } from './inputs.ts';

export type CatalogFile = {
  /** All files that affect the result of `read`, the logo of the last one included. */
  readonly paths: () => readonly string[];
  /** Throws `CatalogError`, also for a mistake in the .env file. */
  readonly read: () => LoadedCatalog;
  /** What was last read without a mistake. */
  readonly latest: () => FoundCatalog;
  /** The current text with the current secrets, unparsed. Throws `CatalogError`. */
  readonly find: () => FoundCatalog;
  /**
   * Reads this published text from now on, until the file changes. A change that the file has
   * already is found by the read after the next one.
   */
  readonly follow: (text: string) => void;
  /** Makes the next read use the file, although it has not changed. */
  readonly insist: () => void;
  /** Whether the server follows a text other than that of its file. */
  readonly isOutdated: () => boolean;
  /** The settings that changed in the .env file since the start; they need a restart. */
  readonly changedSettings: () => readonly string[];
};

export function createCatalogFile(inputs: Inputs): CatalogFile {
  const { directory, environmentPath } = inputs;
  const { catalogPath } = inputs.config();
  const atStart = inputs.environment().variables;
  let latest = inputs.foundCatalog();
  const file = resolve(directory, catalogPath ?? 'catalog.toml');
  /** The content of the file when it was last applied or skipped. */
  let own: FoundCatalog = latest;
  let followed: string | undefined;
  let isFollowedAnew = false;
  let logo = inputs.loadedCatalog().catalog.service.logo?.path;

  function find(): FoundCatalog {
    // A pipe can be read only once; a second read would block forever.
    if (!(statOf(file)?.isFile() ?? true)) throw notAgain(file);
    if (statOf(environmentPath)?.isFIFO() === true) throw notAgain(environmentPath);
    const { variables } = environmentNow(inputs);
    return findCatalog({ path: catalogPath, environment: variables, directory });
  }

  return {
    paths: () => (logo === undefined ? [file, environmentPath] : [file, environmentPath, logo]),
    find,
    latest: () => latest,
    read() {
      const now = find();
      const isAnew = isFollowedAnew;
      isFollowedAnew = false;
      const text = isAnew || now.text === own.text ? followed : undefined;
      const found: FoundCatalog =
        text === undefined ? now : { ...now, origin: 'file', path: file, text, isFollowed: true };
      const loaded = loadFound(found, inputs.clock());
      if (!isAnew) own = now;
      followed = text;
      latest = found;
      logo = loaded.catalog.service.logo?.path;
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

/** Undefined where there is no file or `stat` fails: the read fails then too, and says why. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function notAgain(path: string): CatalogError {
  return new CatalogError([
    say('{path} is not a file, so it cannot be read again. Restart the server.', { path }),
  ]);
}

function environmentNow(inputs: Inputs): LoadedEnvironment {
  try {
    return inputs.readEnvironment();
  } catch (error) {
    if (error instanceof ConfigError) {
      throw new CatalogError(error.problems.map(plainly));
    }
    throw error;
  }
}
