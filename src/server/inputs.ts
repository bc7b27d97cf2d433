// What a server and every command start from: settings and catalog, each read once, on first use.

import { type LoadedCatalog, loadFound } from '../catalog/live.ts';
import { type FoundCatalog, findCatalog } from '../catalog/source.ts';
import { readConfig } from '../config/read.ts';
import type { Config } from '../config/settings.ts';
import type { Environment } from '../core/environment.ts';
import { environmentPath, type LoadedEnvironment, readEnvironment } from './environment.ts';

export type Inputs = {
  readonly directory: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** As first read. Throws `ConfigError`. */
  readonly environment: () => LoadedEnvironment;
  /** Read again. Throws `ConfigError`. */
  readonly readEnvironment: () => LoadedEnvironment;
  /** The .env file, which may not exist. */
  readonly environmentPath: string;
  /** Throws `ConfigError`. */
  readonly config: () => Config;
  /** The text as first read. Throws `CatalogError`. */
  readonly foundCatalog: () => FoundCatalog;
  /** The same text, checked, with its origin. Throws `CatalogError`. */
  readonly loadedCatalog: () => LoadedCatalog;
};

export function createInputs(processEnvironment: Environment, directory: string): Inputs {
  const clock = Date.now;
  const readNow = (): LoadedEnvironment => readEnvironment(processEnvironment, directory);
  const environment = once(readNow);
  const config = once(() => {
    const { variables, namesInFile } = environment();
    return readConfig(variables, namesInFile);
  });
  const foundCatalog = once(() =>
    findCatalog({
      path: config().catalogPath,
      environment: environment().variables,
      directory,
    }),
  );
  return {
    directory,
    clock,
    environment,
    readEnvironment: readNow,
    environmentPath: environmentPath(processEnvironment, directory),
    config,
    foundCatalog,
    loadedCatalog: once(() => loadFound(foundCatalog(), clock())),
  };
}

/** Makes the value at the first call, and returns it again at each further one. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
